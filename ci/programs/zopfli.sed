# Our pool in place of lockfree-object-pool's: what the pool is, and how it is asked.
s/use lockfree_object_pool::LinearObjectPool;/use pool_core::FnPool;/
s/LinearObjectPool<Box<ZopfliHash>>/FnPool<Box<ZopfliHash>>/
s/LinearObjectPool::new(\(ZopfliHash::new, |boxed| boxed.reset()\))/FnPool::builder_fn(\1).build().unwrap()/
s/hash::HASH_POOL\.pull()/hash::HASH_POOL.reserve(1)/
s/HASH_POOL\.pull()/HASH_POOL.acquire()/
