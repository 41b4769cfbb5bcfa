//! Rings from one thread to one other, whose room is that of a pool.
//!
//! Called by the programs that pass pooled messages from thread to thread. A ring here has a slot for
//! each object of a bounded pool, so it is never full: a thread that is ahead waits for an object,
//! not for a slot, and so the pool's bound is what holds it back.

use crossbeam_utils::Backoff;
use rtrb::{Consumer, Producer};

/// Sends a message that comes from a pool with no more objects than `ring` has slots.
///
/// # Panics
///
/// If the ring is full: the pool is larger than the ring.
pub fn send<T>(ring: &mut Producer<T>, message: T) {
    assert!(
        ring.push(message).is_ok(),
        "a ring has a slot for each message there can be"
    );
}

/// Waits for the next message; `None` when the sender is gone and all it sent was received.
///
/// Spins for some microseconds, then gives its core away between looks.
pub fn receive<T>(ring: &mut Consumer<T>) -> Option<T> {
    let backoff = Backoff::new();
    loop {
        match ring.pop() {
            Ok(message) => return Some(message),
            // What was sent between the pop and the sender's end is still there.
            Err(_) if ring.is_abandoned() => return ring.pop().ok(),
            Err(_) => backoff.snooze(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_was_sent_before_the_end_is_received() {
        for count in [0, 1, 1_000] {
            let (mut sender, mut receiver) = rtrb::RingBuffer::new(1_000);
            let sends = thread::spawn(move || (0..count).for_each(|i| send(&mut sender, i)));
            let received: Vec<_> = std::iter::from_fn(|| receive(&mut receiver)).collect();
            assert!(received.into_iter().eq(0..count));
            sends.join().unwrap();
        }
    }

    #[test]
    #[should_panic(expected = "a slot for each message")]
    fn a_ring_smaller_than_its_pool_is_a_mistake() {
        let (mut sender, _receiver) = rtrb::RingBuffer::new(1);
        send(&mut sender, 1);
        send(&mut sender, 2);
    }
}
