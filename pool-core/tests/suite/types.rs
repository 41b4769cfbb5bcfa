//! What the compiler is promised: sizes, niches, and auto traits as a table. A row that is wrong does
//! not compile.

use std::cell::Cell;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::MutexGuard;

use pool_core::{
    AcquireError, AttachError, Backend, BuildError, Builder, Burst, Derived, Drain, Entry, FnPool,
    Hooks, Lifecycle, Memory, ParseBackendError, Pool, Pooled, ResetOn, SharedPooled, Stats,
    VacantEntry, WeakPool, unsync,
};

/// Hooks with the auto traits of an `X`, for objects of any type.
struct Like<X>(PhantomData<X>);

impl<T, X> Lifecycle<T> for Like<X> {
    fn create(&self) -> T {
        unreachable!("types are looked at, not used")
    }

    fn reset(&self, _object: &mut T) {}
}

// What an object or its hooks may be: by whether they can be sent and shared.
type Both = u8;
type SendOnly = Cell<u8>;
type SyncOnly = MutexGuard<'static, u8>;
type Neither = Rc<u8>;
/// Not fit to be seen after a panic.
type Fragile = &'static mut u8;
/// Not fit to be seen by others after a panic.
type FragileShared = &'static Cell<u8>;
/// Never `Unpin`.
type Pinned = std::marker::PhantomPinned;

macro_rules! holds {
    (yes $type:ty, $($bound:tt)+) => {
        const _: () = {
            const fn check<T: $($bound)+>() {}
            check::<$type>();
        };
    };
    // Ambiguous, and so no program, if the type has the trait.
    (no $type:ty, $($bound:tt)+) => {
        const _: fn() = || {
            trait Ambiguous<A> {
                fn item() {}
            }
            struct If;
            impl<T: ?Sized> Ambiguous<()> for T {}
            impl<T: ?Sized + $($bound)+> Ambiguous<If> for T {}
            let _ = <$type as Ambiguous<_>>::item;
        };
    };
}

macro_rules! table {
    ($($type:ty => $send:ident $sync:ident $unpin:ident $unwind:ident $ref_unwind:ident;)*) => {$(
        holds!($send $type, Send);
        holds!($sync $type, Sync);
        holds!($unpin $type, Unpin);
        holds!($unwind $type, UnwindSafe);
        holds!($ref_unwind $type, RefUnwindSafe);
    )*};
}

