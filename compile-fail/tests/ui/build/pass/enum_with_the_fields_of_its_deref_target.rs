use std::mem::MaybeUninit;

use pool_core::Place;

struct Inner {
    first: u8,
}

struct Object {
    first: u8,
}

impl std::ops::Deref for Object {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &Inner { first: 1 }
    }
}

fn main() {
    let mut memory = MaybeUninit::<Object>::uninit();
    let place = Place::new(&mut memory);
    let _ = pool_core::__build_in_place!(place, Object { first: |part| part.write(1) });
}
