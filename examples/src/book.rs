//! The order book: resting orders by id, shares by price, and the figures of a run.
//!
//! An [`Order`] lives in a pool, or in another [`Store`], and comes back to it when it leaves the book.
//! Once the map of ids and the lists of levels have grown to what the messages need, [`Book::apply`] allocates nothing,
//! unless the pool does.

use std::collections::hash_map::Entry;

use pool_core::{AcquireError, Pool, Poolable};
use rustc_hash::FxHashMap;

use crate::lobster::{Kind, Message, Side};
use crate::store::Store;

/// An order at rest. Its id is the book's key to it.
#[derive(Debug, Poolable)]
pub struct Order {
    price: i64,
    /// Shares left, never 0 in the book.
    size: u32,
    #[poolable(default)]
    side: Side,
    book: u16,
}

/// What a run counted, and what its book holds at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Messages applied.
    pub rows: u64,
    /// New orders (type 1).
    pub added: u64,
    /// Partial cancels and changes of orders in the book (type 2).
    pub reduced: u64,
    /// Deletes of orders in the book (type 3).
    pub removed: u64,
    /// Trades of orders in the book (type 4).
    pub executed: u64,
    /// Trades of hidden orders (type 5).
    pub hidden: u64,
    /// Crosses and halts (types 6 and 7).
    pub other: u64,
    /// Messages of types 2 to 4, changes and replaces of an order that is not in the book.
    pub unknown: u64,
    /// New orders with the id of one in the book, which stays as it is.
    pub duplicate: u64,
    /// Orders in the book.
    pub resting: u64,
    /// The most orders in the book at once.
    pub peak_resting: u64,
    /// The best of both sides of the book that the last message was about.
    pub top: Top,
    /// Shares bid for.
    pub bid_shares: u64,
    /// Shares asked for.
    pub ask_shares: u64,
    /// Prices bid.
    pub bid_levels: u64,
    /// Prices asked.
    pub ask_levels: u64,
    /// FNV-1a 64 over [`Top`] after every message.
    pub top_of_book_fnv1a: u64,
}

/// The best of both sides; 0 where a side is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// The highest price bid.
    pub best_bid: i64,
    /// Shares at that price.
    pub bid_size: u64,
    /// The lowest price asked.
    pub best_ask: i64,
    /// Shares at that price.
    pub ask_size: u64,
}

/// The book; of several symbols, one each, with ids that all share.
#[derive(Debug)]
pub struct Book<S: Store<Order> = Pool<Order>> {
    store: S,
    orders: FxHashMap<i64, S::Handle>,
    /// Bids and asks, by [`Message::book`].
    books: Vec<[Levels; 2]>,
    /// The book that the last message was about.
    current: usize,
    /// The side of the order that a message removed last.
    removed: Option<Side>,
    hash: Fnv1a,
    /// Kept up to date by [`apply`](Self::apply): the counts and the peak.
    counts: Figures,
}

impl<S: Store<Order>> Book<S> {
    /// An empty book whose orders live in `store`.
    #[must_use]
    pub fn new(store: S) -> Book<S> {
        Book {
            store,
            orders: FxHashMap::default(),
            books: vec![Default::default()],
            current: 0,
            removed: None,
            hash: Fnv1a::default(),
            counts: Figures::default(),
        }
    }

    /// Brings the book to where `message` says it is.
    ///
    /// # Errors
    ///
    /// When the store has no room for one more order. The book is then as it was.
    pub fn apply(&mut self, message: &Message) -> Result<(), AcquireError> {
        let book = usize::from(message.book);
        if book >= self.books.len() {
            self.books.resize_with(book + 1, Default::default);
        }
        match message.kind {
            Kind::Add => self.add(message, message.side)?,
            Kind::Reduce => {
                let known = self.take(message.id, message.size).is_some();
                count(known, &mut self.counts.reduced, &mut self.counts.unknown);
            }
            Kind::Remove => {
                self.removed = self.take(message.id, u32::MAX);
                count(
                    self.removed.is_some(),
                    &mut self.counts.removed,
                    &mut self.counts.unknown,
                );
            }
            Kind::Execute => {
                let known = self.take(message.id, message.size).is_some();
                count(known, &mut self.counts.executed, &mut self.counts.unknown);
            }
            Kind::Replace => match self.removed {
                Some(side) => self.add(message, side)?,
                None => self.counts.unknown += 1,
            },
            Kind::Change => {
                let known = self.change(message);
                count(known, &mut self.counts.reduced, &mut self.counts.unknown);
            }
            Kind::ExecuteHidden => self.counts.hidden += 1,
            Kind::Cross | Kind::Halt => self.counts.other += 1,
        }
        self.counts.rows += 1;
        self.current = book;
        self.hash.top(&self.top());
        Ok(())
    }

