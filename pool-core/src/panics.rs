//! Panics of user code: hooks, and the drop of an object. The panic is caught, the pool does what it has to do, and the
//! panic goes on, unless the thread unwinds already, since a second panic would abort. Without `std` guards do this, and
//! a second panic aborts.
#[cfg(feature = "std")]
use self::caught::call;
#[cfg(feature = "std")]
pub(crate) use self::caught::{
    FirstPanic, OnPanic, Panic, for_each_despite_panics, forget_panic, unless_unwinding,
};
#[cfg(not(feature = "std"))]
use self::passed_on::call;
#[cfg(not(feature = "std"))]
pub(crate) use self::passed_on::{
    FirstPanic, OnPanic, Panic, for_each_despite_panics, unless_unwinding,
};
use crate::lifecycle::Recycle;

/// Asks the hooks: resets the object, if `reset`, and validates it. An error is a hook's panic.
///
/// Costs nothing when nothing panics. (A guard that the panic drops could not keep it from going on
/// while the thread unwinds already, and to ask beforehand whether it does is a load per release.)
#[inline(always)]
pub(crate) fn reset_and_validate<T, L: Recycle<T> + ?Sized>(
    hooks: &L::Hooks,
    object: &mut T,
    reset: bool,
) -> Result<bool, Panic> {
    call(|| {
        if reset {
            L::recycle(hooks, object);
        }
        L::passes(hooks, object)
    })
}

/// Runs `discard`, and lets `panic` go on unless the thread unwinds already.
pub(crate) fn reject_with(panic: Option<Panic>, discard: impl FnOnce()) {
    let Some(panic) = panic else {
        discard();
        return;
    };
    // The drop of a broken object may panic too; the first panic is the one to see.
    let mut panics = FirstPanic::new(panic);
    panics.catch(discard);
    panics.resume();
}

#[cfg(feature = "std")]
mod caught {
    use std::any::Any;
    use std::mem;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::thread;

    pub(crate) type Panic = Box<dyn Any + Send>;

    #[inline(always)]
    pub(super) fn call<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
        catch_unwind(AssertUnwindSafe(f))
    }

    /// What is done where a panic passes; which is nowhere, since it is caught.
    pub(crate) struct OnPanic;

    impl OnPanic {
        #[inline(always)]
        pub(crate) fn new(_clean_up: impl FnOnce()) -> Self {
            OnPanic
        }

        #[inline(always)]
        pub(crate) fn disarm(self) {}
    }

    /// Calls `f` with each item. A panic does not keep the others; the first goes on at the end, unless
    /// the thread unwinds already.
    pub(crate) fn for_each_despite_panics<I: IntoIterator>(items: I, mut f: impl FnMut(I::Item)) {
        let mut panics = FirstPanic::default();
        for item in items {
            panics.catch(|| f(item));
        }
        panics.resume();
    }

    /// The first of the panics that were caught on the way.
    #[derive(Default)]
    pub(crate) struct FirstPanic(Option<Panic>);

    impl FirstPanic {
        pub(super) fn new(panic: Panic) -> Self {
            FirstPanic(Some(panic))
        }

        /// Runs `f`; `None` if it panics.
        pub(crate) fn catch<R>(&mut self, f: impl FnOnce() -> R) -> Option<R> {
            match call(f) {
                Ok(result) => Some(result),
                Err(panic) => {
                    match self.0 {
                        None => self.0 = Some(panic),
                        Some(_) => forget_panic(panic),
                    }
                    None
                }
            }
        }

        /// Lets the panic go on, if there was one and the thread does not unwind already.
        #[inline]
        pub(crate) fn resume(self) {
            if let Some(panic) = self.0 {
                resume(panic);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn resume(panic: Panic) {
        if !thread::panicking() {
            resume_unwind(panic);
        }
        forget_panic(panic);
    }

    /// The panic, unless the thread unwinds already and it cannot go on: then it is forgotten.
    pub(crate) fn unless_unwinding(panic: Panic) -> Option<Panic> {
        if thread::panicking() {
            forget_panic(panic);
            return None;
        }
        Some(panic)
    }

    /// Drops what a panic left behind, which is the user's and may panic once more.
    #[cold]
    #[inline(never)]
    pub(crate) fn forget_panic(mut panic: Panic) {
        for _ in 0..4 {
            match call(|| drop(panic)) {
                Ok(()) => return,
                Err(next) => panic = next,
            }
        }
        // Whatever this is, it does not want to be dropped.
        mem::forget(panic);
    }
}

#[cfg(not(feature = "std"))]
mod passed_on {
    use core::mem;

    /// Nothing: a panic that is not caught leaves nothing to anyone here.
    pub(crate) enum Panic {}

    /// Calls `f`. A panic goes on from here.
    #[inline(always)]
    pub(super) fn call<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
        Ok(f())
    }

    /// What is done where a panic passes: dropped before it is disarmed, it cleans up.
    pub(crate) struct OnPanic<F: FnOnce()>(Option<F>);

    impl<F: FnOnce()> OnPanic<F> {
        #[inline(always)]
        pub(crate) fn new(clean_up: F) -> Self {
            OnPanic(Some(clean_up))
        }

        /// There was none.
        #[inline(always)]
        pub(crate) fn disarm(self) {
            mem::forget(self);
        }
    }

    impl<F: FnOnce()> Drop for OnPanic<F> {
        fn drop(&mut self) {
            if let Some(clean_up) = self.0.take() {
                clean_up();
            }
        }
    }

    /// Calls `f` with each item. A panic does not keep the others, and goes on at the end; a second aborts.
    pub(crate) fn for_each_despite_panics<I: IntoIterator>(items: I, f: impl FnMut(I::Item)) {
        let mut all = Despite {
            items: items.into_iter(),
            f,
        };
        all.go_on();
    }

    struct Despite<I: Iterator, F: FnMut(I::Item)> {
        items: I,
        f: F,
    }

    impl<I: Iterator, F: FnMut(I::Item)> Despite<I, F> {
        fn go_on(&mut self) {
            self.items.by_ref().for_each(&mut self.f);
        }
    }

    impl<I: Iterator, F: FnMut(I::Item)> Drop for Despite<I, F> {
        /// Nothing is left, unless `f` panicked.
        fn drop(&mut self) {
            self.go_on();
        }
    }

    pub(crate) fn unless_unwinding(panic: Panic) -> Option<Panic> {
        Some(panic)
    }

    /// No panic gets here.
    #[derive(Default)]
    pub(crate) struct FirstPanic(Option<Panic>);

    impl FirstPanic {
        pub(super) fn new(panic: Panic) -> Self {
            FirstPanic(Some(panic))
        }

        /// Runs `f`. A panic goes on at once.
        pub(crate) fn catch<R>(&mut self, f: impl FnOnce() -> R) -> Option<R> {
            Some(f())
        }

        #[inline]
        pub(crate) fn resume(self) {
            match self.0 {
                None => {}
                Some(panic) => match panic {},
            }
        }
    }
}
