// The input:
#[derive(Poolable)]
enum Side {
    #[poolable(initial)]
    Unknown,
    Buy,
    Sell,
}

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Side {
    #[inline]
    fn init() -> Self {
        Self::Unknown
    }
    #[inline]
    fn reset(&mut self) {
        match self {
            Self::Unknown => {}
            _ => *self = <Self as ::pool_core::Poolable>::init(),
        }
    }
}
