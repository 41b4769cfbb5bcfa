//! A pipeline of two threads: one acquires, touches and sends, the other receives, reads and
//! releases, through a bounded queue of one producer and one consumer. Called by the comparisons and
//! the criterion benches, for contenders and for what there is without one.
#![allow(unsafe_code)] // Objects handed over by address.

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;

use pool_core::Poolable;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::contender::Contender;
use crate::payload::{Message, touch};
use crate::team::Team;

/// Room in the queue.
pub const QUEUE: usize = 1024;

/// Objects of a contender that both threads have a clone of.
pub fn of_shared<C>(contender: C) -> Team
where
    C: Contender<Handle: Send> + Clone + Send + 'static,
{
    let mut releaser = contender.clone();
    of_objects(contender, move |handle| releaser.release(handle))
}

/// Objects that one thread acquires and the other gives back by `release`.
pub fn of_objects<C>(mut acquirer: C, mut release: impl FnMut(C::Handle) + Send + 'static) -> Team
where
    C: Contender<Handle: Send> + Send + 'static,
{
    team(
        move |turn| {
            let mut handle = acquirer.acquire();
            // SAFETY: the object of a handle is valid for writes.
            unsafe { touch(C::object(&mut handle), turn as u64) };
            handle
        },
        move |mut handle| {
            let object = C::object(&mut handle);
            // SAFETY: touched by the sender, which no longer has it.
            black_box(unsafe { (*object).id });
            release(handle);
        },
    )
}

/// Objects of a contender that both threads have a clone of, and nobody looks at: what acquiring here and
/// releasing there takes, without the objects' own way from core to core.
pub fn of_untouched<C>(mut contender: C) -> Team
where
    C: Contender<Handle: Send> + Clone + Send + 'static,
{
    let mut releaser = contender.clone();
    team(
        move |_| contender.acquire(),
        move |handle| releaser.release(black_box(handle)),
    )
}

/// The queue by itself: plain words.
#[must_use]
pub fn of_words() -> Team {
    team(|turn| turn, |word| _ = black_box(word))
}

/// The objects' way from core to core without a pool: they lie in a ring and are used in turn.
#[must_use]
pub fn of_objects_in_a_ring() -> Team {
    // Two more than can be under way: an object comes up again only when another that went after it
    // has been taken out of the queue, so when the receiver is done with it.
    let ring: Vec<_> = (0..QUEUE + 2)
        .map(|_| Lent(Box::into_raw(Box::new(Message::init()))))
        .collect();
    let mut next = 0;
    team(
        move |turn| {
            next = if next + 1 < ring.len() { next + 1 } else { 0 };
            let object = ring[next].0;
            // SAFETY: allocated for good, and not in the receiver's hands.
            unsafe { touch(object, turn as u64) };
            Lent(object)
        },
        |Lent(object)| {
            // SAFETY: allocated for good, and the sender's again only once the next is taken out.
            let object = unsafe { &mut *object };
            black_box(object.id);
            object.reset();
        },
    )
}

/// The address of an object on its way.
struct Lent(*mut Message);

// SAFETY: an address; who follows it and when is said where that is done.
unsafe impl Send for Lent {}

/// One thread makes what goes through the queue, the other consumes it.
fn team<T: Send + 'static>(
    produce: impl FnMut(usize) -> T + Send + 'static,
    consume: impl FnMut(T) + Send + 'static,
) -> Team {
    let (producer, consumer) = RingBuffer::new(QUEUE);
    // Each is taken once, by the thread whose part it is.
    let parts = Mutex::new((Some((producer, produce)), Some((consumer, consume))));
    Team::new(2, move |index| {
        let mut parts = parts.lock().expect("nothing panics with it");
        if index == 0 {
            let (mut producer, mut produce) = parts.0.take().expect("the first thread comes once");
            Box::new(move |turns| send(&mut producer, &mut produce, turns))
        } else {
            let (mut consumer, mut consume) = parts.1.take().expect("the second thread comes once");
            Box::new(move |turns| receive(&mut consumer, &mut consume, turns))
        }
    })
}

#[inline(never)]
fn send<T>(queue: &mut Producer<T>, produce: &mut impl FnMut(usize) -> T, turns: usize) {
    for turn in 0..turns {
        let mut item = produce(turn);
        let mut waited = 0;
        while let Err(PushError::Full(back)) = queue.push(item) {
            item = back;
            wait_a_turn(&mut waited);
        }
    }
}

#[inline(never)]
fn receive<T>(queue: &mut Consumer<T>, consume: &mut impl FnMut(T), turns: usize) {
    for _ in 0..turns {
        let mut waited = 0;
        let item = loop {
            match queue.pop() {
                Ok(item) => break item,
                Err(_) => wait_a_turn(&mut waited),
            }
        };
        consume(item);
    }
}

/// Waits for the other side a little: `waited` counts the turns since something moved.
pub fn wait_a_turn(waited: &mut u32) {
    *waited += 1;
    if waited.is_multiple_of(1024) {
        thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
