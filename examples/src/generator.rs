//! A stream of messages that looks like a busy stock's, made up from a seed.
//!
//! The same seed gives the same stream everywhere and always: only integers are used, and the
//! random numbers are made here. A shorter stream is the beginning of a longer one.
//!
//! What it takes from real days: most orders are deleted within a few hundred messages; one
//! message in ten is a trade with a hidden order; trades eat the best level in the order the
//! orders came; sizes are round lots or odd ones; messages come in bursts; and at first many speak
//! of orders that rested before the stream began.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use crate::format::Name;
use crate::lobster::{Kind, Message, Side};
use crate::{fix, itch};

/// A cent, in the unit of prices (dollars × 10,000).
const TICK: i64 = 100;
/// Where the stream begins: $150.00, half past nine.
const FIRST_FAIR: i64 = 15_000;
const OPENING: u64 = 34_200_000_000_000;
/// Fewer orders at rest than this bring more new ones, more bring more deletes.
const AT_REST: usize = 4_000;
/// Orders that rested before the stream began; ids below the first the stream gives out.
const BEFORE: u64 = 2_000;
const FIRST_ID: i64 = 10_000_001;
/// Room for a row, on average with some to spare.
const BYTES_PER_ROW: usize = 48;
/// What the stock is called.
const SYMBOL: &str = "POOL";

/// `count` rows of the stream that begins with `seed`, as the text of a message file.
///
/// # Errors
///
/// When there is no memory for so many.
pub fn text(seed: u64, count: usize) -> Result<Vec<u8>, std::collections::TryReserveError> {
    let mut text = Vec::new();
    text.try_reserve(count.saturating_mul(BYTES_PER_ROW))?;
    for message in Generator::new(seed).take(count) {
        writeln!(text, "{message}").expect("a Vec takes whatever is written");
    }
    Ok(text)
}

/// `count` messages of the stream that begins with `seed`, as a file of any format.
///
/// # Errors
///
/// When there is no memory for so many.
pub fn file(
    format: Name,
    seed: u64,
    count: usize,
) -> Result<Vec<u8>, std::collections::TryReserveError> {
    let messages = Generator::new(seed).take(count);
    let mut out = Vec::new();
    match format {
        Name::Lobster => return text(seed, count),
        Name::Itch => {
            out.try_reserve(count.saturating_mul(BYTES_PER_ROW))?;
            itch::write(&mut out, SYMBOL, 1, messages);
        }
        Name::Fix => {
            out.try_reserve(count.saturating_mul(4 * BYTES_PER_ROW))?;
            fix::write(&mut out, SYMBOL, messages);
        }
    }
    Ok(out)
}

/// The stream, without an end.
///
/// # Examples
///
/// ```
/// use pool_examples::generator::Generator;
///
/// let again = Generator::new(7).take(1_000);
/// assert!(Generator::new(7).take(1_000).eq(again));
/// ```
#[derive(Debug)]
pub struct Generator {
    random: SplitMix64,
    now: u64,
    /// What the stock is worth, in ticks; orders are placed around it, and it wanders.
    fair: i64,
    next_id: i64,
    bids: Levels,
    asks: Levels,
    /// Where each order rests, about oldest first; may name orders that are gone.
    placed: Vec<(Side, i64, i64)>,
    at_rest: usize,
    unseen: u64,
}

/// Ticks away from zero on the side's own axis (negative for bids), so that the best comes first;
/// at each, the orders in the order they came: id and size.
type Levels = BTreeMap<i64, VecDeque<(i64, u32)>>;

impl Generator {
    /// The stream that `seed` begins.
    #[must_use]
    pub fn new(seed: u64) -> Generator {
        Generator {
            random: SplitMix64(seed),
            now: OPENING,
            fair: FIRST_FAIR,
            next_id: FIRST_ID,
            bids: Levels::new(),
            asks: Levels::new(),
            placed: Vec::new(),
            at_rest: 0,
            unseen: BEFORE,
        }
    }

