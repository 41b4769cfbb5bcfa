//! The pools of other crates, each as its documentation has it used, with the same object and the same
//! reset as ours.
//!
//! Where a crate hands out borrowed handles and owned ones, the borrowed are measured, which cost it
//! less: the pool is leaked, so that a borrow lasts. (Ours are always owned.) Where the documentation
//! leaves it to the user to wipe an object, that is done on release. Pools with a fixed number of
//! objects have [`ROOM`].
#![allow(dead_code)] // `rivals` and `peers` have rows for some each.

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, Once, PoisonError};

use pool_bench::contender;
use pool_bench::contender::Contender;
use pool_bench::payload::{Message, Payload};
use pool_core::Poolable;

/// Objects in pools that cannot grow: more than any row has in use at a time.
pub(crate) const ROOM: usize = 4_096;

/// A contender that is a field; of any object where it has a `T`.
macro_rules! rival {
    (
        $(#[$attribute:meta])*
        $name:ident $([$any:ident])? ($pool:ty) hands out $handle:ty;
        made by $make:expr;
        acquire($acquirer:ident) $acquire:block
        $(object($held:ident) $object:block)?
        $(and $resets:ident;)?
        $(release($releaser:ident, $given:ident) $release:block)?
    ) => {
        $(#[$attribute])*
        pub(crate) struct $name $(<$any: Payload>)? ($pool);

        impl $(<$any: Payload>)? Default for $name $(<$any>)? {
            fn default() -> Self {
                $name($make)
            }
        }

        contender! {
            impl[$($any: Payload)?] $name $(<$any>)?, of rival!(@object $($any)?), hands out $handle;
            acquire($name($acquirer)) $acquire
            $(object($held) $object)?
            $(and $resets;)?
            $(release($name($releaser), $given) $release)?
        }
    };
    (@object) => { Message };
    (@object $any:ident) => { $any };
}

/// For handles that borrow.
fn leaked<T>(pool: T) -> &'static T {
    Box::leak(Box::new(pool))
}

rival! {
    /// `object-pool`: values in a vector under a lock, moved out and in.
    #[derive(Clone)]
    ObjectPool(&'static object_pool::Pool<Message>) hands out object_pool::Reusable<'static, Message>;
    made by leaked(object_pool::Pool::new(0, Message::init));
    acquire(pool) { pool.pull(Message::init) }
    and resets;
}

rival! {
    /// The same with owned handles, each of which counts a reference to the pool.
    #[derive(Clone)]
    ObjectPoolOwned[T](Arc<object_pool::Pool<T>>) hands out object_pool::ReusableOwned<T>;
    made by Arc::new(object_pool::Pool::new(0, T::init));
    acquire(pool) { pool.pull_owned(T::init) }
    and resets;
}

/// A pool of `lockfree-object-pool`, with borrowed handles and with owned ones.
macro_rules! lockfree {
    ($(#[$doc:meta])* $borrowed:ident $owned:ident $pool:ident $reusable:ident $owned_reusable:ident) => {
        rival! {
            $(#[$doc])*
            #[derive(Clone)]
            $borrowed(&'static lockfree_object_pool::$pool<Message>)
                hands out lockfree_object_pool::$reusable<'static, Message>;
            made by leaked(lockfree_object_pool::$pool::new(Message::init, Message::reset));
            acquire(pool) { pool.pull() }
        }

        rival! {
            /// The same with owned handles, each of which counts a reference to the pool.
            #[derive(Clone)]
            $owned[T](Arc<lockfree_object_pool::$pool<T>>)
                hands out lockfree_object_pool::$owned_reusable<T>;
            made by Arc::new(lockfree_object_pool::$pool::new(T::init, T::reset));
            acquire(pool) { pool.pull_owned() }
        }
    };
}

lockfree! {
    /// `lockfree-object-pool`, pages of bits and objects in a list.
    LockfreeLinear LockfreeLinearOwned LinearObjectPool LinearReusable LinearOwnedReusable
}
lockfree! {
    /// `lockfree-object-pool`, a vector under a spin lock.
    LockfreeSpin LockfreeSpinOwned SpinLockObjectPool SpinLockReusable SpinLockOwnedReusable
}
lockfree! {
    /// `lockfree-object-pool`, a vector under a mutex.
    LockfreeMutex LockfreeMutexOwned MutexObjectPool MutexReusable MutexOwnedReusable
}

rival! {
    /// `lockfree-object-pool`, its pool that keeps nothing: the object itself is the handle.
    #[derive(Clone)]
    LockfreeNone[T](Arc<lockfree_object_pool::NoneObjectPool<T>>)
        hands out lockfree_object_pool::NoneReusable<T>;
    made by Arc::new(lockfree_object_pool::NoneObjectPool::new(T::init));
    acquire(pool) { pool.pull() }
}

/// What `opool` asks for: how an object is made, and wiped before it is handed out.
pub(crate) struct Making;

impl opool::PoolAllocator<Message> for Making {
    fn reset(&self, message: &mut Message) {
        message.reset();
    }

    fn allocate(&self) -> Message {
        Message::init()
    }
}

rival! {
    /// `opool`: values in crossbeam's bounded queue, moved out and in.
    #[derive(Clone)]
    Opool(&'static opool::Pool<Making, Message>) hands out opool::RefGuard<'static, Making, Message>;
    made by leaked(opool::Pool::new(ROOM, Making));
    acquire(pool) { pool.get() }
}

rival! {
    /// `opool` for one thread.
    OpoolLocal(&'static opool::LocalPool<Making, Message>)
        hands out opool::RefLocalGuard<'static, Making, Message>;
    made by leaked(opool::LocalPool::new(ROOM, Making));
    acquire(pool) { pool.get() }
}

/// An object, for crates that want a trait of theirs on it.
#[derive(Clone)]
pub(crate) struct Wrapped<T = Message>(T);

impl<T> Deref for Wrapped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Wrapped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Poolable> Default for Wrapped<T> {
    fn default() -> Self {
        Wrapped(T::init())
    }
}

impl<T: Poolable> sharded_slab::Clear for Wrapped<T> {
    fn clear(&mut self) {
        self.0.reset();
    }
}

rival! {
    /// `sharded-slab`, its `Pool`: a shard for each thread; an object goes back by its key.
    #[derive(Clone)]
    ShardedSlab(&'static sharded_slab::Pool<Wrapped>)
        hands out sharded_slab::pool::RefMut<'static, Wrapped>;
    made by leaked(sharded_slab::Pool::new());
    acquire(pool) { pool.create().expect("fewer objects and threads than it has room for") }
    object(handle) { &raw mut ***handle }
    release(pool, handle) {
        let key = handle.key();
        drop(handle);
        pool.clear(key);
    }
}

rival! {
    /// The same with owned handles, each of which counts a reference to the pool.
    #[derive(Clone)]
    ShardedSlabOwned[T](Arc<sharded_slab::Pool<Wrapped<T>>>)
        hands out sharded_slab::pool::OwnedRefMut<Wrapped<T>>;
    made by Arc::new(sharded_slab::Pool::new());
    acquire(pool) {
        let handle = pool.clone().create_owned();
        handle.expect("fewer objects and threads than it has room for")
    }
    object(handle) { &raw mut ***handle }
    release(pool, handle) {
        let key = handle.key();
        drop(handle);
        pool.clear(key);
    }
}

rival! {
    /// `regex-automata`, the pool inside every `Regex`: one object for the thread that came first,
    /// stacks under locks for the others.
    #[derive(Clone)]
    RegexAutomata(&'static regex_automata::util::pool::Pool<Message, fn() -> Message>)
        hands out regex_automata::util::pool::PoolGuard<'static, Message, fn() -> Message>;
    made by leaked(regex_automata::util::pool::Pool::new(Message::init as fn() -> Message));
    acquire(pool) { pool.get() }
    and resets;
}

rival! {
    /// `nexus-pool`, for one thread, growing.
    NexusLocal(nexus_pool::local::Pool<Message>) hands out nexus_pool::local::Pooled<Message>;
    made by nexus_pool::local::Pool::new(Message::init, Message::reset);
    acquire(pool) { pool.acquire() }
}

rival! {
    /// `nexus-pool`, for one thread that acquires and any that release.
    NexusSync(nexus_pool::sync::Pool<Message>) hands out nexus_pool::sync::Pooled<Message>;
    made by nexus_pool::sync::Pool::new(ROOM, Message::init, Message::reset);
    acquire(pool) { pool.try_acquire().expect("fewer objects than it has room for") }
}

rival! {
    /// `plurality`, whose one thread allocates and any frees: memory as it is, neither made nor wiped.
    Plurality(plurality::Pool<Message>) hands out plurality::Box<MaybeUninit<Message>>;
    made by plurality::Pool::new();
    acquire(pool) { pool.alloc_uninit_box() }
    object(handle) { handle.as_mut_ptr() }
}

rival! {
    /// `plurality` with handles that borrow the pool.
    PluralityBorrowed(&'static plurality::Pool<Message>)
        hands out plurality::Alloc<'static, MaybeUninit<Message>>;
    made by leaked(plurality::Pool::new());
    acquire(pool) { pool.alloc_uninit() }
    object(handle) { handle.as_mut_ptr() }
}

rival! {
    /// `plurality` for several threads, as its documentation has it: a lock around what allocates.
    #[derive(Clone)]
    PluralityLocked(Arc<Mutex<plurality::Pool<Message>>>)
        hands out plurality::Box<MaybeUninit<Message>>;
    made by Arc::new(Mutex::new(plurality::Pool::new()));
    acquire(pool) { pool.lock().unwrap_or_else(PoisonError::into_inner).alloc_uninit_box() }
    object(handle) { handle.as_mut_ptr() }
}

rival! {
    /// `infinity_pool`, shared: an object is made in place, and destroyed when it goes back.
    #[derive(Clone)]
    InfinityPool(infinity_pool::PinnedPool<Message>) hands out infinity_pool::PooledMut<Message>;
    made by infinity_pool::PinnedPool::new();
    acquire(pool) { pool.insert(Message::init()) }
}

/// What `slab` gives for an object: its key, and where it is until the slab grows.
pub(crate) struct Key {
    key: usize,
    object: *mut Message,
}

rival! {
    /// `slab`: no handles but keys; an object is made in place, and destroyed when it goes back.
    Slab(slab::Slab<Message>) hands out Key;
    made by slab::Slab::new();
    acquire(slab) {
        let entry = slab.vacant_entry();
        let key = entry.key();
        Key { key, object: entry.insert(Message::init()) }
    }
    object(handle) { handle.object }
    release(slab, handle) { _ = slab.remove(handle.key) }
}

impl lifeguard::Recycleable for Wrapped {
    fn new() -> Self {
        Wrapped::default()
    }

    fn reset(&mut self) {
        Poolable::reset(&mut **self);
    }
}

rival! {
    /// `lifeguard`, for one thread: values in a vector, moved out and in.
    Lifeguard(&'static lifeguard::Pool<Wrapped>) hands out lifeguard::Recycled<'static, Wrapped>;
    made by leaked(lifeguard::Pool::with_size_and_max(0, usize::MAX));
    acquire(pool) { pool.new() }
    object(handle) { &raw mut ***handle }
}

type Asyncband = asyncband::pool::unbounded::Pool<Message>;

rival! {
    /// `asyncband`, its pool without a bound: values in a queue under a lock, moved out and in.
    #[derive(Clone)]
    AsyncbandUnbounded(Arc<Asyncband>) hands out asyncband::pool::unbounded::Object<Message>;
    made by Asyncband::never_manage(Default::default());
    acquire(pool) {
        loop {
            if let Some(handle) = pool.try_get() {
                break handle;
            }
            pool.extend_one(Message::init());
        }
    }
    and resets;
}

/// What `asyncband` asks for: how an object is made, and made ready to be used again.
pub(crate) struct Manager;

impl asyncband::pool::ManageObject for Manager {
    type Object = Message;
    type Error = Infallible;

    async fn create(&self) -> Result<Message, Infallible> {
        Ok(Message::init())
    }

    async fn is_recyclable(
        &self,
        message: &mut Message,
        _: &asyncband::pool::ObjectStatus,
    ) -> Result<(), Infallible> {
        message.reset();
        Ok(())
    }
}

rival! {
    /// `asyncband`, its pool with a bound: a semaphore besides. It has only an async way in.
    #[derive(Clone)]
    AsyncbandBounded(Arc<asyncband::pool::bounded::Pool<Manager>>)
        hands out asyncband::pool::bounded::Object<Manager>;
    made by asyncband::pool::bounded::Pool::new(
        asyncband::pool::bounded::PoolConfig::new(ROOM),
        Manager,
    );
    acquire(pool) { pollster::block_on(pool.get()).expect("making one does not fail") }
}

rival! {
    /// `deadpool`, the unmanaged pool, full from the start: values in a vector under a lock, and a semaphore.
    #[derive(Clone)]
    Deadpool(deadpool::unmanaged::Pool<Message>) hands out deadpool::unmanaged::Object<Message>;
    made by deadpool::unmanaged::Pool::from((0..ROOM).map(|_| Message::init()).collect::<Vec<_>>());
    acquire(pool) { pool.try_get().expect("fewer objects than it has") }
    and resets;
}

type Esox = esox_objectpool::DynamicObjectPool<Message>;

rival! {
    /// `esox_objectpool`, growing to a bound: values in crossbeam's bounded queue, moved out and in.
    #[derive(Clone)]
    EsoxObjectpool(Arc<Esox>) hands out esox_objectpool::PooledObject<Message>;
    made by Arc::new(Esox::new(
        Message::init,
        esox_objectpool::PoolConfiguration::new().with_max_pool_size(ROOM),
    ));
    acquire(pool) { pool.get_object().expect("fewer objects than it has room for") }
    and resets;
}

impl fastalloc::Poolable for Wrapped {}

/// `fastalloc`, shared: a lock; an object is moved in, and destroyed when it goes back. Its handle has no public name.
#[derive(Clone)]
pub(crate) struct Fastalloc<F>(fastalloc::ThreadSafePool<Wrapped>, F);

pub(crate) fn fastalloc() -> impl Contender<Handle: Send> + Clone + Send + Sync + 'static {
    let pool = fastalloc::ThreadSafePool::new(ROOM).expect("a capacity above 0");
    Fastalloc(pool, |pool: &fastalloc::ThreadSafePool<Wrapped>| {
        pool.allocate(Wrapped::default())
            .expect("fewer objects than it has room for")
    })
}

contender! {
    impl[H: DerefMut<Target = Wrapped>, F: Fn(&fastalloc::ThreadSafePool<Wrapped>) -> H] Fastalloc<F>, of Message,
        hands out H;
    acquire(Fastalloc(pool, allocate)) { allocate(pool) }
    object(handle) { &raw mut ***handle }
}

rival! {
    /// `fastalloc` for one thread.
    FastallocLocal(&'static fastalloc::FixedPool<Wrapped>)
        hands out fastalloc::OwnedHandle<'static, Wrapped>;
    made by leaked(fastalloc::FixedPool::new(ROOM).expect("a capacity above 0"));
    acquire(pool) { pool.allocate(Wrapped::default()).expect("fewer objects than it has room for") }
    object(handle) { &raw mut ***handle }
}

rival! {
    /// `nexus-slab`, growing, for one thread: no handles that give back by themselves; an object is made in place,
    /// and destroyed when it goes back.
    NexusSlab(nexus_slab::unbounded::Slab<Message>) hands out nexus_slab::Slot<Message>;
    // SAFETY: each slot goes back to the slab it is from, which stays on its thread.
    made by unsafe { nexus_slab::unbounded::Slab::with_chunk_capacity(ROOM) };
    acquire(slab) { slab.claim().write(Message::init()) }
    release(slab, handle) { slab.free(handle) }
}

heapless::object_pool!(HeaplessPool: Message);

/// `heapless`, its pool of objects: one for the program, a stack of blocks changed by compare-and-swap.
#[derive(Clone)]
pub(crate) struct Heapless;

impl Default for Heapless {
    fn default() -> Self {
        static FILL: Once = Once::new();
        FILL.call_once(|| {
            for _ in 0..ROOM {
                let block = heapless::pool::object::ObjectBlock::new(Message::init());
                HeaplessPool.manage(Box::leak(Box::new(block)));
            }
        });
        Heapless
    }
}

contender! {
    impl[] Heapless, of Message, hands out heapless::pool::object::Object<HeaplessPool>;
    acquire(_) { HeaplessPool.request().expect("fewer objects than it has") }
    and resets;
}
