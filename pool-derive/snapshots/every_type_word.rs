// The input:
#[derive(Poolable)]
#[poolable(
    reset_with = Self::after,
    reusable = is_small,
    bound = "T: Codec",
    crate = pools
)]
struct Message<T> {
    bytes: Vec<u8>,
    codec: T,
}

// What is derived from it:
#[automatically_derived]
impl<T> pools::Poolable for Message<T>
where
    T: Codec,
{
    #[inline]
    fn init() -> Self {
        Self {
            bytes: <Vec<u8> as pools::Poolable>::init(),
            codec: <T as pools::Poolable>::init(),
        }
    }
    #[inline]
    fn reset(&mut self) {
        let Self { bytes: __pool_bytes, codec: __pool_codec } = self;
        <Vec<u8> as pools::Poolable>::reset(__pool_bytes);
        <T as pools::Poolable>::reset(__pool_codec);
        let _ = Self::after(self);
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        let Self { bytes: __pool_bytes, codec: __pool_codec } = self;
        <Vec<u8> as pools::Poolable>::is_reusable(__pool_bytes)
            && <T as pools::Poolable>::is_reusable(__pool_codec) && is_small(self)
    }
    #[inline]
    fn init_in(__pool_place: pools::Place<'_, Self>) -> pools::Ready<'_, Self> {
        pools::__build_in_place!(
            __pool_place,
            Self {
                bytes: |__pool_part| <Vec<u8> as pools::Poolable>::init_in(__pool_part),
                codec: |__pool_part| <T as pools::Poolable>::init_in(__pool_part),
            },
        )
    }
}
