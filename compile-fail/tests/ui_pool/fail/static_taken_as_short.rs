use pool_core::Pooled;

// A handle of a pool of `&'static str` would put a shorter one into it.
fn shorten<'short>(object: Pooled<&'static str, Static>) -> Pooled<&'short str, Static> {
    object
}

struct Static;

impl<'a> pool_core::Lifecycle<&'a str> for Static {
    fn create(&self) -> &'a str {
        ""
    }
    fn reset(&self, _: &mut &'a str) {}
}

fn main() {
    let pool = pool_core::Pool::<&'static str, Static>::builder_for(Static)
        .build()
        .unwrap();
    let text = String::from("short");
    *shorten(pool.acquire()) = &text;
}
