use pool_core::{Derived, Lifecycle, Pool};

struct Tens;

impl Lifecycle<u32> for Tens {
    fn create(&self) -> u32 {
        10
    }
    fn reset(&self, object: &mut u32) {
        *object = 10;
    }
}

fn main() {
    let tens = Pool::builder_for(Tens).build().unwrap();
    let zeros = Pool::builder_for(Derived).build().unwrap();
    let mut object = zeros.acquire();
    object = tens.acquire();
    drop::<pool_core::Pooled<u32>>(object);
}
