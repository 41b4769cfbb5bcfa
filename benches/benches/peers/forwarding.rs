//! Objects that some threads acquire and others release, through one queue for all. For the forwarding of
//! lockfree-object-pool and for xmalloc-test.
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};

use pool_bench::contender::Contender;
use pool_bench::payload::{Payload, touch};
use pool_bench::team::Team;

/// So many threads acquire and touch a batch of objects and send it, so many others receive a batch and release it.
/// Each of these receives as many as the others.
pub(crate) struct Forwarding {
    pub(crate) writers: usize,
    pub(crate) readers: usize,
    pub(crate) batch: usize,
    /// Batches that the queue has room for.
    pub(crate) room: usize,
}

impl<T: Payload> crate::Workload<T> for Forwarding {
    fn column(&self) -> String {
        format!("{} to {}", self.writers, self.readers)
    }

    fn team<C>(&self, make: impl Fn() -> C + Send + Sync + 'static) -> Team
    where
        C: Contender<T, Handle: Send> + Clone + Send + Sync + 'static,
    {
        let &Forwarding {
            writers,
            readers,
            batch,
            room,
        } = self;
        let (sender, receiver) = mpsc::sync_channel(room);
        let (receiver, contender) = (Arc::new(Mutex::new(receiver)), make());
        Team::new(writers + readers, move |index| {
            let mut contender = contender.clone();
            if index < writers {
                let sender = sender.clone();
                return Box::new(move |turns| {
                    for turn in 0..turns {
                        let batch = fill(&mut contender, batch, turn);
                        sender
                            .send(batch)
                            .expect("the receiver lives as long as the team");
                    }
                });
            }
            let (reader, receiver) = (index - writers, receiver.clone());
            Box::new(move |turns| {
                let sent = turns * writers;
                let share = sent / readers + usize::from(reader < sent % readers);
                receive(&mut contender, &receiver, share);
            })
        })
    }
}

/// A batch of one is no vector.
enum Batch<H> {
    One(H),
    Many(Vec<H>),
}

#[inline(never)]
fn fill<T: Payload, C: Contender<T>>(
    contender: &mut C,
    batch: usize,
    turn: usize,
) -> Batch<C::Handle> {
    let mut touched = || {
        let mut handle = contender.acquire();
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(C::object(&mut handle), turn as u64) };
        handle
    };
    match batch {
        1 => Batch::One(touched()),
        _ => Batch::Many((0..batch).map(|_| touched()).collect()),
    }
}

#[inline(never)]
fn receive<T: Payload, C: Contender<T>>(
    contender: &mut C,
    receiver: &Mutex<Receiver<Batch<C::Handle>>>,
    batches: usize,
) {
    for _ in 0..batches {
        let received = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        match received.expect("the senders live as long as the team") {
            Batch::One(handle) => contender.release(handle),
            Batch::Many(handles) => {
                for handle in handles {
                    contender.release(handle);
                }
            }
        }
    }
}
