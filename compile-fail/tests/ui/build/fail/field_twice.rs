use std::mem::MaybeUninit;

use pool_core::Place;

struct Object {
    first: u8,
    second: String,
}

fn main() {
    let mut memory = MaybeUninit::<Object>::uninit();
    let place = Place::new(&mut memory);
    let _ = pool_core::__build_in_place!(place, Object { first: |part| part.write(1), first: |part| part.write(1), second: |part| part.write(String::new()) });
}
