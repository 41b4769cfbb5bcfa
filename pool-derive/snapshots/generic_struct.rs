// The input:
#[derive(Poolable)]
struct Book<'a, K: Ord, V = u64, const N: usize = 8>
where
    V: Value,
{
    name: Option<&'a str>,
    keys: Vec<K>,
    values: [V; N],
    unit: V::Unit,
    #[poolable(default)]
    best: Option<K>,
    #[poolable(skip, init = None)]
    worst: Option<K>,
    parent: Option<Box<Book<'a, K, V, N>>>,
}

// What is derived from it:
#[automatically_derived]
impl<'a, K: Ord, V, const N: usize> ::pool_core::Poolable for Book<'a, K, V, N>
where
    V: Value,
    Vec<K>: ::pool_core::Poolable,
    [V; N]: ::pool_core::Poolable,
    V::Unit: ::pool_core::Poolable,
    Option<K>: ::core::default::Default,
{
    #[inline]
    fn init() -> Self {
        Self {
            name: <Option<&'a str> as ::pool_core::Poolable>::init(),
            keys: <Vec<K> as ::pool_core::Poolable>::init(),
            values: <[V; N] as ::pool_core::Poolable>::init(),
            unit: <V::Unit as ::pool_core::Poolable>::init(),
            best: <Option<K> as ::core::default::Default>::default(),
            worst: <Self as ::pool_core::__private::Make<Option<K>, 5>>::make(),
            parent: <Option<Box<Book<'a, K, V, N>>> as ::pool_core::Poolable>::init(),
        }
    }
    #[inline]
    fn reset(&mut self) {
        let Self {
            name: __pool_name,
            keys: __pool_keys,
            values: __pool_values,
            unit: __pool_unit,
            best: __pool_best,
            worst: _,
            parent: __pool_parent,
        } = self;
        <Option<&'a str> as ::pool_core::Poolable>::reset(__pool_name);
        <Vec<K> as ::pool_core::Poolable>::reset(__pool_keys);
        <[V; N] as ::pool_core::Poolable>::reset(__pool_values);
        <V::Unit as ::pool_core::Poolable>::reset(__pool_unit);
        *__pool_best = <Option<K> as ::core::default::Default>::default();
        <Option<Box<Book<'a, K, V, N>>> as ::pool_core::Poolable>::reset(__pool_parent);
    }
    #[inline]
    fn is_reusable(&self) -> ::core::primitive::bool {
        let Self {
            name: __pool_name,
            keys: __pool_keys,
            values: __pool_values,
            unit: __pool_unit,
            best: _,
            worst: _,
            parent: __pool_parent,
        } = self;
        <Option<&'a str> as ::pool_core::Poolable>::is_reusable(__pool_name)
            && <Vec<K> as ::pool_core::Poolable>::is_reusable(__pool_keys)
            && <[V; N] as ::pool_core::Poolable>::is_reusable(__pool_values)
            && <V::Unit as ::pool_core::Poolable>::is_reusable(__pool_unit)
            && <Option<
                Box<Book<'a, K, V, N>>,
            > as ::pool_core::Poolable>::is_reusable(__pool_parent)
    }
    #[inline]
    fn init_in(
        __pool_place: ::pool_core::Place<'_, Self>,
    ) -> ::pool_core::Ready<'_, Self> {
        ::pool_core::__build_in_place!(
            __pool_place,
            Self {
                name: |__pool_part| <Option<
                    &'a str,
                > as ::pool_core::Poolable>::init_in(__pool_part),
                keys: |__pool_part| <Vec<
                    K,
                > as ::pool_core::Poolable>::init_in(__pool_part),
                values: |__pool_part| <[V; N] as ::pool_core::Poolable>::init_in(
                    __pool_part,
                ),
                unit: |__pool_part| <V::Unit as ::pool_core::Poolable>::init_in(
                    __pool_part,
                ),
                best: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Option<K> as ::core::default::Default>::default(),
                ),
                worst: |__pool_part| ::pool_core::Place::write(
                    __pool_part,
                    <Self as ::pool_core::__private::Make<Option<K>, 5>>::make(),
                ),
                parent: |__pool_part| <Option<
                    Box<Book<'a, K, V, N>>,
                > as ::pool_core::Poolable>::init_in(__pool_part),
            },
        )
    }
}
#[automatically_derived]
impl<'a, K: Ord, V, const N: usize> ::pool_core::__private::Make<Option<K>, 5>
for Book<'a, K, V, N>
where
    V: Value,
    Vec<K>: ::pool_core::Poolable,
    [V; N]: ::pool_core::Poolable,
    V::Unit: ::pool_core::Poolable,
    Option<K>: ::core::default::Default,
{
    #[inline]
    fn make() -> Option<K> {
        None
    }
}
