//! Rows of a LOBSTER message file: bytes in, [`Message`] out, and back.
//!
//! A row is `time,type,order id,size,price,direction`, and in some files a seventh column that
//! names the market participant, which nothing here needs. Reading allocates nothing unless the
//! row is bad, and never panics, whatever the bytes.

use std::fmt;

use memchr::{memchr, memchr_iter};

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const MAX_DECIMALS: usize = 9;

/// What happened to an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A new limit order (type 1).
    Add = 1,
    /// Part of an order is cancelled (type 2); the size is what was taken off.
    Reduce = 2,
    /// An order is deleted whole (type 3).
    Remove = 3,
    /// A visible order trades (type 4); the size is what traded.
    Execute = 4,
    /// A hidden order trades (type 5); the book does not show it.
    ExecuteHidden = 5,
    /// An auction trades (type 6).
    Cross = 6,
    /// Trading halts or resumes (type 7). The default, as it touches nothing.
    #[default]
    Halt = 7,
    /// A new order on the side of the one removed just before, in its place. Not in LOBSTER files.
    Replace,
    /// An order gets this size, and this price unless it is 0. Not in LOBSTER files.
    Change,
}

impl Kind {
    fn from_code(code: u64) -> Option<Kind> {
        Some(match code {
            1 => Kind::Add,
            2 => Kind::Reduce,
            3 => Kind::Remove,
            4 => Kind::Execute,
            5 => Kind::ExecuteHidden,
            6 => Kind::Cross,
            7 => Kind::Halt,
            _ => return None,
        })
    }
}

/// The side of the book an order rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// Bids (direction 1).
    #[default]
    Buy,
    /// Asks (direction -1).
    Sell,
}

/// One row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Nanoseconds after midnight.
    pub time: u64,
    /// The order it speaks of: 0 for hidden orders and halts, -1 for crosses.
    pub id: i64,
    /// Dollars × 10,000. At least 1 in an [`Add`](Kind::Add).
    pub price: i64,
    /// Shares. At least 1 in an [`Add`](Kind::Add).
    ///
    /// Four bytes, so that the shares of 2³² orders still fit a `u64`: sums need no check.
    pub size: u32,
    /// What happened.
    pub kind: Kind,
    /// The side of the order (of the *resting* order, when it trades).
    pub side: Side,
    /// Which book it is about, where there are several.
    pub book: u16,
}

/// Writes the six columns, so that [`parse`] reads the same message back.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09},{},{},{},{},{}",
            self.time / NANOS_PER_SECOND,
            self.time % NANOS_PER_SECOND,
            self.kind as u8,
            self.id,
            self.size,
            self.price,
            match self.side {
                Side::Buy => "1",
                Side::Sell => "-1",
            }
        )
    }
}

/// Why a row could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// Where the field begins: bytes from the start of the row, the first being 1.
    pub column: usize,
    /// Which field it is, the first being 1; in FIX its tag, in ITCH 0.
    pub field: usize,
    /// What stands there in a good row.
    pub expected: &'static str,
    /// What stood there, fit to be printed.
    pub found: String,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RowError {
            field,
            expected,
            found,
            ..
        } = self;
        write!(f, "field {field}: expected {expected}, found {found}")
    }
}

impl std::error::Error for RowError {}

/// Reads one row, given without its line end.
///
/// # Errors
///
/// The first field that is not what it has to be.
///
/// # Examples
///
/// ```
/// use pool_examples::lobster::{Kind, parse};
///
/// let message = parse(b"34200.000743093,1,14907109,100,33585400,-1,null")?;
/// assert_eq!(message.kind, Kind::Add);
/// assert_eq!(message.time, 34_200_000_743_093);
///
/// let error = parse(b"34200.000743093,1,14907109,-5,33585400,-1").unwrap_err();
/// assert_eq!((error.field, error.column), (4, 28));
/// # Ok::<(), pool_examples::lobster::RowError>(())
/// ```
pub fn parse(row: &[u8]) -> Result<Message, RowError> {
    let mut fields = Fields {
        row,
        at: 0,
        count: 0,
    };
    let time = fields.next(
        "a time in seconds after midnight, with at most 9 decimals",
        time,
    )?;
    let kind = fields.next("a message type from 1 to 7", |digits| {
        Kind::from_code(unsigned(digits)?)
    })?;
    let id = fields.next("an order id, a whole number of 64 bits", signed)?;
    let (size, price);
    if kind == Kind::Add {
        // Only these enter the book, so only these have to make sense there.
        size = fields.next("the size of a new order, from 1 to 4294967295", |digits| {
            u32::try_from(unsigned(digits)?)
                .ok()
                .filter(|&size| size > 0)
        })?;
        price = fields.next(
            "the price of a new order, above 0 (dollars x 10000)",
            |digits| signed(digits).filter(|&price| price > 0),
        )?;
    } else {
        size = fields.next("a size from 0 to 4294967295", |digits| {
            u32::try_from(unsigned(digits)?).ok()
        })?;
        price = fields.next("a price, a whole number (dollars x 10000)", signed)?;
    }
    let side = fields.next("a direction, 1 or -1", |digits| match signed(digits)? {
        1 => Some(Side::Buy),
        -1 => Some(Side::Sell),
        _ => None,
    })?;
    fields.end()?;
    Ok(Message {
        time,
        id,
        price,
        size,
        kind,
        side,
        book: 0,
    })
}

