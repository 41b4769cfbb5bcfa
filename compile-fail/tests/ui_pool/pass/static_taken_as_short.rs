use pool_core::Pooled;

// What it refers to may be taken as shorter; the place may not.
fn shorten<'short>(object: &Pooled<&'static str, Static>) -> &'short str {
    **object
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
    let mut short: &str = &text;
    assert_eq!(short, "short");
    short = shorten(&pool.acquire());
    assert_eq!(short, "");
}
