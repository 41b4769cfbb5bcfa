// The input:
#[derive(Poolable)]
#[repr(C, packed)]
struct Wire {
    tag: u8,
    #[poolable(default)]
    length: u32,
}

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Wire {
    #[inline]
    fn init() -> Self {
        Self {
            tag: <u8 as ::pool_core::Poolable>::init(),
            length: <u32 as ::core::default::Default>::default(),
        }
    }
    #[inline]
    fn reset(&mut self) {
        let Self { tag: __pool_tag, length: _ } = self;
        <u8 as ::pool_core::Poolable>::reset(__pool_tag);
        self.length = <u32 as ::core::default::Default>::default();
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        let Self { tag: __pool_tag, length: _ } = self;
        <u8 as ::pool_core::Poolable>::is_reusable(__pool_tag)
    }
}