    /// Puts a new order into the book, unless its id is in there.
    fn add(
        &mut self,
        &Message {
            id,
            price,
            size,
            book,
            ..
        }: &Message,
        side: Side,
    ) -> Result<(), AcquireError> {
        let Entry::Vacant(place) = self.orders.entry(id) else {
            self.counts.duplicate += 1;
            return Ok(());
        };
        place.insert(self.store.put(Order {
            price,
            size,
            side,
            book,
        })?);
        levels(&mut self.books, book, side).add(rank(side, price), size);
        self.counts.added += 1;
        self.counts.peak_resting = self.counts.peak_resting.max(self.orders.len() as u64);
        Ok(())
    }

    /// Takes up to `shares` off an order, and the order off the book once it has none; gives its
    /// side, if it is there.
    fn take(&mut self, id: i64, shares: u32) -> Option<Side> {
        let Entry::Occupied(mut place) = self.orders.entry(id) else {
            return None;
        };
        let order = self.store.get(place.get_mut());
        let (side, price, book) = (order.side, order.price, order.book);
        let taken = shares.min(order.size);
        order.size -= taken;
        if order.size == 0 {
            self.store.take(place.remove());
        }
        levels(&mut self.books, book, side).take(rank(side, price), taken);
        Some(side)
    }

    /// Gives an order another size, and another price if there is one; `false` if it is not there.
    fn change(&mut self, message: &Message) -> bool {
        let Some(handle) = self.orders.get_mut(&message.id) else {
            return false;
        };
        let order = self.store.get(handle);
        let levels = levels(&mut self.books, order.book, order.side);
        levels.take(rank(order.side, order.price), order.size);
        order.size = message.size;
        if message.price != 0 {
            order.price = message.price;
        }
        levels.add(rank(order.side, order.price), order.size);
        true
    }

    /// The best of both sides, of the book that the last message was about.
    #[must_use]
    pub fn top(&self) -> Top {
        let [bids, asks] = &self.books[self.current];
        let (bid, ask) = (bids.best(), asks.best());
        Top {
            best_bid: rank(Side::Buy, bid.rank),
            bid_size: bid.shares,
            best_ask: rank(Side::Sell, ask.rank),
            ask_size: ask.shares,
        }
    }

    /// What was counted so far, and what the book holds now.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let sum = |side: usize, of: fn(&Levels) -> u64| -> u64 {
            self.books.iter().map(|book| of(&book[side])).sum()
        };
        let count = |levels: &Levels| levels.0.len() as u64;
        Figures {
            resting: self.orders.len() as u64,
            top: self.top(),
            bid_shares: sum(0, Levels::shares),
            ask_shares: sum(1, Levels::shares),
            bid_levels: sum(0, count),
            ask_levels: sum(1, count),
            top_of_book_fnv1a: self.hash.0,
            ..self.counts
        }
    }
}

fn levels(books: &mut [[Levels; 2]], book: u16, side: Side) -> &mut Levels {
    &mut books[usize::from(book)][usize::from(side == Side::Sell)]
}

fn count(known: bool, counter: &mut u64, unknown: &mut u64) {
    *if known { counter } else { unknown } += 1;
}

/// A price on its side's own axis, where higher is better; and back again.
fn rank(side: Side, price: i64) -> i64 {
    match side {
        Side::Buy => price,
        Side::Sell => -price,
    }
}

/// The shares at one price.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    rank: i64,
    /// Never 0 in [`Levels`].
    shares: u64,
}