table! {
    //                                      Send Sync Unpin UnwindSafe RefUnwindSafe

    // Objects go from thread to thread through a pool, and are never shared by it.
    Pool<Both, Like<()>>                 => yes  yes  yes   yes  yes;
    Pool<SendOnly, Like<()>>             => yes  yes  yes   yes  yes;
    Pool<SyncOnly, Like<()>>             => no   no   yes   yes  yes;
    Pool<Neither, Like<()>>              => no   no   yes   yes  yes;
    // The hooks are called by all threads at once, and dropped by any.
    Pool<Both, Like<SendOnly>>           => no   no   yes   yes  yes;
    Pool<Both, Like<SyncOnly>>           => no   no   yes   yes  yes;
    Pool<Both, Like<Neither>>            => no   no   yes   yes  yes;
    // A panic loses the object that a hook worked on, and nothing else.
    Pool<Fragile, Like<()>>              => yes  yes  yes   yes  yes;
    Pool<Both, Like<Fragile>>            => yes  yes  yes   yes  yes;
    Pool<Pinned, Like<Pinned>>           => yes  yes  yes   yes  yes;

    FnPool<SendOnly>                     => yes  yes  yes   yes  yes;
    Pool<Both, Box<dyn Lifecycle<Both> + Send + Sync>> => yes yes yes yes yes;

    // As `Box<T>`, with hooks that are shared.
    Pooled<Both, Like<()>>               => yes  yes  yes   yes  yes;
    Pooled<SendOnly, Like<()>>           => yes  no   yes   yes  no;
    Pooled<SyncOnly, Like<()>>           => no   yes  yes   yes  yes;
    Pooled<Neither, Like<()>>            => no   no   yes   yes  yes;
    Pooled<Both, Like<SendOnly>>         => no   no   yes   yes  yes;
    Pooled<Both, Like<SyncOnly>>         => no   no   yes   yes  yes;
    Pooled<Both, Like<Neither>>          => no   no   yes   yes  yes;
    Pooled<Fragile, Like<()>>            => yes  yes  yes   no   yes;
    Pooled<Pinned, Like<Pinned>>         => yes  yes  yes   yes  yes;
    Option<Pooled<SendOnly, Like<()>>>   => yes  no   yes   yes  no;

    // As `Arc<T>`, with hooks that are shared.
    SharedPooled<Both, Like<()>>         => yes  yes  yes   yes  yes;
    SharedPooled<SendOnly, Like<()>>     => no   no   yes   no   no;
    SharedPooled<SyncOnly, Like<()>>     => no   no   yes   yes  yes;
    SharedPooled<Neither, Like<()>>      => no   no   yes   yes  yes;
    SharedPooled<Both, Like<SendOnly>>   => no   no   yes   yes  yes;
    SharedPooled<Both, Like<SyncOnly>>   => no   no   yes   yes  yes;
    SharedPooled<Both, Like<Neither>>    => no   no   yes   yes  yes;
    SharedPooled<Pinned, Like<Pinned>>   => yes  yes  yes   yes  yes;

    // As a `Vec` of handles.
    Burst<Both, Like<()>>                => yes  yes  yes   yes  yes;
    Burst<SendOnly, Like<()>>            => yes  no   yes   yes  no;
    Burst<SyncOnly, Like<()>>            => no   yes  yes   yes  yes;
    Burst<Neither, Like<()>>             => no   no   yes   yes  yes;
    Burst<Both, Like<SendOnly>>          => no   no   yes   yes  yes;
    Burst<Both, Like<SyncOnly>>          => no   no   yes   yes  yes;
    Burst<Fragile, Like<()>>             => yes  yes  yes   no   yes;

    // As a `Vec` of objects, of which a shared one shows none.
    Drain<'static, Both, Like<()>>       => yes  yes  yes   yes  yes;
    Drain<'static, SendOnly, Like<()>>   => yes  yes  yes   yes  yes;
    Drain<'static, SyncOnly, Like<()>>   => no   no   yes   yes  yes;
    Drain<'static, Both, Like<SendOnly>> => no   no   yes   yes  yes;
    Drain<'static, Fragile, Like<()>>    => yes  yes  yes   yes  yes;

    // It becomes a handle where it is filled.
    VacantEntry<Both, Like<()>>          => yes  yes  yes   yes  yes;
    VacantEntry<SendOnly, Like<()>>      => yes  yes  yes   yes  yes;
    VacantEntry<SyncOnly, Like<()>>      => no   no   yes   yes  yes;
    VacantEntry<Both, Like<SendOnly>>    => no   no   yes   yes  yes;
    Entry<SyncOnly, Like<()>>            => no   no   yes   yes  yes;
    WeakPool<Both, Like<()>>             => yes  yes  yes   yes  yes;
    WeakPool<SyncOnly, Like<()>>         => no   no   yes   yes  yes;
    WeakPool<Both, Like<SyncOnly>>       => no   no   yes   yes  yes;

    // Says what it will make, and has made nothing: the object does not matter.
    Builder<Both, Like<()>>              => yes  yes  yes   yes  yes;
    Builder<Neither, Like<()>>           => yes  yes  yes   yes  yes;
    Builder<Both, Like<SendOnly>>        => yes  no   yes   yes  no;
    Builder<Both, Like<SyncOnly>>        => no   yes  yes   yes  yes;
    Builder<Both, Like<Neither>>         => no   no   yes   yes  yes;

    // For one thread, whatever the object.
    unsync::Pool<Both, Like<()>>         => no   no   yes   yes  yes;
    unsync::Pool<Neither, Like<Neither>> => no   no   yes   yes  yes;
    unsync::Pooled<Both, Like<()>>       => no   no   yes   yes  yes;
    unsync::Pooled<SendOnly, Like<()>>   => no   no   yes   yes  no;
    unsync::Pooled<Fragile, Like<()>>    => no   no   yes   no   yes;
    unsync::Burst<Both, Like<()>>        => no   no   yes   yes  yes;
    unsync::Burst<Fragile, Like<()>>     => no   no   yes   no   yes;
    unsync::Builder<Both, Like<()>>      => yes  yes  yes   yes  yes;

    BuildError                           => yes  yes  yes   yes  yes;
    AcquireError                         => yes  yes  yes   yes  yes;
    ParseBackendError                    => yes  yes  yes   yes  yes;
    AttachError<Both>                    => yes  yes  yes   yes  yes;
    AttachError<SendOnly>                => yes  no   yes   yes  no;
    AttachError<SyncOnly>                => no   yes  yes   yes  yes;
    AttachError<Neither>                 => no   no   yes   yes  yes;
    AttachError<FragileShared>           => no   no   yes   no   no;

    Stats                                => yes  yes  yes   yes  yes;
    Memory                               => yes  yes  yes   yes  yes;
    Backend                              => yes  yes  yes   yes  yes;
    ResetOn                              => yes  yes  yes   yes  yes;
    Derived                              => yes  yes  yes   yes  yes;
    Hooks<fn() -> Both, fn(&mut Both)>   => yes  yes  yes   yes  yes;
}

