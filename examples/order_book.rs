//! An order book fed by market data.
fn main() {}
