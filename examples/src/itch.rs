//! Nasdaq TotalView-ITCH 5.0, as its files are published: each message with two bytes of length in
//! front, all numbers big-endian. Bytes in, [`Message`]s out, and back.
//!
//! Reading allocates nothing unless the message is bad, and never panics, whatever the bytes.

use std::iter::Peekable;

use crate::format::Resting;
use crate::lobster::{Kind, Message, RowError, Side};

/// Every type of message, and the bytes it takes without its length.
const TYPES: [(u8, usize); 23] = [
    (b'S', 12), // system event
    (b'R', 39), // stock directory
    (b'H', 25), // trading action
    (b'Y', 20), // short sale restriction
    (b'L', 26), // market participant
    (b'V', 35), // circuit breaker levels
    (b'W', 12), // circuit breaker
    (b'K', 28), // quoting period of a new issue
    (b'J', 35), // auction collar
    (b'h', 21), // operational halt
    (b'A', 36), // add
    (b'F', 40), // add, with the participant
    (b'E', 31), // execute
    (b'C', 36), // execute at another price
    (b'X', 23), // cancel a part
    (b'D', 19), // delete
    (b'U', 35), // replace
    (b'P', 44), // trade of a hidden order
    (b'Q', 40), // cross
    (b'B', 19), // broken trade
    (b'I', 50), // imbalance
    (b'N', 20), // retail interest
    (b'O', 48), // direct listing
];

/// [`TYPES`] by type; 0 for no type.
const LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut n = 0;
    while n < TYPES.len() {
        lengths[TYPES[n].0 as usize] = TYPES[n].1 as u8;
        n += 1;
    }
    lengths
};

/// The bytes of the first frame: what its length says, or all there is.
#[inline]
pub(crate) fn frame(rest: &[u8]) -> usize {
    match rest {
        [high, low, ..] => rest.len().min(2 + be(&[*high, *low]) as usize),
        _ => rest.len(),
    }
}

