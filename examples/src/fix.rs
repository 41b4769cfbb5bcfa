//! FIX 4.4 market data: incremental refreshes (35=X) of a book by order, `279` new, change or delete of
//! the order that `278` names. Bytes in, [`Message`]s out, and back.
//!
//! BeginString, BodyLength and CheckSum are checked. A trade (269=2) is news that leaves the book alone;
//! a status (35=f) counts as a halt; other messages and entries pass. A line end may stand between
//! messages. Reading allocates nothing unless the message is bad, and never panics, whatever the bytes.

use std::io::Write as _;
use std::ops::Range;

use memchr::{memchr, memmem};

use crate::format::Resting;
use crate::lobster::{Kind, Message, RowError, Side, unsigned};

const SOH: u8 = 1;
const BEGIN: &[u8] = b"8=FIX.4.4\x01";
/// `10=`, three digits and the end of the field.
const TRAILER: usize = 7;

/// The symbol that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Only {
    /// Its first bytes, and zeros.
    symbol: [u8; 32],
    /// Whether someone chose it: then others are passed over. It is an error otherwise.
    chosen: bool,
}

impl Only {
    /// The symbol chosen; or, by default, that of the first message that has one.
    #[must_use]
    pub fn new(data: &[u8], chosen: Option<&str>) -> Only {
        let first = || {
            let start = memmem::find(data, b"\x0155=")? + 4;
            let length = memchr(SOH, &data[start..])?;
            Some(&data[start..start + length])
        };
        let name = chosen.map_or_else(|| first().unwrap_or_default(), str::as_bytes);
        let mut symbol = [0; 32];
        let length = name.len().min(symbol.len());
        symbol[..length].copy_from_slice(&name[..length]);
        Only {
            symbol,
            chosen: chosen.is_some(),
        }
    }

    fn is(&self, name: &[u8]) -> bool {
        let (symbol, rest) = self.symbol.split_at(name.len().min(self.symbol.len()));
        symbol == &name[..symbol.len()] && rest.first().is_none_or(|&byte| byte == 0)
    }
}

/// The bytes of the first message, and of the line end behind it; if it is broken, of all that comes
/// before the next.
#[inline]
pub(crate) fn frame(rest: &[u8]) -> usize {
    let Ok(body) = body(rest) else {
        let next = memmem::find(&rest[1..], b"8=FIX");
        return next.map_or(rest.len(), |next| 1 + next);
    };
    let end = body.end + TRAILER;
    match rest[end..] {
        [b'\r', b'\n', ..] => end + 2,
        [b'\n', ..] => end + 1,
        _ => end,
    }
}

#[cold]
fn bad(tag: u32, expected: &'static str, found: &[u8]) -> RowError {
    let found = match found {
        [] => "nothing".to_owned(),
        _ => format!("\"{}\"", found[..found.len().min(40)].escape_ascii()),
    };
    RowError {
        column: 1,
        field: tag as usize,
        expected,
        found,
    }
}

/// Where the body of a message is, which BodyLength counts.
#[inline]
fn body(message: &[u8]) -> Result<Range<usize>, RowError> {
    if !message.starts_with(BEGIN) {
        let begin = &message[..message.len().min(BEGIN.len())];
        return Err(match message.starts_with(b"8=FIX.4.4|") {
            true => bad(
                8,
                "SOH (byte 1) behind each field; tr '|' '\\001' makes it so",
                b"|",
            ),
            false => bad(8, "8=FIX.4.4, which begins a message", begin),
        });
    }
    let length = &message[BEGIN.len()..];
    let digits = length.strip_prefix(b"9=").and_then(|mut rest| {
        let value = unsigned(&mut rest)?;
        (rest.first() == Some(&SOH)).then(|| (usize::try_from(value).ok(), rest.len() - 1))
    });
    let Some((Some(length), rest)) = digits else {
        let expected = "9= and the length of the body, as the second field";
        return Err(bad(9, expected, &length[..length.len().min(20)]));
    };
    let start = message.len() - rest;
    let end = start.saturating_add(length);
    match message.get(end..end.saturating_add(TRAILER)) {
        Some([b'1', b'0', b'=', .., SOH]) if message[end - 1] == SOH => Ok(start..end),
        Some(found) => Err(bad(
            9,
            "a BodyLength that ends in front of 10=, the checksum",
            found,
        )),
        None => Err(RowError {
            found: format!("{rest} bytes up to the next message or the end: cut short?"),
            ..bad(9, "as many bytes as BodyLength says, and a checksum", &[])
        }),
    }
}