    fn levels(&mut self, side: Side) -> &mut Levels {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    fn side(&mut self) -> Side {
        if self.random.one_in(2) {
            Side::Buy
        } else {
            Side::Sell
        }
    }

    fn message(&self, kind: Kind, side: Side, id: i64, size: u32, ticks: i64) -> Message {
        Message {
            time: self.now,
            id,
            price: ticks * TICK,
            size,
            kind,
            side,
            book: 0,
        }
    }

    /// A new order: mostly near the fair price, never across the other side's best.
    fn add(&mut self) -> Message {
        let side = self.side();
        let away = match self.random.below(20) {
            0 => self.random.below(200),
            _ => u64::from(self.random.coin_flips()) + self.random.below(12),
        } as i64;
        let other = |levels: &Levels| levels.first_key_value().map(|(&key, _)| -key);
        let key = match side {
            Side::Buy => (-self.fair + 1 + away).max(other(&self.asks).map_or(i64::MIN, |k| k + 1)),
            Side::Sell => (self.fair + 1 + away).max(other(&self.bids).map_or(i64::MIN, |k| k + 1)),
        };
        let size = match self.random.below(20) {
            0 => 100 * (2 + self.random.below(9)),
            1..=9 => 100,
            _ => 1 + self.random.below(99),
        } as u32;
        let id = self.next_id;
        self.next_id += 1 + self.random.below(30) as i64;
        self.levels(side)
            .entry(key)
            .or_default()
            .push_back((id, size));
        self.placed.push((side, key, id));
        self.at_rest += 1;
        self.message(Kind::Add, side, id, size, key.abs())
    }

    /// A delete, or a partial cancel, of an order that is more likely young than old.
    fn cancel(&mut self, whole: bool) -> Option<Message> {
        loop {
            let len = self.placed.len() as u64;
            // The largest of three numbers leans towards the end, where the young are.
            let youth = (0..3).map(|_| self.random.below(len.max(1))).max()? as usize;
            let &(side, key, id) = self.placed.get(youth)?;
            let queue = self.levels(side).get(&key);
            let Some(place) = queue.and_then(|queue| queue.binary_search_by_key(&id, |o| o.0).ok())
            else {
                self.placed.swap_remove(youth); // it has traded
                continue;
            };
            let size = self.levels(side).get(&key)?[place].1;
            if !whole && size > 1 {
                let off = 1 + self.random.below(u64::from(size) - 1) as u32;
                self.levels(side).get_mut(&key)?[place].1 -= off;
                return Some(self.message(Kind::Reduce, side, id, off, key.abs()));
            }
            self.placed.swap_remove(youth);
            self.take(side, key, place);
            return Some(self.message(Kind::Remove, side, id, size, key.abs()));
        }
    }

    /// A trade with the oldest order of the best level.
    fn trade(&mut self) -> Option<Message> {
        let side = self.side();
        let (&key, queue) = self.levels(side).first_key_value()?;
        let &(id, size) = queue.front()?;
        let traded = match self.random.below(3) {
            0 => 1 + self.random.below(u64::from(size)) as u32,
            _ => size,
        };
        if traded == size {
            self.take(side, key, 0);
        } else {
            self.levels(side).get_mut(&key)?[0].1 -= traded;
        }
        Some(self.message(Kind::Execute, side, id, traded, key.abs()))
    }

    fn take(&mut self, side: Side, key: i64, place: usize) {
        let levels = self.levels(side);
        if let Some(queue) = levels.get_mut(&key) {
            queue.remove(place);
            if queue.is_empty() {
                levels.remove(&key);
            }
        }
        self.at_rest -= 1;
    }

    /// A message about an order that rested before the stream began.
    fn unseen(&mut self) -> Message {
        self.unseen -= 1;
        let side = self.side();
        let kind = if self.random.one_in(3) {
            Kind::Execute
        } else {
            Kind::Remove
        };
        let away = self.random.below(30) as i64;
        let ticks = self.fair + if side == Side::Buy { -away } else { away };
        self.message(kind, side, FIRST_ID - 1 - self.unseen as i64, 100, ticks)
    }

    fn tick(&mut self) {
        if !self.random.one_in(3) {
            let spread = 4 + self.random.below(22); // 16 ns to 67 ms
            self.now += self.random.below(1 << spread);
        }
        if self.random.one_in(50) {
            // Far below the first price it stops falling, so that prices stay above zero.
            let down = self.random.one_in(2) && self.fair > FIRST_FAIR / 2;
            self.fair += if down { -1 } else { 1 };
        }
    }
}

impl Iterator for Generator {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        self.tick();
        let few = self.at_rest < AT_REST;
        let some = match self.random.below(1_000) {
            0..340 => None,
            340..440 if few => None,
            340..730 => self.cancel(true),
            730..750 => self.cancel(false),
            750..860 => self.trade(),
            860..960 => {
                let (side, size) = (self.side(), 1 + self.random.below(200) as u32);
                Some(self.message(Kind::ExecuteHidden, side, 0, size, self.fair))
            }
            960..999 if self.random.below(BEFORE) < self.unseen => Some(self.unseen()),
            960..999 => None,
            _ if self.random.one_in(20) => {
                Some(self.message(Kind::Cross, Side::Sell, -1, 45_000, self.fair))
            }
            _ => None,
        };
        // In place of what could not happen yet, as of every message nobody asked for: an order.
        Some(some.unwrap_or_else(|| self.add()))
    }
}

/// Steele, Lea and Flood's generator: small, fast, and good enough for a made-up market.
#[derive(Debug)]
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is small enough that the bias does not matter.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Heads before the first tails.
    fn coin_flips(&mut self) -> u32 {
        self.next().leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobster::{parse, rows};

    #[test]
    fn a_shorter_stream_begins_a_longer_one() {
        let long: Vec<_> = Generator::new(1).take(5_000).collect();
        assert!(Generator::new(1).take(500).eq(long[..500].iter().copied()));
        assert!(Generator::new(2).take(500).ne(long[..500].iter().copied()));
    }

    #[test]
    fn the_text_is_the_stream() {
        let text = text(3, 2_000).unwrap();
        let parsed = rows(&text).map(|(_, row)| parse(row).unwrap());
        assert!(parsed.eq(Generator::new(3).take(2_000)));
        assert!(text.len() <= 2_000 * BYTES_PER_ROW, "{} bytes", text.len());
    }

    // Pinned: a change here changes what everyone's run of the same seed prints.
    #[test]
    fn the_numbers_are_those_of_the_published_algorithm() {
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn time_and_ids_only_grow() {
        let (mut time, mut id) = (0, 0);
        for message in Generator::new(4).take(20_000) {
            assert!(message.time >= time && message.price > 0);
            time = message.time;
            if message.kind == Kind::Add {
                assert!(message.id > id && message.size > 0);
                id = message.id;
            }
        }
    }
}