/// A big-endian number.
#[inline]
fn be(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn bad(at: usize, expected: &'static str, found: String) -> RowError {
    RowError {
        column: at + 1,
        field: 0,
        expected,
        found,
    }
}

/// The message of a frame, without its length and of the length that its type has; nothing for the
/// length 0 that ends a session.
#[inline]
fn message(frame: &[u8]) -> Result<&[u8], RowError> {
    let length = match frame {
        [0, 0] => return Ok(&[]),
        [high, low, ..] => be(&[*high, *low]) as usize,
        _ => return Err(cut(frame, "the two bytes of a length", 2)),
    };
    match frame[2..].first() {
        Some(&kind) if usize::from(LENGTHS[usize::from(kind)]) == length => {
            if frame.len() < 2 + length {
                let expected = "as many bytes as the length says";
                return Err(cut(frame, expected, 2 + length));
            }
            Ok(&frame[2..])
        }
        None => Err(cut(frame, "the type of a message", 3)),
        Some(&kind) => Err(unlike(kind, length)),
    }
}

#[cold]
fn cut(frame: &[u8], expected: &'static str, whole: usize) -> RowError {
    let found = format!(
        "the end after {} of {whole} bytes: the file is cut short",
        frame.len()
    );
    bad(0, expected, found)
}

#[cold]
fn unlike(kind: u8, length: usize) -> RowError {
    let name = kind.escape_ascii();
    match LENGTHS[usize::from(kind)] {
        0 => bad(
            2,
            "a message type of ITCH 5.0",
            format!("'{name}' (length {length})"),
        ),
        right => bad(
            0,
            "the length of the message type behind it",
            format!("{length}, where '{name}' has {right}"),
        ),
    }
}

#[inline]
pub(crate) fn read(
    frame: &[u8],
    locate: Option<u16>,
    messages: &mut Vec<Message>,
) -> Result<(), RowError> {
    let bytes = message(frame)?;
    let Some(&code) = bytes.first() else {
        return Ok(());
    };
    let stock = be(&bytes[1..3]) as u16;
    if locate.is_some_and(|locate| locate != stock) {
        return Ok(());
    }
    let number = |from: usize, length: usize| be(&bytes[from..from + length]);
    let mut message = Message {
        time: number(5, 6),
        id: number(11, if bytes.len() < 19 { 0 } else { 8 }).cast_signed(),
        // One symbol has one book.
        book: if locate.is_some() { 0 } else { stock },
        ..Message::default()
    };
    let shares = |from: usize| match number(from, 4) as u32 {
        0 => Err(bad(
            2 + from,
            "the size of a new order, from 1",
            "0".to_owned(),
        )),
        shares => Ok(shares),
    };
    match code {
        b'A' | b'F' | b'P' => {
            message.side = match bytes[19] {
                b'B' => Side::Buy,
                b'S' => Side::Sell,
                other => {
                    let found = format!("'{}'", other.escape_ascii());
                    return Err(bad(2 + 19, "a side, 'B' or 'S'", found));
                }
            };
            message.price = number(32, 4).cast_signed();
            if code == b'P' {
                message.kind = Kind::ExecuteHidden;
                message.size = number(20, 4) as u32;
            } else {
                message.kind = Kind::Add;
                message.size = shares(20)?;
            }
        }
        b'E' | b'C' | b'X' => {
            message.kind = match code {
                b'X' => Kind::Reduce,
                _ => Kind::Execute,
            };
            message.size = number(19, 4) as u32;
        }
        b'D' => message.kind = Kind::Remove,
        b'U' => {
            message.kind = Kind::Remove;
            messages.push(message);
            message.kind = Kind::Replace;
            message.id = number(19, 8).cast_signed();
            message.size = shares(27)?;
            message.price = number(31, 4).cast_signed();
        }
        b'Q' => {
            message.kind = Kind::Cross;
            message.size = number(11, 8).try_into().unwrap_or(u32::MAX);
            message.price = number(27, 4).cast_signed();
            message.id = -1;
        }
        b'H' => message.id = 0,
        _ => return Ok(()),
    }
    messages.push(message);
    Ok(())
}

/// The locate code of a symbol, from the stock directory; or some symbols that it does name.
///
/// # Errors
///
/// When no message of type R before the first bad one names it.
pub fn locate(data: &[u8], symbol: &str) -> Result<u16, Vec<String>> {
    let mut named = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let (first, behind) = rest.split_at(frame(rest));
        rest = behind;
        match message(first) {
            Ok(bytes @ [b'R', ..]) => {
                let name = bytes[11..19].trim_ascii_end();
                if name == symbol.as_bytes() {
                    return Ok(be(&bytes[1..3]) as u16);
                }
                named.push(name.escape_ascii().to_string());
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Err(named)
}

/// Writes `messages` about a symbol, as a file of its own: [`read`](crate::format::Format::read) gives
/// the same messages. A delete before a new order of the same side becomes a replace.
///
/// # Panics
///
/// If a price or the symbol does not fit the format, or a message has no place in it.
pub fn write(
    out: &mut Vec<u8>,
    symbol: &str,
    locate: u16,
    messages: impl Iterator<Item = Message>,
) {
    let stock = format!("{symbol:8}");
    assert_eq!(stock.len(), 8, "a symbol has at most 8 bytes");
    let mut write = |code: u8, time: u64, fields: &[&[u8]]| {
        let length = usize::from(LENGTHS[usize::from(code)]);
        let end = out.len() + 2 + length;
        out.extend((length as u16).to_be_bytes());
        out.push(code);
        out.extend(locate.to_be_bytes());
        out.extend([0, 0]); // tracking number
        out.extend(&time.to_be_bytes()[2..]);
        for field in fields {
            out.extend(*field);
        }
        out.resize(end, 0); // what no book needs
    };
    let stock = stock.as_bytes();
    write(b'S', 0, &[b"O"]);
    write(b'R', 0, &[stock, b"QN", &100_u32.to_be_bytes(), b"N"]);
    let mut resting = Resting::default();
    let mut messages = messages.peekable();
    while let Some(message) = messages.next() {
        let known = resting.after(&message).is_some();
        let id = message.id.to_be_bytes();
        let size = message.size.to_be_bytes();
        let price = || {
            u32::try_from(message.price)
                .expect("a price fits 4 bytes")
                .to_be_bytes()
        };
        let side: &[u8] = match message.side {
            Side::Buy => b"B",
            Side::Sell => b"S",
        };
        let time = message.time;
        match message.kind {
            Kind::Add => write(b'A', time, &[&id, side, &size, stock, &price()]),
            Kind::Reduce => write(b'X', time, &[&id, &size]),
            Kind::Execute => write(b'E', time, &[&id, &size]),
            Kind::Remove => match replacement(&message, known, &mut messages) {
                Some(new) => {
                    resting.after(&new);
                    let price = u32::try_from(new.price).expect("a price fits 4 bytes");
                    let (to, size) = (new.id.to_be_bytes(), new.size.to_be_bytes());
                    write(b'U', new.time, &[&id, &to, &size, &price.to_be_bytes()]);
                }
                None => write(b'D', time, &[&id]),
            },
            Kind::ExecuteHidden => write(b'P', time, &[&id, side, &size, stock, &price()]),
            Kind::Cross => {
                let shares = u64::from(message.size).to_be_bytes();
                write(b'Q', time, &[&shares, stock, &price(), &[0; 8], b"O"]);
            }
            Kind::Halt => write(b'H', time, &[stock, b"H"]),
            Kind::Replace | Kind::Change => panic!("a message without a side, or from FIX"),
        }
    }
    write(b'S', 0, &[b"C"]);
}

/// The new order that comes right behind the delete of a known one, if it has its side.
fn replacement(
    message: &Message,
    known: bool,
    messages: &mut Peekable<impl Iterator<Item = Message>>,
) -> Option<Message> {
    messages.next_if(|next| known && next.kind == Kind::Add && next.side == message.side)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // By the specification, not by `write`.
    #[test]
    fn an_add_is_read_byte_by_byte() {
        let mut bytes = vec![0, 36, b'A', 0x12, 0x34, 0, 7, 0, 0, 0, 0, 1, 2];
        bytes.extend([0, 0, 0, 0, 0, 0, 1, 0, b'S', 0, 0, 0, 100]);
        bytes.extend(b"AMZN    \x02\x00\x79\x78");
        let expected = Message {
            time: 258,
            id: 256,
            price: 33_585_528,
            size: 100,
            kind: Kind::Add,
            side: Side::Sell,
            book: 0x1234,
        };
        let read_all = |locate| {
            let mut messages = Vec::new();
            read(&bytes, locate, &mut messages).map(|()| messages)
        };
        assert_eq!(read_all(None), Ok(vec![expected]));
        let alone = Message {
            book: 0,
            ..expected
        };
        assert_eq!(read_all(Some(0x1234)), Ok(vec![alone]));
        assert_eq!(read_all(Some(1)), Ok(vec![]));
        bytes[2 + 19] = b'X';
        let error = read(&bytes, None, &mut Vec::new()).unwrap_err();
        assert_eq!((error.column, error.found.as_str()), (22, "'X'"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            kind in prop::sample::select(TYPES.to_vec()),
            bytes in prop::collection::vec(any::<u8>(), 60),
            length in 0..60_usize,
        ) {
            let mut messages = Vec::new();
            let _ = read(&bytes[..length], None, &mut messages);
            let likely = [&[0, kind.1 as u8, kind.0], &bytes[..kind.1 - 1]].concat();
            let _ = read(&likely[..length.min(likely.len())], None, &mut messages);
            let _ = read(&likely, None, &mut messages);
            let _ = locate(&bytes, "X");
        }
    }
}
