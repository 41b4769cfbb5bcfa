//! Whoever gives out objects and takes them back.
//!
//! Each does the same work: a pool resets an object that comes back, a vector by hand does too.
//! Allocators give memory as it is, neither initialised nor reset, which is in their favour.
#![allow(unsafe_code)] // Allocators called by hand.

use std::alloc::{GlobalAlloc, Layout, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::Arc;

use pool_core::{Backend, Pool, Poolable, unsync};
use thread_local::ThreadLocal;

use crate::payload::{Message, Payload};

/// Takes and gives back objects, on one thread.
pub trait Contender<T = Message> {
    /// An object in use.
    type Handle;

    /// Takes an object.
    fn acquire(&mut self) -> Self::Handle;

    /// Where the object is. Valid for writes; it may hold nothing yet.
    fn object(handle: &mut Self::Handle) -> *mut T;

    /// Gives an object back.
    fn release(&mut self, handle: Self::Handle);
}

/// A pool of this crate, shared by its clones.
#[derive(Debug)]
pub struct Pooled<T: Payload = Message>(pub Pool<T>);

impl<T: Payload> Clone for Pooled<T> {
    fn clone(&self) -> Self {
        Pooled(self.0.clone())
    }
}

impl Pooled {
    /// A pool with every choice but the backend at its default.
    ///
    /// # Panics
    ///
    /// Never: every backend goes with the defaults.
    #[must_use]
    pub fn on(backend: Backend) -> Self {
        let pool = Pool::builder().backend(backend).build();
        Pooled(pool.expect("every backend goes with the defaults"))
    }

    /// A batched pool with another batch size.
    ///
    /// # Panics
    ///
    /// If there is no such batch size.
    #[must_use]
    pub fn batched(batch_size: usize) -> Self {
        let pool = Pool::builder().batch_size(batch_size).build();
        Pooled(pool.expect("a batch size within the limits"))
    }

    /// A pool with room for `objects` and all of them made.
    ///
    /// # Panics
    ///
    /// If `objects` is 0.
    #[must_use]
    pub fn filled(backend: Backend, objects: usize) -> Self {
        Self::filled_in(backend, objects, objects)
    }

    /// A pool with room for `capacity` objects, of which so many are made.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0, or less than `objects`.
    #[must_use]
    pub fn filled_in(backend: Backend, capacity: usize, objects: usize) -> Self {
        let pool = Pool::builder().backend(backend).capacity(capacity);
        Pooled(pool.prefill(objects).build().expect("a capacity above 0"))
    }

    /// A batched pool that gets memory for so many objects at a time.
    ///
    /// # Panics
    ///
    /// If `objects` is 0.
    #[must_use]
    pub fn growing_by(objects: usize) -> Self {
        let pool = Pool::builder().grow_by(objects).build();
        Pooled(pool.expect("memory for one at least"))
    }

    /// A batched pool with a bound.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0.
    #[must_use]
    pub fn bounded(capacity: usize) -> Self {
        Self::bounded_on(Backend::Batched, capacity)
    }

    /// A pool with a bound.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0.
    #[must_use]
    pub fn bounded_on(backend: Backend, capacity: usize) -> Self {
        let pool = Pool::builder().backend(backend).capacity(capacity).build();
        Pooled(pool.expect("a capacity above 0"))
    }
}

impl<T: Payload> Contender<T> for Pooled<T> {
    type Handle = pool_core::Pooled<T>;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Handle {
        self.0.acquire()
    }

    #[inline(always)]
    fn object(handle: &mut Self::Handle) -> *mut T {
        &raw mut **handle
    }

    #[inline(always)]
    fn release(&mut self, handle: Self::Handle) {
        drop(handle);
    }
}

/// The pool for one thread.
#[derive(Debug)]
pub struct Unsync<T: Payload = Message>(unsync::Pool<T>);

impl<T: Payload> Default for Unsync<T> {
    fn default() -> Self {
        Unsync(unsync::Pool::default())
    }
}

impl<T: Payload> Contender<T> for Unsync<T> {
    type Handle = unsync::Pooled<T>;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Handle {
        self.0.acquire()
    }

    #[inline(always)]
    fn object(handle: &mut Self::Handle) -> *mut T {
        &raw mut **handle
    }

    #[inline(always)]
    fn release(&mut self, handle: Self::Handle) {
        drop(handle);
    }
}

/// A vector of boxes, popped and pushed: what a pool for one thread costs at least.
#[derive(Debug)]
pub struct BareVec<T = Message>(Vec<Box<T>>);

impl<T> Default for BareVec<T> {
    fn default() -> Self {
        BareVec(Vec::new())
    }
}

impl<T: Payload> Contender<T> for BareVec<T> {
    type Handle = Box<T>;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Handle {
        self.0.pop().unwrap_or_else(fresh)
    }

    #[inline(always)]
    fn object(handle: &mut Self::Handle) -> *mut T {
        &raw mut **handle
    }

    #[inline(always)]
    fn release(&mut self, mut handle: Self::Handle) {
        handle.reset();
        self.0.push(handle);
    }
}

#[cold]
#[inline(never)]
pub(crate) fn fresh<T: Payload>() -> Box<T> {
    Box::new(T::init())
}

/// A vector of boxes for each thread, found through the `thread_local` crate.
#[derive(Clone, Debug, Default)]
#[expect(clippy::vec_box, reason = "the boxes are what is handed out")]
pub struct ThreadLocalVec(Arc<ThreadLocal<RefCell<Vec<Box<Message>>>>>);

impl Contender for ThreadLocalVec {
    type Handle = Box<Message>;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Handle {
        let idle = self.0.get_or_default().borrow_mut().pop();
        idle.unwrap_or_else(fresh)
    }

    #[inline(always)]
    fn object(handle: &mut Self::Handle) -> *mut Message {
        &raw mut **handle
    }

    #[inline(always)]
    fn release(&mut self, mut handle: Self::Handle) {
        handle.reset();
        self.0.get_or_default().borrow_mut().push(handle);
    }
}

/// An allocator, called through its `GlobalAlloc` as `Box::new_uninit` and its drop would.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator<A>(pub A);

/// Memory from an [`Allocator`], for the allocator to take back.
#[derive(Debug)]
pub struct Memory(NonNull<Message>);

// SAFETY: nobody else has it, and it is words.
unsafe impl Send for Memory {}

impl<A: GlobalAlloc> Contender for Allocator<A> {
    type Handle = Memory;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Handle {
        let layout = Layout::new::<Message>();
        // SAFETY: the layout has a size.
        let memory = unsafe { self.0.alloc(layout) };
        Memory(NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout)))
    }

    #[inline(always)]
    fn object(handle: &mut Self::Handle) -> *mut Message {
        handle.0.as_ptr()
    }

    #[inline(always)]
    fn release(&mut self, handle: Self::Handle) {
        let (memory, layout) = (handle.0.as_ptr().cast(), Layout::new::<Message>());
        // SAFETY: from `acquire`, with the same allocator and layout.
        unsafe { self.0.dealloc(memory, layout) };
    }
}

/// Several contenders of one kind, asked in turn.
#[derive(Debug)]
pub struct InTurn<C> {
    contenders: Vec<C>,
    next: usize,
}

impl<C> InTurn<C> {
    /// As many as `count`, each made by `make`.
    #[must_use]
    pub fn new(count: usize, make: impl FnMut() -> C) -> Self {
        InTurn {
            contenders: std::iter::repeat_with(make).take(count).collect(),
            next: 0,
        }
    }
}

/// For loops with one object in hand: what was acquired goes back to the one asked last.
impl<C: Contender> Contender for InTurn<C> {
    type Handle = C::Handle;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Handle {
        self.next += 1;
        if self.next >= self.contenders.len() {
            self.next = 0;
        }
        self.contenders[self.next].acquire()
    }

    #[inline(always)]
    fn object(handle: &mut Self::Handle) -> *mut Message {
        C::object(handle)
    }

    #[inline(always)]
    fn release(&mut self, handle: Self::Handle) {
        self.contenders[self.next].release(handle);
    }
}