/// One side's levels, the best last: most messages touch the best few, so what a level that comes
/// or goes has to move is short and in cache.
///
/// The price of that is a far level in a very deep book, where all the better ones move. A few
/// thousand levels, many for a stock, move in less than a microsecond.
#[derive(Debug, Default)]
struct Levels(Vec<Level>);

impl Levels {
    fn find(&self, rank: i64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&rank, |level| level.rank)
    }

    fn add(&mut self, rank: i64, shares: u32) {
        let shares = u64::from(shares);
        match self.find(rank) {
            Ok(at) => self.0[at].shares += shares,
            Err(at) => self.0.insert(at, Level { rank, shares }),
        }
    }

    fn take(&mut self, rank: i64, shares: u32) {
        let at = self
            .find(rank)
            .expect("every order in the book has its level");
        self.0[at].shares -= u64::from(shares);
        if self.0[at].shares == 0 {
            self.0.remove(at);
        }
    }

    /// The best level; zeros if there is none.
    fn best(&self) -> Level {
        self.0.last().copied().unwrap_or_default()
    }

    fn shares(&self) -> u64 {
        self.0.iter().map(|level| level.shares).sum()
    }
}

/// Fowler, Noll and Vo's hash, 1a, of 64 bits.
#[derive(Debug)]
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

/// `POWERS[n]` is the prime to the power of `n`: what `n` bytes of zero come to in one step.
const POWERS: [u64; 9] = {
    let mut powers = [1_u64; 9];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = powers[n - 1].wrapping_mul(0x0000_0100_0000_01b3);
        n += 1;
    }
    powers
};

impl Fnv1a {
    /// Feeds the four numbers, each as eight bytes, the lowest first.
    fn top(&mut self, top: &Top) {
        self.number::<4>(top.best_bid.cast_unsigned());
        self.number::<2>(top.bid_size);
        self.number::<4>(top.best_ask.cast_unsigned());
        self.number::<2>(top.ask_size);
    }

