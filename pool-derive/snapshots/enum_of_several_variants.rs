// The input:
#[derive(Poolable)]
#[poolable(reusable = |session|!session.is_broken())]
enum Session {
    #[poolable(initial)]
    Idle { buffer: Vec<u8>, #[poolable(skip)] id: u64 },
    Open(Connection),
    Closed,
}

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Session {
    #[inline]
    fn init() -> Self {
        Self::Idle {
            buffer: <Vec<u8> as ::pool_core::Poolable>::init(),
            id: <u64 as ::pool_core::Poolable>::init(),
        }
    }
    #[inline]
    fn reset(&mut self) {
        match self {
            Self::Idle { buffer: __pool_buffer, id: _ } => {
                <Vec<u8> as ::pool_core::Poolable>::reset(__pool_buffer);
            }
            _ => *self = <Self as ::pool_core::Poolable>::init(),
        }
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        (match self {
            Self::Idle { buffer: __pool_buffer, id: _ } => {
                <Vec<u8> as ::pool_core::Poolable>::is_reusable(__pool_buffer)
            }
            _ => true,
        }) && ::pool_core::__private::validate_with(self, |session| !session.is_broken())
    }
}