// Objects that are on their way out.
holds!(yes Drain<'static, Both, Like<()>>, Send);
holds!(yes Drain<'static, Both, Like<()>>, Sync);
holds!(yes Drain<'static, SendOnly, Like<()>>, Send);
holds!(no Drain<'static, SyncOnly, Like<()>>, Send);
holds!(no Drain<'static, Neither, Like<()>>, Send);
holds!(no Drain<'static, Neither, Like<()>>, Sync);
holds!(no Drain<'static, Both, Like<SendOnly>>, Send);
holds!(no Drain<'static, Both, Like<SyncOnly>>, Send);

// A handle borrows nothing, and is not copied; a shared one is cloned.
holds!(yes Pooled<Both>, 'static);
holds!(yes SharedPooled<Both>, 'static);
holds!(yes Burst<Both>, 'static);
holds!(no Pooled<Both>, Clone);
holds!(no Burst<Both>, Clone);
holds!(yes SharedPooled<Neither, Like<()>>, Clone);
holds!(yes Pool<Neither, Like<Neither>>, Clone);
holds!(yes unsync::Pool<Neither, Like<Neither>>, Clone);
holds!(no unsync::Pooled<Both>, Clone);

// Errors are errors, and say so without `T: Debug`.
struct Mute;
holds!(no Mute, Debug);
holds!(yes BuildError, Error + Clone + PartialEq + Display);
holds!(yes AcquireError, Error + Copy + Eq + Display);
holds!(yes ParseBackendError, Error + Clone + Eq + Display);
holds!(yes AttachError<Mute>, Error + Debug + Display);
holds!(yes Pool<Mute, Like<()>>, Debug);
holds!(yes Builder<Mute, Like<()>>, Debug);
holds!(yes Drain<'static, Mute, Like<()>>, Debug + ExactSizeIterator);
holds!(no Pooled<Mute, Like<()>>, Debug);

/// A handle is one word, and so is an `Option` of one, whatever the object.
#[test]
fn handles_are_one_word_with_a_niche() {
    fn one_word<H>() {
        assert_eq!(size_of::<H>(), size_of::<usize>());
        assert_eq!(align_of::<H>(), align_of::<usize>());
        assert_eq!(size_of::<Option<H>>(), size_of::<usize>());
    }

    fn all<T: 'static>() {
        one_word::<Pooled<T, Like<()>>>();
        one_word::<Pooled<T, Like<[u64; 4]>>>();
        one_word::<SharedPooled<T, Like<()>>>();
        one_word::<Pool<T, Like<()>>>();
        one_word::<unsync::Pooled<T, Like<()>>>();
        one_word::<unsync::Pool<T, Like<()>>>();
    }

    #[repr(align(4096))]
    struct Page(#[allow(dead_code)] [u8; 4096]);

    all::<()>();
    all::<u8>();
    all::<String>();
    all::<[u8; 1 << 20]>();
    all::<Page>();
    all::<Neither>();
    one_word::<Pooled<u8>>();
    one_word::<Pooled<u8, Hooks<fn() -> u8, fn(&mut u8)>>>();
}

/// The hooks of a `Poolable` type take no room.
#[test]
fn the_derived_lifecycle_has_no_size() {
    assert_eq!(size_of::<Derived>(), 0);
    assert_eq!(
        size_of::<Hooks<fn() -> u8, fn(&mut u8)>>(),
        2 * size_of::<usize>()
    );
}