/// Takes the next field off `fields`.
#[inline]
fn next<'a>(fields: &mut &'a [u8]) -> Result<Option<(u32, &'a [u8])>, RowError> {
    let mut rest = *fields;
    if rest.is_empty() {
        return Ok(None);
    }
    let tag = unsigned(&mut rest).and_then(|tag| u32::try_from(tag).ok());
    if let (Some(tag), Some((b'=', value))) = (tag, rest.split_first())
        && let Some(end) = memchr(SOH, value)
    {
        *fields = &value[end + 1..];
        return Ok(Some((tag, &value[..end])));
    }
    let tag = tag.unwrap_or_default();
    Err(bad(tag, "a tag, =, a value and SOH (byte 1)", fields))
}

/// A whole number, and nothing behind it.
#[inline]
fn whole(mut value: &[u8]) -> Option<u64> {
    unsigned(&mut value).filter(|_| value.is_empty())
}

/// A price with up to four decimals that count, times 10,000.
#[inline]
fn price(mut value: &[u8]) -> Option<i64> {
    let mut price = unsigned(&mut value)?;
    let decimals = match value.split_first() {
        None => &[],
        Some((b'.', decimals)) => decimals,
        Some(_) => return None,
    };
    for at in 0..decimals.len().max(4) {
        let digit = match decimals.get(at) {
            None => 0,
            Some(digit @ b'0'..=b'9') => u64::from(digit - b'0'),
            Some(_) => return None,
        };
        match (at, digit) {
            (4.., 0) => {}
            (4.., _) => return None,
            _ => price = price.checked_mul(10)?.checked_add(digit)?,
        }
    }
    i64::try_from(price).ok()
}

/// What an entry of a refresh says.
#[derive(Default)]
struct Entry<'a> {
    action: u64,
    /// 0 for a bid, 1 for an offer, 2 for a trade.
    kind: Option<&'a [u8]>,
    id: Option<i64>,
    price: Option<i64>,
    size: Option<u32>,
}

impl Entry<'_> {
    fn message(&self) -> Result<Option<Message>, RowError> {
        let missing = |tag, expected| bad(tag, expected, &[]);
        let side = match self.kind {
            Some(b"0") => Side::Buy,
            Some(b"1") => Side::Sell,
            // A change or a delete may leave it out: the order knows.
            None if self.action > 0 => Side::Buy,
            None => return Err(missing(269, "the type of a new entry")),
            Some(b"2") if self.action == 0 => {
                return Ok(Some(Message {
                    kind: Kind::ExecuteHidden,
                    price: self.price.unwrap_or_default(),
                    size: self.size.unwrap_or_default(),
                    ..Message::default()
                }));
            }
            Some(_) => return Ok(None),
        };
        let id = self.id.ok_or_else(|| missing(278, "the id of the order"))?;
        let (kind, size) = match (self.action, self.size) {
            (2, size) => (Kind::Remove, size.unwrap_or_default()),
            (1, Some(0)) => (Kind::Remove, 0),
            (1, Some(size)) => (Kind::Change, size),
            (_, Some(size)) if size > 0 => (Kind::Add, size),
            _ => return Err(missing(271, "the size of the order, above 0 if it is new")),
        };
        let price = match self.price {
            Some(price) if price > 0 => price,
            _ if kind == Kind::Add => {
                return Err(missing(270, "the price of a new order, above 0"));
            }
            price => price.unwrap_or_default(),
        };
        Ok(Some(Message {
            id,
            price,
            size,
            kind,
            side,
            ..Message::default()
        }))
    }
}

