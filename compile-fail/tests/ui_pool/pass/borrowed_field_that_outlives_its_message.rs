use pool_core::Pool;
use pool_core::poolable::recycle;

fn main() {
    let pool = Pool::<Vec<(u32, &'static str)>>::new();
    let mut buffer = pool.acquire();
    {
        let message = String::from("35=D");
        let mut fields = recycle(std::mem::take(&mut *buffer));
        fields.push((35, &message[3..]));
        *buffer = recycle(fields);
    }
}
