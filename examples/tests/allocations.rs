//! Once a book and its pools have grown to what the messages need, a message allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::mem;
use std::path::Path;

use pool_core::poolable::recycle;
use pool_core::{Backend, Pool};
use pool_examples::book::Book;
use pool_examples::fix::Only;
use pool_examples::format::{Format, Name};
use pool_examples::generator::{self, Generator};
use pool_examples::lobster::{Kind, Message, RowError, parse, rows};

/// The system's allocator, counting how often this thread asks it for memory.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to `System` as it came; a `Cell` of a number, without a destructor and
// made at compile time, allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above, and all memory given out is `System`'s.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

/// Applies the messages of `text`, then empties the book, so that it can be done again.
fn replay(book: &mut Book, text: &[u8], last: &[Message]) {
    for (_, row) in rows(text) {
        book.apply(&parse(row).expect("the generator writes good rows"))
            .expect("there is room");
    }
    for message in last {
        book.apply(message).expect("a delete needs no room");
    }
}

#[test]
fn a_book_that_has_grown_allocates_nothing() {
    let text = generator::text(9, 50_000).unwrap();
    let last: Vec<_> = Generator::new(9)
        .take(50_000)
        .filter(|message| message.kind == Kind::Add)
        .map(|message| Message {
            kind: Kind::Remove,
            ..message
        })
        .collect();
    for backend in Backend::ALL {
        // Bounded, since an unbounded queue allocates blocks as it goes.
        let pool = Pool::builder()
            .backend(backend)
            .capacity(10_000)
            .build()
            .unwrap();
        let mut book = Book::new(pool);
        for _ in 0..2 {
            replay(&mut book, &text, &last);
        }
        let count = allocations(|| replay(&mut book, &text, &last));
        assert_eq!(book.figures().resting, 0);
        if backend == Backend::Heap {
            assert!(count > 10_000, "the control allocates every order: {count}");
        } else {
            assert_eq!(count, 0, "{backend}");
        }
    }
}

#[test]
fn reading_allocates_nothing_in_any_format() {
    for name in [Name::Lobster, Name::Itch, Name::Fix] {
        let data = generator::file(name, 9, 5_000).unwrap();
        let format = match name {
            Name::Lobster => Format::Lobster,
            Name::Itch => Format::Itch(None),
            Name::Fix => Format::Fix(Only::new(&data, None)),
        };
        let (mut messages, mut count) = (Vec::with_capacity(2), 0);
        let allocated = allocations(|| {
            for (_, piece) in format.pieces(&data, 1_000) {
                let read = format.frames(piece, |_, frame| {
                    format.read(frame, &mut messages)?;
                    count += messages.len();
                    Ok::<(), RowError>(())
                });
                read.expect("the generator writes good messages");
            }
        });
        assert_eq!((allocated, count), (0, 5_000), "{name}");
    }
}

/// The columns of the rows of a real day, if it is there, in a buffer that borrows from each row and comes from
/// a pool.
#[test]
fn a_pooled_buffer_of_borrowed_columns_allocates_nothing() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/lobster_amzn_20000.csv");
    let Ok(day) = std::fs::read(&path) else {
        eprintln!("skipped: {} is not there", path.display());
        return;
    };
    let pool = Pool::<Vec<(u32, &'static [u8])>>::new();
    let mut row = Vec::with_capacity(1_000);
    let mut shares = 0;
    let mut read = |text: &[u8]| {
        for (_, bytes) in rows(text) {
            // As when it comes from a socket: the next one overwrites it.
            row.clear();
            row.extend_from_slice(bytes);
            let mut buffer = pool.acquire();
            let mut columns = recycle(mem::take(&mut *buffer));
            columns.extend((1..).zip(row.split(|&byte| byte == b',')));
            let (4, size) = columns[3] else {
                panic!("the fourth column is the fourth")
            };
            shares += size
                .iter()
                .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
            *buffer = recycle(columns);
        }
    };
    let first = day.iter().position(|&byte| byte == b'\n').expect("a row") + 1;
    let (first, rest) = day.split_at(first);
    read(first);
    assert_eq!(allocations(|| read(rest)), 0);
    let messages = rows(&day).map(|(_, row)| parse(row).expect("a good row"));
    assert_eq!(
        shares,
        messages.map(|message| u64::from(message.size)).sum()
    );
    assert_eq!(pool.stats().created, 1);
}
