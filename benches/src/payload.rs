//! The objects: one for all contenders, and a large one whose reset is measured by itself.
#![allow(unsafe_code)] // Allocators hand out memory that holds nothing yet.

use std::hint::black_box;

use pool_core::Poolable;

/// What every contender hands out: 64 bytes unless told otherwise, of which a user writes the first
/// word.
#[repr(C)]
#[derive(Debug)]
pub struct Message<const BODY: usize = 7> {
    /// The word that [`touch`] writes and a reset wipes.
    pub id: u64,
    /// The rest, which nobody touches.
    pub body: [u64; BODY],
}

const _: () = assert!(size_of::<Message>() == 64);

/// The same reset for all: what the user wrote is wiped.
impl<const BODY: usize> Poolable for Message<BODY> {
    fn init() -> Self {
        Message {
            id: 0,
            body: [0; BODY],
        }
    }

    #[inline]
    fn reset(&mut self) {
        self.id = 0;
    }
}

/// What every user does with an object: writes one word, and may have done anything for all the
/// compiler knows.
///
/// # Safety
///
/// `message` is valid for writes; it need not hold anything.
#[inline(always)]
pub unsafe fn touch<const BODY: usize>(message: *mut Message<BODY>, id: u64) {
    // SAFETY: by contract.
    let word = unsafe { &raw mut (*message).id };
    // SAFETY: by contract.
    unsafe { word.write(id) };
    black_box(message);
}

/// What a user does with an object in the workload of the locked pool: zeroes all of it, and
/// compares it with a string. True if that is what it holds, so never.
///
/// # Safety
///
/// `message` is valid for writes; it need not hold anything.
#[inline(always)]
pub unsafe fn zero_and_compare(message: *mut Message) -> bool {
    // SAFETY: by contract; all zeroes are a message.
    unsafe { message.write_bytes(0, 1) };
    let message: *mut [u8; size_of::<Message>()] = black_box(message).cast();
    // SAFETY: written just now, as bytes.
    let bytes = unsafe { &*message };
    let text = black_box(b"a message that nobody sent");
    bytes.starts_with(text)
}

/// 1 KiB with fields of several kinds, reset field by field as the derive writes it.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Poolable)]
#[expect(missing_docs, reason = "fields to be wiped, and nothing else")]
pub struct Wide {
    pub id: u64,
    pub price: f64,
    pub quantity: u32,
    pub side: bool,
    pub venue: Option<u32>,
    pub levels: [u64; 64],
    pub flags: [u8; 128],
    pub bids: [(u32, u32); 20],
    pub asks: [(u32, u32); 20],
    pub sequence: [u32; 4],
    pub owner: [u16; 8],
}

const _: () = assert!(size_of::<Wide>() == 1024);

impl Wide {
    /// The reset as one would write it: each field back to what `init` gives.
    pub fn reset_by_hand(&mut self) {
        self.id = 0;
        self.price = 0.0;
        self.quantity = 0;
        self.side = false;
        self.venue = None;
        self.levels = [0; 64];
        self.flags = [0; 128];
        self.bids = [(0, 0); 20];
        self.asks = [(0, 0); 20];
        self.sequence = [0; 4];
        self.owner = [0; 8];
    }
}

/// Owns buffers, as messages in programs do.
#[derive(Debug, Poolable)]
pub struct Parcel {
    /// Who sent it.
    pub id: u64,
    /// What it says.
    pub text: String,
    /// And some numbers, one for each 64 bytes of text.
    pub levels: Vec<u64>,
}

impl Parcel {
    /// Says something; the buffers are as large as needed or become so.
    pub fn fill(&mut self, text: &str) {
        self.id = 1;
        self.text.push_str(text);
        self.levels.extend(0..text.len() as u64 / 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_resets_of_the_wide_object_do_the_same() {
        let mut used = Wide::init();
        used.price = 1.5;
        used.flags[127] = 3;
        used.asks[19] = (1, 2);
        used.venue = Some(4);
        let mut by_hand = used.clone();
        used.reset();
        by_hand.reset_by_hand();
        assert_eq!(used, Wide::init());
        assert_eq!(used, by_hand);
    }
}