#[inline]
pub(crate) fn read(frame: &[u8], only: &Only, messages: &mut Vec<Message>) -> Result<(), RowError> {
    let body = body(frame)?;
    let (start, end) = (body.start, body.end);
    let sum = frame[..end]
        .iter()
        .fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    let told = &frame[end + 3..end + 6];
    if whole(told) != Some(u64::from(sum)) {
        return Err(RowError {
            found: format!(
                "{}, where the bytes add up to {sum:03}: damaged?",
                bad(10, "", told).found
            ),
            ..bad(10, "the checksum of the message", told)
        });
    }
    let mut fields = &frame[start..end];
    match next(&mut fields)? {
        Some((35, b"X")) => {}
        Some((35, b"f")) => {
            messages.push(Message::default());
            return Ok(());
        }
        Some((35, _)) => return Ok(()),
        Some((tag, _)) => {
            let found = tag.to_string();
            return Err(bad(35, "35=, as the third field", found.as_bytes()));
        }
        None => return Err(bad(35, "35=, as the third field", &[])),
    }
    let mut entries = None;
    let mut entry: Option<Entry<'_>> = None;
    let (mut ours, mut count) = (None, 0);
    let mut finish = |entry: Option<Entry<'_>>, ours: Option<bool>| {
        let Some(entry) = entry else { return Ok(()) };
        if ours.is_none() && entry.action == 0 {
            return Err(bad(55, "the symbol of a new entry", &[]));
        }
        if ours != Some(false) {
            messages.extend(entry.message()?);
        }
        Ok(())
    };
    while let Some((tag, value)) = next(&mut fields)? {
        if tag == 279 {
            finish(entry.take(), ours)?;
            count += 1;
            let action = whole(value).filter(|&action| action <= 2);
            let action =
                action.ok_or_else(|| bad(279, "0 (new), 1 (change) or 2 (delete)", value))?;
            entry = Some(Entry {
                action,
                ..Entry::default()
            });
            continue;
        }
        if tag == 268 {
            entries = Some(whole(value).ok_or_else(|| bad(268, "the number of entries", value))?);
            continue;
        }
        let Some(entry) = &mut entry else { continue };
        match tag {
            269 => entry.kind = Some(value),
            278 => {
                // A trade may have a name of any sort.
                let id = whole(value).and_then(|id| i64::try_from(id).ok());
                if id.is_none() && entry.kind != Some(b"2") {
                    return Err(bad(278, "an order id, a whole number below 2^63", value));
                }
                entry.id = id;
            }
            55 => {
                ours = Some(only.is(value));
                if ours == Some(false) && !only.chosen {
                    let expected =
                        "the symbol of the first message; --symbol chooses one of several";
                    return Err(bad(55, expected, value));
                }
            }
            270 => {
                let price = price(value);
                let expected = "a price with at most 4 decimals";
                entry.price = Some(price.ok_or_else(|| bad(270, expected, value))?);
            }
            271 => {
                let size = whole(value).and_then(|size| u32::try_from(size).ok());
                let expected = "a size, a whole number up to 4294967295";
                entry.size = Some(size.ok_or_else(|| bad(271, expected, value))?);
            }
            _ => {}
        }
    }
    finish(entry, ours)?;
    match entries {
        Some(entries) if entries == count => Ok(()),
        Some(entries) => Err(RowError {
            found: format!("{entries}, where {count} begin with 279="),
            ..bad(268, "the number of entries", &[])
        }),
        None => Err(bad(268, "the number of entries", &[])),
    }
}

