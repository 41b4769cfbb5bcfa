// The input:
#[derive(Poolable)]
struct Message<T: Codec> {
    #[poolable(skp)]
    bytes: Vec<u8>,
    #[poolable(default, init = 1)]
    codec: T,
}

// What is derived from it:
#[automatically_derived]
impl<T: Codec> ::pool_core::Poolable for Message<T> {
    fn init() -> Self {
        ::core::unreachable!()
    }
    fn reset(&mut self) {}
}
::core::compile_error! {
    "unknown word `skp`; did you mean `skip`?"
}
::core::compile_error! {
    "`default` and `init` contradict each other: both say how the field is made; keep `default` if reset makes it anew, `init` if it does not"
}
