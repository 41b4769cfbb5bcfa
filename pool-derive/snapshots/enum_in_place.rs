// The input:
#[derive(Poolable)]
#[poolable(in_place, reusable = Message::is_small)]
enum Message<T> {
    #[poolable(initial)]
    Heartbeat,
    Order {
        #[poolable(max_capacity = 64)]
        legs: Vec<T>,
        #[poolable(default = 100)]
        size: u32,
    },
    Text(String, #[poolable(skip)] u64),
}

// What is derived from it:
#[automatically_derived]
impl<T> ::pool_core::Poolable for Message<T>
where
    Vec<T>: ::pool_core::Poolable,
    Vec<T>: ::pool_core::MaxCapacity,
{
    #[inline]
    fn init() -> Self {
        Self::Heartbeat
    }
    #[inline]
    fn reset(&mut self) {
        match self {
            Self::Heartbeat => {}
            Self::Order { legs: __pool_legs, size: __pool_size } => {
                <Vec<T> as ::pool_core::Poolable>::reset(__pool_legs);
                <Vec<T> as ::pool_core::MaxCapacity>::limit_capacity(__pool_legs, 64);
                *__pool_size = <Self as ::pool_core::__private::Make<u32, 1>>::make();
            }
            Self::Text(__pool_0, _) => {
                <String as ::pool_core::Poolable>::reset(__pool_0);
            }
        }
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        (match self {
            Self::Order { legs: __pool_legs, size: _ } => {
                <Vec<T> as ::pool_core::Poolable>::is_reusable(__pool_legs)
            }
            Self::Text(__pool_0, _) => {
                <String as ::pool_core::Poolable>::is_reusable(__pool_0)
            }
            _ => true,
        }) && Message::is_small(self)
    }
}
#[automatically_derived]
impl<T> ::pool_core::__private::Make<u32, 1> for Message<T>
where
    Vec<T>: ::pool_core::Poolable,
    Vec<T>: ::pool_core::MaxCapacity,
{
    #[inline]
    fn make() -> u32 {
        100
    }
}