    /// Feeds one number; faster if it fits the low `BYTES`, as nearly all do.
    ///
    /// A byte costs a multiplication that waits for the one before: the slowest thing that is done
    /// for every message, were the zeros of the high bytes not taken together.
    #[inline]
    fn number<const BYTES: usize>(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        if number >> (8 * BYTES) == 0 {
            self.bytes(&bytes[..BYTES]);
            self.0 = self.0.wrapping_mul(POWERS[8 - BYTES]);
        } else {
            self.bytes(&bytes);
        }
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(POWERS[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use pool_core::Backend;
    use proptest::prelude::*;

    use super::*;

    fn book() -> Book {
        Book::new(Pool::builder().backend(Backend::Heap).build().unwrap())
    }

    fn message(kind: Kind, id: i64, side: Side, size: u32, price: i64) -> Message {
        Message {
            time: 0,
            id,
            price,
            size,
            kind,
            side,
            book: 0,
        }
    }

    fn applied(messages: &[Message]) -> Figures {
        let mut book = book();
        for message in messages {
            book.apply(message).unwrap();
        }
        book.figures()
    }

    use Kind::{Add, Change, Cross, Execute, ExecuteHidden, Halt, Reduce, Remove, Replace};
    use Side::{Buy, Sell};

    #[test]
    fn an_empty_book_is_all_zeros() {
        let figures = applied(&[]);
        let fresh = Figures {
            top_of_book_fnv1a: 0xcbf2_9ce4_8422_2325,
            ..Figures::default()
        };
        assert_eq!(figures, fresh);
    }

    #[test]
    fn the_best_are_the_highest_bid_and_the_lowest_ask() {
        let figures = applied(&[
            message(Add, 1, Buy, 10, 100),
            message(Add, 2, Buy, 20, 300),
            message(Add, 3, Buy, 30, 200),
            message(Add, 4, Buy, 5, 300),
            message(Add, 5, Sell, 40, 500),
            message(Add, 6, Sell, 50, 400),
        ]);
        let top = Top {
            best_bid: 300,
            bid_size: 25,
            best_ask: 400,
            ask_size: 50,
        };
        assert_eq!(figures.top, top);
        assert_eq!((figures.bid_shares, figures.bid_levels), (65, 3));
        assert_eq!((figures.ask_shares, figures.ask_levels), (90, 2));
    }

    #[test]
    fn an_order_leaves_with_its_last_share() {
        let mut messages = vec![
            message(Add, 1, Buy, 10, 100),
            message(Reduce, 1, Buy, 4, 100),
            message(Execute, 1, Buy, 5, 100),
        ];
        let figures = applied(&messages);
        assert_eq!((figures.resting, figures.bid_shares), (1, 1));
        // More than is left counts as all of it, be it cancelled or traded.
        for kind in [Reduce, Execute] {
            messages.push(message(kind, 1, Buy, 2, 100));
            let figures = applied(&messages);
            assert_eq!(
                (figures.resting, figures.bid_levels, figures.unknown),
                (0, 0, 0)
            );
            messages.pop();
        }
        messages.push(message(Remove, 1, Buy, 0, 100));
        messages.push(message(Execute, 1, Buy, 1, 100));
        let figures = applied(&messages);
        let counts = (
            figures.reduced,
            figures.executed,
            figures.removed,
            figures.unknown,
        );
        assert_eq!(counts, (1, 1, 1, 1));
        assert_eq!((figures.resting, figures.peak_resting), (0, 1));
    }

    #[test]
    fn the_order_knows_its_price_and_side_better_than_the_message() {
        let figures = applied(&[
            message(Add, 1, Buy, 10, 100),
            message(Add, 2, Sell, 10, 100),
            message(Execute, 1, Sell, 10, 999),
        ]);
        assert_eq!((figures.bid_levels, figures.ask_shares), (0, 10));
    }

    #[test]
    fn a_duplicate_changes_nothing_and_an_id_may_come_back() {
        let figures = applied(&[
            message(Add, 1, Buy, 10, 100),
            message(Add, 1, Sell, 99, 900),
            message(Remove, 1, Buy, 10, 100),
            message(Add, 1, Sell, 7, 200),
        ]);
        assert_eq!(
            (figures.added, figures.duplicate, figures.resting),
            (2, 1, 1)
        );
        assert_eq!((figures.bid_levels, figures.ask_shares), (0, 7));
    }

    #[test]
    fn hidden_trades_crosses_and_halts_leave_the_book_alone() {
        let figures = applied(&[
            message(Add, 0, Buy, 10, 100),
            message(ExecuteHidden, 0, Buy, 10, 100),
            message(Cross, 0, Sell, 10, 100),
            message(Halt, 0, Sell, 0, -1),
        ]);
        assert_eq!((figures.hidden, figures.other, figures.resting), (1, 2, 1));
        assert_eq!(figures.rows, 4);
    }

    #[test]
    fn a_full_pool_is_an_error_and_the_book_stays_as_it_was() {
        let pool = Pool::builder()
            .backend(Backend::Mutex)
            .capacity(1)
            .build()
            .unwrap();
        let mut book = Book::new(pool);
        book.apply(&message(Add, 1, Buy, 10, 100)).unwrap();
        let before = book.figures();
        assert!(book.apply(&message(Add, 2, Buy, 10, 100)).is_err());
        assert_eq!(book.figures(), before);
        // A duplicate needs no order, so it is counted even now; and room comes back.
        book.apply(&message(Add, 1, Buy, 10, 100)).unwrap();
        book.apply(&message(Remove, 1, Buy, 10, 100)).unwrap();
        book.apply(&message(Add, 2, Buy, 10, 100)).unwrap();
    }

    #[test]
    fn orders_are_back_in_the_pool_when_the_book_is_gone() {
        let pool = Pool::builder().backend(Backend::Queue).build().unwrap();
        let mut book = Book::new(pool.clone());
        for id in 0..10 {
            book.apply(&message(Add, id, Sell, 1, 100 + id)).unwrap();
        }
        assert_eq!(pool.stats().in_use, 10);
        drop(book);
        assert_eq!(pool.stats().in_use, 0);
    }

    // The published test vectors, and the shortcut against the definition.
    #[test]
    fn the_hash_is_fnv_1a() {
        let hash = |bytes: &[u8]| {
            let mut hash = Fnv1a::default();
            hash.bytes(bytes);
            hash.0
        };
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
        for number in [0, 1, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, u64::MAX] {
            let (mut narrow, mut wide) = (Fnv1a::default(), Fnv1a::default());
            narrow.number::<2>(number);
            wide.number::<4>(number);
            let whole = hash(&number.to_le_bytes());
            assert_eq!((narrow.0, wide.0), (whole, whole), "{number:x}");
        }
    }

    /// The same book, written to be obvious.
    #[derive(Default)]
    struct Oracle {
        orders: HashMap<i64, (Side, i64, u32)>,
        duplicate: u64,
        unknown: u64,
    }

    impl Oracle {
        fn apply(&mut self, message: &Message) {
            let Message {
                id,
                price,
                size,
                side,
                kind,
                ..
            } = *message;
            match kind {
                Add if self.orders.contains_key(&id) => self.duplicate += 1,
                Add => drop(self.orders.insert(id, (side, price, size))),
                Reduce | Remove | Execute => match self.orders.get_mut(&id) {
                    None => self.unknown += 1,
                    Some(order) if kind != Remove && order.2 > size => order.2 -= size,
                    Some(_) => drop(self.orders.remove(&id)),
                },
                Change => match self.orders.get_mut(&id) {
                    None => self.unknown += 1,
                    Some(order) => *order = (order.0, price, size),
                },
                Replace => unreachable!("not among these messages"),
                ExecuteHidden | Cross | Halt => {}
            }
        }

        fn levels(&self, side: Side) -> BTreeMap<i64, u64> {
            let mut levels = BTreeMap::new();
            for &(_, price, size) in self.orders.values().filter(|order| order.0 == side) {
                *levels.entry(price).or_default() += u64::from(size);
            }
            levels
        }

        fn top(&self) -> Top {
            let (bids, asks) = (self.levels(Buy), self.levels(Sell));
            let (best_bid, bid_size) = bids.last_key_value().map_or((0, 0), |(&p, &s)| (p, s));
            let (best_ask, ask_size) = asks.first_key_value().map_or((0, 0), |(&p, &s)| (p, s));
            Top {
                best_bid,
                bid_size,
                best_ask,
                ask_size,
            }
        }
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let kind = prop::sample::select(vec![
            Add,
            Add,
            Add,
            Add,
            Reduce,
            Remove,
            Execute,
            Change,
            ExecuteHidden,
            Cross,
            Halt,
        ]);
        let size = prop_oneof![9 => 1..200_u32, 1 => Just(u32::MAX)];
        let price = prop_oneof![9 => 1..20_i64, 1 => Just(i64::MAX)];
        (kind, 0..30_i64, any::<bool>(), size, price).prop_map(|(kind, id, buy, size, price)| {
            message(kind, id, if buy { Buy } else { Sell }, size, price)
        })
    }

    proptest! {
        #[test]
        fn any_messages_give_the_oracle_s_book(
            messages in prop::collection::vec(any_message(), 0..200),
        ) {
            let (mut book, mut oracle) = (book(), Oracle::default());
            let mut hash = Fnv1a::default();
            for message in &messages {
                book.apply(message).unwrap();
                oracle.apply(message);
                let top = oracle.top();
                prop_assert_eq!(book.top(), top);
                for number in [top.best_bid as u64, top.bid_size, top.best_ask as u64, top.ask_size] {
                    hash.bytes(&number.to_le_bytes());
                }
            }
            let figures = book.figures();
            let (bids, asks) = (oracle.levels(Buy), oracle.levels(Sell));
            prop_assert_eq!(figures.resting, oracle.orders.len() as u64);
            prop_assert_eq!(figures.duplicate, oracle.duplicate);
            prop_assert_eq!(figures.unknown, oracle.unknown);
            prop_assert_eq!(figures.bid_levels, bids.len() as u64);
            prop_assert_eq!(figures.ask_levels, asks.len() as u64);
            prop_assert_eq!(figures.bid_shares, bids.values().sum::<u64>());
            prop_assert_eq!(figures.ask_shares, asks.values().sum::<u64>());
            prop_assert_eq!(figures.top_of_book_fnv1a, hash.0);
        }
    }
}
