# Our pool in place of lockfree-object-pool's. A map's reset comes with the feature `indexmap`.
s/use lockfree_object_pool::.*/use pool_core::{Pool, Pooled};/
/^use std::sync::Arc;$/d
s/Arc<LinearObjectPool<Map>>/Pool<Map>/g
s/Arc::new(LinearObjectPool::new(Map::new, Map::clear))/Pool::builder().build().unwrap()/
s/LinearOwnedReusable<Map>/Pooled<Map>/
s/get_pool()\.pull_owned()/get_pool().acquire()/
