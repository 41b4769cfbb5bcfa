// The input:
#[derive(Poolable)]
struct Heartbeat;

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Heartbeat {
    #[inline]
    fn init() -> Self {
        Self
    }
    #[inline]
    fn reset(&mut self) {
        let Self = self;
    }
}