/// Writes `messages` about a symbol, each as a message of its own. A trade becomes a change of what it
/// leaves of the order, or a delete.
///
/// # Panics
///
/// If a message has no place in the format.
pub fn write(out: &mut Vec<u8>, symbol: &str, messages: impl Iterator<Item = Message>) {
    let mut resting = Resting::default();
    let mut body = Vec::new();
    for (number, message) in (1_u64..).zip(messages) {
        let left = resting.after(&message);
        let Message {
            id, size, price, ..
        } = message;
        let side = u8::from(message.side == Side::Sell);
        let seconds = message.time / 1_000_000_000;
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let millis = message.time / 1_000_000 % 1_000;
        let refresh = message.kind != Kind::Halt;
        body.clear();
        let mut put = |text: std::fmt::Arguments<'_>| {
            body.write_fmt(text)
                .expect("a Vec takes whatever is written");
            body.push(SOH);
        };
        put(format_args!("35={}", if refresh { 'X' } else { 'f' }));
        put(format_args!("49=MARKET\x0156=BOOK\x0134={number}"));
        put(format_args!(
            "52=20260105-{hour:02}:{minute:02}:{second:02}.{millis:03}"
        ));
        let price = format_args!("270={}.{:04}", price / 10_000, price % 10_000);
        let entry =
            |action: u8| format!("268=1\x01279={action}\x01269={side}\x01278={id}\x0155={symbol}");
        match (message.kind, left) {
            (Kind::Add, _) => put(format_args!("{}\x01{price}\x01271={size}", entry(0))),
            (Kind::Remove, _) | (_, Some(0)) => put(format_args!("{}", entry(2))),
            (Kind::Reduce | Kind::Execute, left) => {
                put(format_args!("{}\x01271={}", entry(1), left.unwrap_or(size)));
            }
            (Kind::ExecuteHidden | Kind::Cross, _) => put(format_args!(
                "268=1\x01279=0\x01269=2\x0155={symbol}\x01{price}\x01271={size}"
            )),
            (Kind::Halt, _) => put(format_args!("55={symbol}\x01326=2")),
            (Kind::Replace | Kind::Change, _) => panic!("a message from another format"),
        }
        let start = out.len();
        out.extend(BEGIN);
        write!(out, "9={}\x01", body.len()).expect("a Vec takes whatever is written");
        out.extend(&body);
        let sum = out[start..]
            .iter()
            .fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        write!(out, "10={sum:03}\x01").expect("a Vec takes whatever is written");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A message with this behind its type, length and sum put right.
    fn message(body: &str) -> Vec<u8> {
        let body = body.replace('|', "\x01");
        let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let sum = text.bytes().fold(0_u8, u8::wrapping_add);
        format!("{text}10={sum:03}\x01").into_bytes()
    }

    fn found(body: &str, symbol: Option<&str>) -> Result<Vec<Message>, RowError> {
        let (frame, mut messages) = (message(body), Vec::new());
        read(&frame, &Only::new(&frame, symbol), &mut messages).map(|()| messages)
    }

    #[test]
    fn a_refresh_may_hold_several_entries() {
        let body = "35=X|34=7|268=4|279=0|269=1|278=5|55=AB|270=12.5|271=100|279=2|278=9|\
                    279=1|269=0|278=8|271=7|279=0|269=2|278=T-1|55=AB|270=1|271=3|";
        let add = Message {
            id: 5,
            price: 125_000,
            size: 100,
            kind: Kind::Add,
            side: Side::Sell,
            ..Message::default()
        };
        let messages = found(body, None).unwrap();
        assert_eq!(messages[0], add);
        let kinds: Vec<_> = messages.iter().map(|m| (m.kind, m.id, m.size)).collect();
        let rest = [
            (Kind::Remove, 9, 0),
            (Kind::Change, 8, 7),
            (Kind::ExecuteHidden, 0, 3),
        ];
        assert_eq!(kinds[1..], rest);
        assert_eq!(found(body, Some("A")), Ok(vec![]));
        assert_eq!(found(body, Some("AB")).map(|m| m.len()), Ok(4));
    }

    #[test]
    fn a_bad_field_is_named() {
        let good = "35=X|268=1|279=0|269=1|278=5|55=AB|270=12.5|271=100|";
        assert!(found(good, None).is_ok());
        for (was, is, tag) in [
            ("35=X", "34=X", 35),
            ("268=1|", "", 268),
            ("268=1", "268=2", 268),
            ("279=0", "279=5", 279),
            ("269=1|", "", 269),
            ("278=5", "278=A7", 278),
            ("278=5|", "", 278),
            ("55=AB|", "", 55),
            ("270=12.5", "270=12.00005", 270),
            ("270=12.5", "270=-1", 270),
            ("270=12.5", "270=0", 270),
            ("271=100", "271=0", 271),
            ("271=100", "271=4294967296", 271),
            ("271=100|", "271|", 271),
        ] {
            let error = found(&good.replace(was, is), None).unwrap_err();
            assert_eq!(error.field, tag, "{is}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in "[0-9=|\\.X\n]{0,60}", at in 0..70_usize, byte in any::<u8>()) {
            let mut good = message(&format!("35=X|268=1|279=0|{bytes}"));
            let only = Only::new(&good, None);
            let _ = read(&good, &only, &mut Vec::new());
            let at = at % good.len();
            good[at] = byte;
            for data in [&good[..], &good[..at], bytes.as_bytes()] {
                let _ = read(data, &only, &mut Vec::new());
                prop_assert!(data.is_empty() || (1..=data.len()).contains(&frame(data)));
            }
        }
    }
}
