// The input:
#[derive(Poolable)]
struct Level(u64, #[poolable(default = 1)] u32);

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Level {
    #[inline]
    fn init() -> Self {
        Self(
            <u64 as ::pool_core::Poolable>::init(),
            <Self as ::pool_core::__private::Make<u32, 1>>::make(),
        )
    }
    #[inline]
    fn reset(&mut self) {
        let Self(__pool_0, __pool_1) = self;
        <u64 as ::pool_core::Poolable>::reset(__pool_0);
        *__pool_1 = <Self as ::pool_core::__private::Make<u32, 1>>::make();
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        let Self(__pool_0, _) = self;
        <u64 as ::pool_core::Poolable>::is_reusable(__pool_0)
    }
    #[inline]
    fn init_in(
        __pool_place: ::pool_core::Place<'_, Self>,
    ) -> ::pool_core::Ready<'_, Self> {
        ::pool_core::__build_in_place!(
            __pool_place,
            Self {
                0: |__pool_part| <u64 as ::pool_core::Poolable>::init_in(__pool_part),
                1: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Self as ::pool_core::__private::Make<u32, 1>>::make(),
                ),
            },
        )
    }
}
#[automatically_derived]
impl ::pool_core::__private::Make<u32, 1> for Level {
    #[inline]
    fn make() -> u32 {
        1
    }
}
