use std::mem::MaybeUninit;

use pool_core::Place;

struct Object {
    first: u8,
}

fn main() {
    let mut memory = MaybeUninit::<Object>::uninit();
    let place = Place::new(&mut memory);
    let mut kept: Option<Place<'static, u8>> = None;
    let _ = pool_core::__build_in_place!(place, Object { first: |part| { kept = Some(part); loop {} } });
}
