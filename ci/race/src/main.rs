//! A data race on purpose, to see that a thread sanitizer finds it: two threads take turns to write, but only in time,
//! since the number that says whose turn it is orders nothing.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Shared {
    turn: AtomicU32,
    number: UnsafeCell<u64>,
}

// SAFETY: none; it should not be `Sync`.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    turn: AtomicU32::new(0),
    number: UnsafeCell::new(0),
};

fn wait_for(turn: u32) {
    while SHARED.turn.load(Ordering::Relaxed) != turn {
        thread::yield_now();
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            // Both run by then: what starts and ends a thread would order the two.
            wait_for(1);
            // SAFETY: none; another thread writes too.
            unsafe { *SHARED.number.get() = 1 };
            SHARED.turn.store(2, Ordering::Relaxed);
            wait_for(3);
        });
        scope.spawn(|| {
            SHARED.turn.store(1, Ordering::Relaxed);
            wait_for(2);
            // SAFETY: none; another thread writes too.
            unsafe { *SHARED.number.get() = 2 };
            SHARED.turn.store(3, Ordering::Relaxed);
        });
    });
}