/// The fields of a row, left to right.
struct Fields<'a> {
    row: &'a [u8],
    /// Where the field being read begins, or the comma in front of it.
    at: usize,
    /// How many were read.
    count: usize,
}

impl<'a> Fields<'a> {
    /// Reads the next field with `read`, which has to consume it up to the comma.
    #[inline]
    fn next<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(&mut &'a [u8]) -> Option<T>,
    ) -> Result<T, RowError> {
        // A field ended at a comma, which is passed, or at the end, where `read` finds nothing.
        let start = match self.count {
            0 => 0,
            _ => (self.at + 1).min(self.row.len()),
        };
        self.count += 1;
        let mut rest = &self.row[start..];
        match read(&mut rest) {
            Some(value) if matches!(rest.first(), None | Some(b',')) => {
                self.at = self.row.len() - rest.len();
                Ok(value)
            }
            _ => Err(self.bad(start, expected)),
        }
    }

    /// Lets a seventh field pass, and nothing more.
    #[inline]
    fn end(&mut self) -> Result<(), RowError> {
        let seventh = (self.at + 1).min(self.row.len());
        match self.row[seventh..].iter().position(|&byte| byte == b',') {
            None => Ok(()),
            Some(comma) => {
                self.count = 8;
                Err(self.bad(
                    seventh + comma + 1,
                    "the end of the row, after 6 or 7 fields",
                ))
            }
        }
    }

    /// The error for the field that begins at `start`.
    #[cold]
    fn bad(&self, start: usize, expected: &'static str) -> RowError {
        const SHOWN: usize = 40;
        let rest = &self.row[start..];
        let field = &rest[..memchr(b',', rest).unwrap_or(rest.len())];
        let found = match field {
            [] if rest.is_empty() && self.row.is_empty() => "an empty row".to_owned(),
            [] if rest.is_empty() => "the end of the row".to_owned(),
            [] => "an empty field".to_owned(),
            // `escape_ascii` keeps control characters and broken UTF-8 off the terminal.
            _ if field.len() <= SHOWN => format!("\"{}\"", field.escape_ascii()),
            _ => format!(
                "\"{}...\" ({} bytes)",
                field[..SHOWN].escape_ascii(),
                field.len()
            ),
        };
        RowError {
            column: start + 1,
            field: self.count,
            expected,
            found,
        }
    }
}

/// Consumes digits, at least one.
///
/// A digit at a time. Eight at a time in a word was tried and lost (135 ns a row against 76): each
/// field then waits to learn where the one before it ends, which here the processor just guesses.
#[inline]
pub(crate) fn unsigned(text: &mut &[u8]) -> Option<u64> {
    let len = text.len();
    let mut value = 0_u64;
    while let [digit @ b'0'..=b'9', rest @ ..] = *text {
        value = value
            .checked_mul(10)?
            .checked_add(u64::from(digit - b'0'))?;
        *text = rest;
    }
    (text.len() < len).then_some(value)
}

/// Consumes digits with or without a minus in front.
#[inline]
fn signed(text: &mut &[u8]) -> Option<i64> {
    match text.split_first() {
        Some((b'-', digits)) => {
            *text = digits;
            0_i64.checked_sub_unsigned(unsigned(text)?)
        }
        _ => i64::try_from(unsigned(text)?).ok(),
    }
}

/// Consumes seconds with up to nine decimals; gives nanoseconds.
#[inline]
fn time(text: &mut &[u8]) -> Option<u64> {
    const SCALE: [u64; MAX_DECIMALS + 1] = [
        1_000_000_000,
        100_000_000,
        10_000_000,
        1_000_000,
        100_000,
        10_000,
        1_000,
        100,
        10,
        1,
    ];
    let seconds = unsigned(text)?;
    let mut nanos = 0;
    if let Some((b'.', decimals)) = text.split_first() {
        *text = decimals;
        nanos = unsigned(text)?;
        nanos *= SCALE.get(decimals.len() - text.len())?;
    }
    seconds.checked_mul(NANOS_PER_SECOND)?.checked_add(nanos)
}

/// `data` without the line ends at its end: a last row may have one, several, or none.
#[must_use]
pub fn trim_end(data: &[u8]) -> &[u8] {
    let last = data.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    &data[..last.map_or(0, |last| last + 1)]
}

