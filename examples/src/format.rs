//! The formats that messages come in: how a file is cut into frames (a row, a FIX message, an ITCH
//! message with its length), and what [`Message`]s a frame holds.
//!
//! Called by `run`, which knows no format, and by the program for its errors.

use std::fmt;

use clap::ValueEnum;
use rustc_hash::FxHashMap;

use crate::lobster::{self, Kind, Message, RowError};
use crate::{fix, itch};

/// A format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// A LOBSTER message file
    Lobster,
    /// Nasdaq TotalView-ITCH 5.0, as published, unpacked
    Itch,
    /// FIX 4.4 market data, 35=X
    Fix,
}

impl Name {
    /// What `data` looks like.
    #[must_use]
    pub fn guess(data: &[u8]) -> Name {
        match data {
            // The length of the first message.
            [0, ..] => Name::Itch,
            [b'8', b'=', b'F', ..] => Name::Fix,
            _ => Name::Lobster,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Name::Lobster => "lobster",
            Name::Itch => "itch",
            Name::Fix => "fix",
        })
    }
}

/// A format, and which of a file's symbols is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Rows of text. A file holds one symbol.
    #[default]
    Lobster,
    /// Nasdaq's ITCH 5.0: the messages of one locate code, or of all, with a book each.
    Itch(Option<u16>),
    /// FIX 4.4 market data of one symbol.
    Fix(fix::Only),
}

impl Format {
    /// Its name.
    #[must_use]
    pub fn name(self) -> Name {
        match self {
            Format::Lobster => Name::Lobster,
            Format::Itch(_) => Name::Itch,
            Format::Fix(_) => Name::Fix,
        }
    }

    /// Cuts `data` into pieces of whole frames, each with the offset it begins at: as many frames
    /// as reach `size` bytes, the last piece what is left.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn pieces(self, data: &[u8], size: usize) -> impl Iterator<Item = (usize, &[u8])> {
        assert!(size > 0, "a piece has to hold something");
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = data.get(start..).filter(|rest| !rest.is_empty())?;
            let mut end = 0;
            while end < size.min(rest.len()) {
                end += match self {
                    Format::Lobster => lobster::piece(rest, size),
                    Format::Itch(_) => itch::frame(&rest[end..]),
                    Format::Fix(_) => fix::frame(&rest[end..]),
                };
            }
            let piece = (start, &rest[..end]);
            start += end;
            Some(piece)
        })
    }

    /// Calls `each` with the frames of `piece` and where each begins, until it gives an error.
    ///
    /// # Errors
    ///
    /// That of `each`.
    #[inline]
    pub fn frames<'a, E>(
        self,
        piece: &'a [u8],
        mut each: impl FnMut(usize, &'a [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let frame = match self {
            Format::Lobster => {
                return lobster::rows(piece).try_for_each(|(at, row)| each(at, row));
            }
            Format::Itch(_) => itch::frame,
            Format::Fix(_) => fix::frame,
        };
        let mut at = 0;
        while at < piece.len() {
            let end = at + frame(&piece[at..]);
            each(at, &piece[at..end])?;
            at = end;
        }
        Ok(())
    }

    /// Puts the messages of a frame into `messages`, in place of what is there: none, if it is
    /// about another symbol or nothing that a book needs.
    ///
    /// # Errors
    ///
    /// The first field that is not what it has to be. `messages` is then of no use.
    #[inline]
    pub fn read(self, frame: &[u8], messages: &mut Vec<Message>) -> Result<(), RowError> {
        messages.clear();
        match self {
            Format::Lobster => messages.push(lobster::parse(frame)?),
            Format::Itch(locate) => itch::read(frame, locate, messages)?,
            Format::Fix(only) => fix::read(frame, &only, messages)?,
        }
        Ok(())
    }

    /// Says where in `data` the frame is that begins at `offset`, and what is wrong with it.
    #[must_use]
    pub fn explain(self, data: &[u8], offset: usize, error: &RowError) -> String {
        let RowError {
            column,
            field,
            expected,
            found,
        } = error;
        match self {
            Format::Lobster => format!(":{}:{column}: {error}", lobster::line_of(data, offset)),
            Format::Itch(_) => {
                let byte = offset + column - 1;
                format!(": byte {byte}: expected {expected}, found {found}")
            }
            Format::Fix(_) => {
                let number = 1 + self.pieces(&data[..offset], 1).count();
                format!(
                    ": message {number} (byte {offset}): tag {field}: expected {expected}, found {found}"
                )
            }
        }
    }
}

/// The shares that each order has left: what a writer has to know and a [`Message`] does not say.
#[derive(Debug, Default)]
pub(crate) struct Resting(FxHashMap<i64, u32>);

impl Resting {
    /// The shares left of an order after a message of types 2 to 4; `None` if it is not there.
    pub(crate) fn after(&mut self, message: &Message) -> Option<u32> {
        if message.kind == Kind::Add {
            self.0.entry(message.id).or_insert(message.size);
            return None;
        }
        let left = self.0.get_mut(&message.id)?;
        *left = match message.kind {
            Kind::Remove => 0,
            Kind::Reduce | Kind::Execute => left.saturating_sub(message.size),
            _ => return None,
        };
        let left = *left;
        if left == 0 {
            self.0.remove(&message.id);
        }
        Some(left)
    }
}
