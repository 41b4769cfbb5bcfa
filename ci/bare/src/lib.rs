//! What a program without `std` gets of the library: the derive, `Poolable`, `unsync::Pool`.
//!
//! Built by `ci/features.sh`, not run. It brings an allocator and a panic handler of its own, so that it
//! cannot be built if anything of `std` comes in, which has both; and the script looks for `std` in
//! what was built.
#![no_std]

extern crate alloc;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, RefCell};
use core::panic::PanicInfo;
use core::ptr;

use pool_core::{Lifecycle, PoolConfig, Poolable, unsync};

/// Every kind of field that is there without `std`.
#[derive(Poolable)]
struct Message {
    id: u64,
    symbol: String,
    #[poolable(max_capacity = 64)]
    payload: Vec<u8>,
    levels: BTreeMap<u32, u32>,
    #[poolable(default = 100)]
    size: u32,
    queue: VecDeque<u8>,
    cell: RefCell<Option<u8>>,
    side: Side,
}

#[derive(Poolable)]
enum Side {
    #[poolable(initial)]
    Bid,
    #[allow(dead_code)]
    Ask(Cell<u8>),
}

struct Buffers;

impl Lifecycle<Vec<u8>> for Buffers {
    fn create(&self) -> Vec<u8> {
        Vec::with_capacity(64)
    }

    fn reset(&self, buffer: &mut Vec<u8>) {
        buffer.clear();
    }
}

/// All that is to be linked; gives how many objects it saw.
#[unsafe(no_mangle)]
pub extern "C" fn use_pools() -> usize {
    let mut config = PoolConfig::default();
    config.capacity = Some(4);
    let builder = unsync::Pool::<Message>::builder().apply(&config);
    let Ok(pool) = builder.prefill(2).name("messages").build() else {
        return 0;
    };
    let mut message = pool.acquire();
    message.id = 7;
    message.symbol.push_str("AMZN");
    message.payload.extend([1, 2, 3]);
    drop(message);
    let buffers = unsync::Pool::builder_for(Buffers).build();
    let made = buffers.map_or(0, |buffers| buffers.acquire().capacity());
    pool.trim(1);
    pool.close();
    pool.stats().created + made
}

/// Has no memory.
struct NoMemory;

// SAFETY: gives nothing.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
        ptr::null_mut()
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

#[panic_handler]
fn panicked(_info: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