/// The rows of `data` and where each begins, without their line ends (`\n` or `\r\n`).
///
/// # Examples
///
/// ```
/// use pool_examples::lobster::rows;
///
/// let found: Vec<_> = rows(b"one\r\ntwo\n\nfour").collect();
/// assert_eq!(found, [(0, &b"one"[..]), (5, b"two"), (9, b""), (10, b"four")]);
/// ```
pub fn rows(data: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let ends = memchr_iter(b'\n', data);
    // What follows the last line end is a row, unless it is nothing.
    let tail = (!data.is_empty() && !data.ends_with(b"\n")).then_some(data.len());
    ends.chain(tail).scan(0, |start, end| {
        let row = &data[*start..end];
        let found = (*start, row.strip_suffix(b"\r").unwrap_or(row));
        *start = end + 1;
        Some(found)
    })
}

/// Cuts `data` into pieces of whole rows, each with the offset it begins at: as many rows as
/// reach `size` bytes, the last piece what is left.
///
/// # Panics
///
/// If `size` is 0.
///
/// # Examples
///
/// ```
/// use pool_examples::lobster::pieces;
///
/// let found: Vec<_> = pieces(b"a\nbb\nccc\nd", 4).collect();
/// assert_eq!(found, [(0, &b"a\nbb\n"[..]), (5, b"ccc\n"), (9, b"d")]);
/// ```
pub fn pieces(data: &[u8], size: usize) -> impl Iterator<Item = (usize, &[u8])> {
    assert!(size > 0, "a piece has to hold something");
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = data.get(start..).filter(|rest| !rest.is_empty())?;
        let end = piece(rest, size);
        let piece = (start, &rest[..end]);
        start += end;
        Some(piece)
    })
}

/// The bytes of the first piece of `rest`, which holds something.
pub(crate) fn piece(rest: &[u8], size: usize) -> usize {
    let near = size.min(rest.len()) - 1;
    memchr(b'\n', &rest[near..]).map_or(rest.len(), |line_end| near + line_end + 1)
}

