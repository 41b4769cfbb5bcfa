// The input:
#[derive(Poolable)]
struct Message {
    plain: u64,
    #[poolable(default)]
    default: Side,
    #[poolable(default = Price::MAX)]
    default_expr: Price,
    #[poolable(init = Vec::with_capacity(64))]
    init: Vec<u8>,
    #[poolable(reset = Header::wipe)]
    reset_path: Header,
    #[poolable(reset = |field|field.fill(0))]
    reset_closure: [u8; 32],
    #[poolable(skip)]
    skip: u64,
    #[poolable(skip, init = next_id())]
    skip_init: u64,
    #[poolable(max_capacity = 4096)]
    max_capacity: String,
    #[poolable(default, max_capacity = 16)]
    default_max_capacity: Vec<u8>,
}

// What is derived from it:
#[automatically_derived]
impl ::pool_core::Poolable for Message {
    #[inline]
    fn init() -> Self {
        Self {
            plain: <u64 as ::pool_core::Poolable>::init(),
            default: <Side as ::core::default::Default>::default(),
            default_expr: <Self as ::pool_core::__private::Make<Price, 2>>::make(),
            init: <Self as ::pool_core::__private::Make<Vec<u8>, 3>>::make(),
            reset_path: <Header as ::pool_core::Poolable>::init(),
            reset_closure: <[u8; 32] as ::pool_core::Poolable>::init(),
            skip: <u64 as ::pool_core::Poolable>::init(),
            skip_init: <Self as ::pool_core::__private::Make<u64, 7>>::make(),
            max_capacity: <String as ::pool_core::Poolable>::init(),
            default_max_capacity: <Vec<u8> as ::core::default::Default>::default(),
        }
    }
    #[inline]
    fn reset(&mut self) {
        let Self {
            plain: __pool_plain,
            default: __pool_default,
            default_expr: __pool_default_expr,
            init: __pool_init,
            reset_path: __pool_reset_path,
            reset_closure: __pool_reset_closure,
            skip: _,
            skip_init: _,
            max_capacity: __pool_max_capacity,
            default_max_capacity: __pool_default_max_capacity,
        } = self;
        <u64 as ::pool_core::Poolable>::reset(__pool_plain);
        *__pool_default = <Side as ::core::default::Default>::default();
        *__pool_default_expr = <Self as ::pool_core::__private::Make<Price, 2>>::make();
        <Vec<u8> as ::pool_core::Poolable>::reset(__pool_init);
        let _ = Header::wipe(__pool_reset_path);
        ::pool_core::__private::reset_with(__pool_reset_closure, |field| field.fill(0));
        <String as ::pool_core::Poolable>::reset(__pool_max_capacity);
        <String as ::pool_core::MaxCapacity>::limit_capacity(__pool_max_capacity, 4096);
        <Vec<
            u8,
        > as ::pool_core::MaxCapacity>::refill(
            __pool_default_max_capacity,
            <Vec<u8> as ::core::default::Default>::default(),
        );
        <Vec<
            u8,
        > as ::pool_core::MaxCapacity>::limit_capacity(__pool_default_max_capacity, 16);
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        let Self {
            plain: __pool_plain,
            default: _,
            default_expr: _,
            init: __pool_init,
            reset_path: _,
            reset_closure: _,
            skip: _,
            skip_init: _,
            max_capacity: __pool_max_capacity,
            default_max_capacity: _,
        } = self;
        <u64 as ::pool_core::Poolable>::is_reusable(__pool_plain)
            && <Vec<u8> as ::pool_core::Poolable>::is_reusable(__pool_init)
            && <String as ::pool_core::Poolable>::is_reusable(__pool_max_capacity)
    }
    #[inline]
    fn init_in(
        __pool_place: ::pool_core::Place<'_, Self>,
    ) -> ::pool_core::Ready<'_, Self> {
        ::pool_core::__build_in_place!(
            __pool_place,
            Self {
                plain: |__pool_part| <u64 as ::pool_core::Poolable>::init_in(
                    __pool_part,
                ),
                default: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Side as ::core::default::Default>::default(),
                ),
                default_expr: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Self as ::pool_core::__private::Make<Price, 2>>::make(),
                ),
                init: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Self as ::pool_core::__private::Make<Vec<u8>, 3>>::make(),
                ),
                reset_path: |__pool_part| <Header as ::pool_core::Poolable>::init_in(
                    __pool_part,
                ),
                reset_closure: |__pool_part| <[u8; 32] as ::pool_core::Poolable>::init_in(
                    __pool_part,
                ),
                skip: |__pool_part| <u64 as ::pool_core::Poolable>::init_in(__pool_part),
                skip_init: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Self as ::pool_core::__private::Make<u64, 7>>::make(),
                ),
                max_capacity: |__pool_part| <String as ::pool_core::Poolable>::init_in(
                    __pool_part,
                ),
                default_max_capacity: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Vec<u8> as ::core::default::Default>::default(),
                ),
            },
        )
    }
}
#[automatically_derived]
impl ::pool_core::__private::Make<Price, 2> for Message {
    #[inline]
    fn make() -> Price {
        Price::MAX
    }
}
#[automatically_derived]
impl ::pool_core::__private::Make<Vec<u8>, 3> for Message {
    #[inline]
    fn make() -> Vec<u8> {
        Vec::with_capacity(64)
    }
}
#[automatically_derived]
impl ::pool_core::__private::Make<u64, 7> for Message {
    #[inline]
    fn make() -> u64 {
        next_id()
    }
}
