//! Whoever gives out objects and takes them back.
//!
//! Each does the same work: a pool resets an object that comes back, a vector by hand does too.
//! Allocators give memory as it is, neither initialised nor reset, which is in their favour.
#![allow(unsafe_code)] // Allocators called by hand.

use std::alloc::{GlobalAlloc, Layout, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::Arc;

use pool_core::{Backend, Builder, Pool, unsync};
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

/// Has a type take objects and give them back. An object is what a handle dereferences to, and goes back when the
/// handle is dropped, where nothing else is said; `and resets` says that the user resets it before.
#[macro_export]
macro_rules! contender {
    (
        impl[$($generics:tt)*] $name:ty, of $object:ty, hands out $handle:ty;
        acquire($own:pat) $acquire:block
        $(object($held:ident) $place:block)?
        $(and $resets:ident;)?
        $(release($releaser:pat, $given:pat) $release:block)?
    ) => {
        impl<$($generics)*> $crate::contender::Contender<$object> for $name {
            type Handle = $handle;

            #[inline(always)]
            fn acquire(&mut self) -> Self::Handle {
                let $own = self;
                $acquire
            }

            #[inline(always)]
            fn object(handle: &mut Self::Handle) -> *mut $object {
                $crate::contender!(@object handle $($held $place)?)
            }

            #[inline(always)]
            #[allow(unused_mut)]
            fn release(&mut self, mut handle: Self::Handle) {
                $($crate::contender!(@$resets handle);)?
                $crate::contender!(@release self handle $($releaser, $given => $release)?)
            }
        }
    };
    (@object $handle:ident) => { &raw mut **$handle };
    (@object $handle:ident $held:ident $place:block) => {{
        let $held = $handle;
        $place
    }};
    (@resets $handle:ident) => { ::pool_core::Poolable::reset(&mut *$handle) };
    (@release $own:ident $handle:ident) => { drop($handle) };
    (@release $own:ident $handle:ident $releaser:pat, $given:pat => $release:block) => {{
        let ($releaser, $given) = ($own, $handle);
        $release
    }};
}

/// A pool of this crate, shared by its clones.
#[derive(Debug)]
pub struct Pooled<T: Payload = Message>(pub Pool<T>);

impl<T: Payload> Clone for Pooled<T> {
    fn clone(&self) -> Self {
        Pooled(self.0.clone())
    }
}

impl<T: Payload> Pooled<T> {
    /// A pool with every choice at its default but those that `choose` makes.
    ///
    /// # Panics
    ///
    /// If they do not go together.
    #[must_use]
    pub fn with(choose: impl FnOnce(Builder<T>) -> Builder<T>) -> Self {
        Pooled(
            choose(Pool::builder())
                .build()
                .expect("choices that go together"),
        )
    }

    /// A pool with every choice but the backend at its default.
    #[must_use]
    pub fn on(backend: Backend) -> Self {
        Self::with(|pool| pool.backend(backend))
    }
}

contender! {
    impl[T: Payload] Pooled<T>, of T, hands out pool_core::Pooled<T>;
    acquire(Pooled(pool)) { pool.acquire() }
}

/// The pool for one thread.
#[derive(Debug)]
pub struct Unsync<T: Payload = Message>(unsync::Pool<T>);

impl<T: Payload> Default for Unsync<T> {
    fn default() -> Self {
        Unsync(unsync::Pool::default())
    }
}

contender! {
    impl[T: Payload] Unsync<T>, of T, hands out unsync::Pooled<T>;
    acquire(Unsync(pool)) { pool.acquire() }
}

/// A vector of boxes, popped and pushed: what a pool for one thread costs at least.
#[derive(Debug)]
pub struct BareVec<T = Message>(Vec<Box<T>>);

impl<T> Default for BareVec<T> {
    fn default() -> Self {
        BareVec(Vec::new())
    }
}

contender! {
    impl[T: Payload] BareVec<T>, of T, hands out Box<T>;
    acquire(BareVec(idle)) { idle.pop().unwrap_or_else(fresh) }
    and resets;
    release(BareVec(idle), object) { idle.push(object) }
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

contender! {
    impl[] ThreadLocalVec, of Message, hands out Box<Message>;
    acquire(ThreadLocalVec(idle)) {
        let idle = idle.get_or_default().borrow_mut().pop();
        idle.unwrap_or_else(fresh)
    }
    and resets;
    release(ThreadLocalVec(idle), object) { idle.get_or_default().borrow_mut().push(object) }
}

/// An allocator, called through its `GlobalAlloc` as `Box::new_uninit` and its drop would.
#[derive(Debug)]
pub struct Allocator<A: 'static>(pub &'static A);

impl<A> Clone for Allocator<A> {
    fn clone(&self) -> Self {
        Allocator(self.0)
    }
}

/// Memory from an [`Allocator`], for the allocator to take back.
#[derive(Debug)]
pub struct Memory(NonNull<Message>);

// SAFETY: nobody else has it, and it is words.
unsafe impl Send for Memory {}

contender! {
    impl[A: GlobalAlloc] Allocator<A>, of Message, hands out Memory;
    acquire(Allocator(allocator)) {
        let layout = Layout::new::<Message>();
        // SAFETY: the layout has a size.
        let memory = unsafe { allocator.alloc(layout) };
        Memory(NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout)))
    }
    object(memory) { memory.0.as_ptr() }
    release(Allocator(allocator), memory) {
        // SAFETY: from `acquire`, with the same allocator and layout.
        unsafe { allocator.dealloc(memory.0.as_ptr().cast(), Layout::new::<Message>()) };
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