/// The line that holds `offset`, the first being 1. Counts line ends: for error messages.
#[must_use]
pub fn line_of(data: &[u8], offset: usize) -> usize {
    1 + memchr_iter(b'\n', &data[..offset]).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "34200.5,1,7,100,33585400,-1";

    /// `GOOD` with one field (the first being 1) replaced.
    fn with(field: usize, text: &str) -> String {
        let mut fields: Vec<_> = GOOD.split(',').collect();
        fields[field - 1] = text;
        fields.join(",")
    }

    #[test]
    fn six_and_seven_columns_read_the_same() {
        let six = parse(GOOD.as_bytes()).unwrap();
        assert_eq!(
            six,
            Message {
                time: 34_200_500_000_000,
                id: 7,
                price: 33_585_400,
                size: 100,
                kind: Kind::Add,
                side: Side::Sell,
                book: 0,
            }
        );
        for seventh in ["null", "", "UBSS", "a b", "\u{fc}"] {
            assert_eq!(parse(format!("{GOOD},{seventh}").as_bytes()), Ok(six));
        }
        assert_eq!(parse(&[GOOD.as_bytes(), b",\xff\xfe"].concat()), Ok(six));
    }

    #[test]
    fn time_has_up_to_nine_decimals() {
        for (text, time) in [
            ("0", 0),
            ("34200", 34_200_000_000_000),
            ("34200.00124644", 34_200_001_246_440),
            ("34200.000000001", 34_200_000_000_001),
            ("18446744073.709551615", u64::MAX),
        ] {
            assert_eq!(
                parse(with(1, text).as_bytes()).unwrap().time,
                time,
                "{text}"
            );
        }
        for text in [
            "",
            ".",
            ".5",
            "1.",
            "1.0000000001",
            "18446744073.709551616",
            "-1",
            "1e3",
            " 1",
            "1 ",
        ] {
            let error = parse(with(1, text).as_bytes()).unwrap_err();
            assert_eq!((error.field, error.column), (1, 1), "{text}");
        }
    }

    #[test]
    fn numbers_at_their_edges() {
        let message = |field, text: &str| parse(with(field, text).as_bytes());
        assert_eq!(message(3, "-9223372036854775808").unwrap().id, i64::MIN);
        assert_eq!(message(3, "9223372036854775807").unwrap().id, i64::MAX);
        assert_eq!(message(4, "4294967295").unwrap().size, u32::MAX);
        assert_eq!(message(4, "007").unwrap().size, 7);
        assert_eq!(message(5, "9223372036854775807").unwrap().price, i64::MAX);
        let bad = [
            (2, "0"),
            (2, "8"),
            (2, "-1"),
            (2, "257"),
            (3, "9223372036854775808"),
            (3, "-9223372036854775809"),
            (3, "--1"),
            (3, "+1"),
            (3, "-"),
            (4, "-5"),
            (4, "0"),
            (4, "4294967296"),
            (4, "1.5"),
            (4, "99999999999999999999999999"),
            (5, "0"),
            (5, "-1"),
            (5, "NaN"),
            (6, "0"),
            (6, "2"),
            (6, "1\r"),
            (6, ""),
        ];
        for (field, text) in bad {
            let error = message(field, text).unwrap_err();
            assert_eq!(error.field, field, "{text}");
            let start = GOOD
                .split(',')
                .take(field - 1)
                .map(|field| field.len() + 1)
                .sum::<usize>();
            assert_eq!(error.column, start + 1, "{text}");
        }
    }

    #[test]
    fn only_what_enters_the_book_needs_a_size_and_a_price() {
        for kind in 2..=7 {
            let row = format!("34200.1,{kind},0,0,-1,-1");
            assert!(parse(row.as_bytes()).is_ok(), "{row}");
        }
    }

    #[test]
    fn an_error_says_what_stood_there() {
        let found = |row: &[u8]| parse(row).unwrap_err().to_string();
        assert_eq!(
            found(b""),
            "field 1: expected a time in seconds after midnight, with at most 9 decimals, found an \
             empty row"
        );
        assert_eq!(
            found(b"1,2"),
            "field 3: expected an order id, a whole number of 64 bits, found the end of the row"
        );
        assert_eq!(
            found(b"1,,3"),
            "field 2: expected a message type from 1 to 7, found an empty field"
        );
        assert!(found(b"time,type").ends_with("found \"time\""));
        assert!(found(b"\xff\x1b[31m,1").ends_with(r#"found "\xff\x1b[31m""#));
        assert!(found(&[b'9'; 400]).ends_with("9...\" (400 bytes)"));
        let eight = parse(format!("{GOOD},null,8").as_bytes()).unwrap_err();
        assert_eq!((eight.field, eight.column), (8, GOOD.len() + 7));
    }

    #[test]
    fn line_ends_of_every_sort() {
        let collect = |data| rows(trim_end(data)).map(|(_, row)| row).collect::<Vec<_>>();
        for data in [
            &b"a\nb"[..],
            b"a\nb\n",
            b"a\r\nb\r\n",
            b"a\nb\n\n\r\n",
            b"a\r\nb\r",
        ] {
            assert_eq!(collect(data), [b"a", b"b"], "{:?}", data.escape_ascii());
        }
        assert_eq!(collect(b"a\n\nb"), [&b"a"[..], b"", b"b"]);
        for data in [&b""[..], b"\n", b"\r\n\r\n"] {
            assert!(collect(data).is_empty());
        }
        assert_eq!(line_of(b"a\nb\nc", 0), 1);
        assert_eq!(line_of(b"a\nb\nc", 4), 3);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(row in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&row);
        }

        // Bytes a row is made of reach much deeper than any bytes.
        #[test]
        fn no_likely_bytes_panic(row in "[0-9,.\\-\r]{0,80}") {
            if let Err(error) = parse(row.as_bytes()) {
                prop_assert!(error.column <= row.len() + 1);
                prop_assert!((1..=8).contains(&error.field));
            }
        }

        #[test]
        fn what_is_written_reads_back(
            (time, id) in any::<(u64, i64)>(),
            kind in 1_u64..=7,
            (price, size) in (1..=i64::MAX, 1..=u32::MAX),
            buy in any::<bool>(),
            tail in prop_oneof![Just(""), Just(",null"), Just(",")],
        ) {
            let message = Message {
                time, id, price, size,
                kind: Kind::from_code(kind).unwrap(),
                side: if buy { Side::Buy } else { Side::Sell },
                book: 0,
            };
            prop_assert_eq!(parse(format!("{message}{tail}").as_bytes()), Ok(message));
        }

        // Whatever the sizes, pieces joined are the data, and cut only after a line end.
        #[test]
        fn pieces_lose_nothing(data in "[a\n]{0,60}", size in 1_usize..20) {
            let data = data.as_bytes();
            let pieces: Vec<_> = pieces(data, size).collect();
            let mut joined = Vec::new();
            for (offset, piece) in &pieces {
                prop_assert_eq!(*offset, joined.len());
                prop_assert!(!piece.is_empty());
                joined.extend_from_slice(piece);
                prop_assert!(joined.len() == data.len() || piece.ends_with(b"\n"));
            }
            prop_assert_eq!(&joined, data);
            let whole: Vec<_> = rows(data).collect();
            let parts: Vec<_> = pieces
                .iter()
                .flat_map(|(offset, piece)| rows(piece).map(move |(at, row)| (offset + at, row)))
                .collect();
            prop_assert_eq!(whole, parts);
        }
    }
}
