// The input:
#[derive(Poolable)]
struct Order {
    id: u64,
    legs: Vec<Leg>,
    r#type: Option<Kind>,
}

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Order {
    #[inline]
    fn init() -> Self {
        Self {
            id: <u64 as ::pool_core::Poolable>::init(),
            legs: <Vec<Leg> as ::pool_core::Poolable>::init(),
            r#type: <Option<Kind> as ::pool_core::Poolable>::init(),
        }
    }
    #[inline]
    fn reset(&mut self) {
        let Self { id: __pool_id, legs: __pool_legs, r#type: __pool_type } = self;
        <u64 as ::pool_core::Poolable>::reset(__pool_id);
        <Vec<Leg> as ::pool_core::Poolable>::reset(__pool_legs);
        <Option<Kind> as ::pool_core::Poolable>::reset(__pool_type);
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        let Self { id: __pool_id, legs: __pool_legs, r#type: __pool_type } = self;
        <u64 as ::pool_core::Poolable>::is_reusable(__pool_id)
            && <Vec<Leg> as ::pool_core::Poolable>::is_reusable(__pool_legs)
            && <Option<Kind> as ::pool_core::Poolable>::is_reusable(__pool_type)
    }
    #[inline]
    fn init_in(
        __pool_place: ::pool_core::Place<'_, Self>,
    ) -> ::pool_core::Ready<'_, Self> {
        ::pool_core::__build_in_place!(
            __pool_place,
            Self {
                id: |__pool_part| <u64 as ::pool_core::Poolable>::init_in(__pool_part),
                legs: |__pool_part| <Vec<
                    Leg,
                > as ::pool_core::Poolable>::init_in(__pool_part),
                r#type: |__pool_part| <Option<
                    Kind,
                > as ::pool_core::Poolable>::init_in(__pool_part),
            },
        )
    }
}
