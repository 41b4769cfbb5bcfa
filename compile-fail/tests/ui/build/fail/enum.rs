use std::mem::MaybeUninit;

use pool_core::Place;

enum Object {
    Only { first: u8 },
}

use Object::Only;

fn main() {
    let mut memory = MaybeUninit::<Object>::uninit();
    let place = Place::new(&mut memory);
    let _ = pool_core::__build_in_place!(place, Only { first: |part| part.write(1) });
}
