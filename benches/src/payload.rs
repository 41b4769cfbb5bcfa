//! The objects: one for all contenders, and a large one whose reset is measured by itself.
#![allow(unsafe_code)] // Allocators hand out memory that holds nothing yet.

use std::hint::black_box;
use std::sync::OnceLock;

use pool_core::Poolable;

/// What every contender hands out: 64 bytes unless told otherwise, of which a user writes the first
/// word.
#[repr(C)]
#[derive(Clone, Debug)]
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

/// What contenders hand out, and what a user does with it.
pub trait Payload: Poolable + Send + Sync + 'static {
    /// Whether it owns buffers, so that memory which holds nothing is no such object.
    const OWNS: bool = false;

    /// See [`touch`].
    ///
    /// # Safety
    ///
    /// `object` is valid for writes. It need not hold anything, unless it [owns](Self::OWNS) something.
    unsafe fn touch(object: *mut Self, id: u64);

    /// What `touch` wrote.
    ///
    /// # Safety
    ///
    /// `object` was touched, and is valid for reads.
    unsafe fn read(object: *const Self) -> u64;
}

impl<const BODY: usize> Payload for Message<BODY> {
    #[inline(always)]
    unsafe fn touch(object: *mut Self, id: u64) {
        // SAFETY: by contract.
        let word = unsafe { &raw mut (*object).id };
        // SAFETY: by contract.
        unsafe { word.write(id) };
    }

    #[inline(always)]
    unsafe fn read(object: *const Self) -> u64 {
        // SAFETY: by contract.
        unsafe { (*object).id }
    }
}

/// What every user does with an object: writes one word and fills the buffers, if it has some; and may have done
/// anything for all the compiler knows.
///
/// # Safety
///
/// As for [`Payload::touch`].
#[inline(always)]
pub unsafe fn touch<T: Payload>(object: *mut T, id: u64) {
    // SAFETY: by contract.
    unsafe { T::touch(object, id) };
    black_box(object);
}

/// Buffers that an [`Owning`] has room for.
pub const BUFFERS: usize = 4;

/// Bytes that a user writes into each buffer, the same for every object of the process: set once, before the first
/// object.
pub static FILLED: OnceLock<[usize; BUFFERS]> = OnceLock::new();

/// A message that owns buffers.
#[repr(C)]
#[derive(Debug)]
pub struct Owning<const BODY: usize> {
    message: Message<BODY>,
    buffers: [Vec<u8>; BUFFERS],
}

/// Bytes of an [`Owning`] that are no [`Message`]'s.
pub const OWNED: usize = size_of::<[Vec<u8>; BUFFERS]>();

impl<const BODY: usize> Poolable for Owning<BODY> {
    fn init() -> Self {
        Owning {
            message: Message::init(),
            buffers: Default::default(),
        }
    }

    #[inline]
    fn reset(&mut self) {
        self.message.reset();
        self.buffers.iter_mut().for_each(Vec::clear);
    }
}

impl<const BODY: usize> Payload for Owning<BODY> {
    const OWNS: bool = true;

    #[inline(always)]
    unsafe fn touch(object: *mut Self, id: u64) {
        // SAFETY: valid, and a value of its type, since it owns something.
        let object = unsafe { &mut *object };
        object.message.id = id;
        let filled = FILLED.get().copied().unwrap_or_default();
        for (buffer, size) in object.buffers.iter_mut().zip(filled) {
            buffer.resize(size, id as u8);
        }
    }

    #[inline(always)]
    unsafe fn read(object: *const Self) -> u64 {
        // SAFETY: by contract.
        unsafe { (*object).message.id }
    }
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
    fn buffers_are_filled_as_said_and_kept_by_a_reset() {
        FILLED.set([100, 0, 7, 0]).expect("set here alone");
        let mut owning = Owning::<0>::init();
        // SAFETY: a value of its type.
        unsafe { touch(&raw mut owning, 3) };
        let lengths = |owning: &Owning<0>| owning.buffers.each_ref().map(Vec::len);
        assert_eq!(lengths(&owning), [100, 0, 7, 0]);
        owning.reset();
        assert_eq!((owning.message.id, lengths(&owning)), (0, [0; BUFFERS]));
        assert!(owning.buffers[0].capacity() >= 100);
    }

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
