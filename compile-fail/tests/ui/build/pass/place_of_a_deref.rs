use std::mem::MaybeUninit;

use pool_core::Place;

struct Object {
    first: u8,
    second: String,
}

struct Holder<'a>(Place<'a, Object>);

impl<'a> std::ops::Deref for Holder<'a> {
    type Target = Place<'a, Object>;

    fn deref(&self) -> &Place<'a, Object> {
        &self.0
    }
}

impl std::ops::DerefMut for Holder<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

fn main() {
    let mut memory = MaybeUninit::<Object>::uninit();
    let place = Place::new(&mut memory);
    let place = Holder(place).0;
    let _ = pool_core::__build_in_place!(place, Object { first: |part| part.write(1), second: |part| part.write(String::new()) });
}
