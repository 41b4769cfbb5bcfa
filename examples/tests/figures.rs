//! The figures of whole runs: every backend, on one thread and on several, must give the same, and
//! on a real day those that an independent program found.

use std::path::{Path, PathBuf};

use pool_core::Backend;
use pool_examples::book::{Figures, Top};
use pool_examples::format::Format;
use pool_examples::generator;
use pool_examples::lobster::{Kind, Message, line_of, parse, rows, trim_end};
use pool_examples::run::{Config, Outcome, RunError, run};
use pool_examples::{fix, itch};

/// A plain run on the backend.
fn config(backend: Backend) -> Config {
    Config {
        format: Format::Lobster,
        backend,
        batch_size: None,
        capacity: None,
        feeds: 0,
        skip_bad: false,
        timed: false,
    }
}

/// Runs on every backend, with 0, 1 and 3 feed threads.
fn configs() -> impl Iterator<Item = Config> {
    Backend::ALL.into_iter().flat_map(|backend| {
        [0, 1, 3].map(|feeds| Config {
            feeds,
            ..config(backend)
        })
    })
}

fn outcome(config: &Config, data: &[u8]) -> Result<Outcome, RunError> {
    let mut done = 0;
    let outcome = run(config, data, &mut |bytes| done += bytes)?;
    assert_eq!(done, data.len(), "all of the progress is told: {config:?}");
    Ok(outcome)
}

fn figures(config: &Config, data: &[u8]) -> Figures {
    outcome(config, data)
        .unwrap_or_else(|error| panic!("{config:?}: {error}"))
        .figures
}

/// At rest, with the orders still in the book, a pool's counts must add up.
fn assert_counts_add_up(config: &Config, outcome: &Outcome) {
    for (name, stats) in &outcome.pools {
        assert_eq!(
            stats.created - stats.destroyed,
            stats.idle + stats.in_use,
            "{name}: {config:?}: {stats:?}"
        );
        let in_use = if *name == "orders" {
            outcome.figures.resting
        } else {
            0
        };
        assert_eq!(
            u64::try_from(stats.in_use),
            Ok(in_use),
            "{name}: {config:?}: {stats:?}"
        );
    }
}

/// The first 20,000 messages of a stock on a day, if they are there.
fn real_day() -> Option<Vec<u8>> {
    let path: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/lobster_amzn_20000.csv");
    let data = std::fs::read(&path).ok();
    if data.is_none() {
        eprintln!("skipped: {} is not there", path.display());
    }
    data
}

#[test]
fn a_real_day_gives_the_published_figures() {
    let Some(data) = real_day() else { return };
    for capacity in [None, Some(355)] {
        for config in configs() {
            let config = Config { capacity, ..config };
            let outcome = outcome(&config, &data).unwrap_or_else(|e| panic!("{config:?}: {e}"));
            let f = outcome.figures;
            assert_eq!(
                (f.rows, f.added, f.reduced, f.removed),
                (20_000, 7_902, 3, 6_157)
            );
            assert_eq!((f.executed, f.hidden, f.other), (1_958, 2_090, 1));
            assert_eq!((f.unknown, f.duplicate), (1_889, 0));
            assert_eq!((f.resting, f.peak_resting), (354, 355));
            let top = Top {
                best_bid: 33_896_300,
                bid_size: 100,
                best_ask: 33_640_000,
                ask_size: 3,
            };
            assert_eq!(f.top, top);
            assert_eq!((f.bid_shares, f.bid_levels), (9_741, 175));
            assert_eq!((f.ask_shares, f.ask_levels), (5_505, 112));
            assert_eq!(f.top_of_book_fnv1a, 0xb4f6_b962_9aee_30da, "{config:?}");
            assert_counts_add_up(&config, &outcome);
        }
    }
}

#[test]
fn a_real_day_does_not_fit_one_order_less_than_its_peak() {
    let Some(data) = real_day() else { return };
    for config in configs() {
        let config = Config {
            capacity: Some(354),
            ..config
        };
        let error = run(&config, &data, &mut |_| {}).unwrap_err();
        assert!(matches!(error, RunError::Full), "{config:?}: {error}");
    }
}

/// The figures with what FIX does not tell apart put together: what takes shares off an order, and what
/// leaves the book alone.
fn told_by_fix(figures: &Figures) -> Figures {
    Figures {
        removed: figures.reduced + figures.removed + figures.executed,
        hidden: figures.hidden + figures.other,
        reduced: 0,
        executed: 0,
        other: 0,
        ..*figures
    }
}

/// Asserts that a LOBSTER file written in the other formats gives the same book.
fn assert_every_format_agrees(data: &[u8]) {
    let expected = figures(&config(Backend::Heap), data);
    let messages: Vec<_> = rows(trim_end(data))
        .map(|(_, row)| parse(row).unwrap())
        .collect();
    let mut day = Vec::new();
    itch::write(&mut day, "AB", 7, messages.iter().copied());
    assert_eq!(itch::locate(&day, "AB"), Ok(7));
    for locate in [None, Some(7)] {
        let format = Format::Itch(locate);
        for config in configs() {
            let config = Config { format, ..config };
            assert_eq!(figures(&config, &day), expected, "{config:?}");
        }
    }
    let mut session = Vec::new();
    fix::write(&mut session, "AB", messages.iter().copied());
    let format = Format::Fix(fix::Only::new(&session, None));
    for config in configs() {
        let config = Config { format, ..config };
        let figures = figures(&config, &session);
        assert_eq!(told_by_fix(&figures), told_by_fix(&expected), "{config:?}");
    }
}

#[test]
fn a_real_day_is_the_same_in_every_format() {
    let Some(data) = real_day() else { return };
    assert_every_format_agrees(&data);
}

#[test]
fn a_made_up_day_is_the_same_in_every_format() {
    assert_every_format_agrees(&generator::text(15, 20_000).unwrap());
}

#[test]
fn a_symbol_is_read_alone_or_beside_the_others() {
    let stream = |seed, offset| {
        generator::Generator::new(seed)
            .take(5_000)
            .map(move |message| Message {
                id: message.id + offset,
                ..message
            })
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    itch::write(&mut a, "A", 1, stream(1, 0));
    itch::write(&mut b, "B", 2, stream(2, 1 << 40));
    let of = |data: &[u8], locate| {
        let format = Format::Itch(locate);
        figures(
            &Config {
                format,
                ..config(Backend::Batched)
            },
            data,
        )
    };
    let both = [&a[..], &b].concat();
    let (alone_a, alone_b) = (of(&a, None), of(&b, None));
    assert_eq!(of(&both, itch::locate(&both, "A").ok()), alone_a);
    assert_eq!(of(&both, itch::locate(&both, "B").ok()), alone_b);
    assert_eq!(itch::locate(&both, "C"), Err(vec!["A".into(), "B".into()]));
    let together = of(&both, None);
    assert_eq!(together.rows, 10_000);
    assert_eq!(together.resting, alone_a.resting + alone_b.resting);
    assert_eq!(together.bid_levels, alone_a.bid_levels + alone_b.bid_levels);
    assert_eq!(together.top, alone_b.top);
}

#[test]
fn a_replace_keeps_the_side_and_needs_an_order() {
    let message = |kind, id, size, price| Message {
        kind,
        id,
        size,
        price,
        side: pool_examples::lobster::Side::Sell,
        ..Message::default()
    };
    let messages = [
        message(Kind::Add, 1, 10, 500),
        message(Kind::Remove, 1, 0, 0),
        message(Kind::Add, 2, 7, 600),
        message(Kind::Remove, 3, 0, 0),
        message(Kind::Add, 4, 1, 700),
    ];
    let mut day = Vec::new();
    itch::write(&mut day, "A", 1, messages.into_iter());
    // The first pair is one message of type U, the second is not: order 3 has no side.
    let replaces = day.windows(3).filter(|w| *w == [0, 35, b'U']).count();
    assert_eq!(replaces, 1);
    let u = day.windows(3).position(|w| *w == [0, 35, b'U']).unwrap();
    let format = Format::Itch(None);
    let config = Config {
        format,
        ..config(Backend::Queue)
    };
    let found = figures(&config, &day);
    assert_eq!((found.resting, found.ask_shares, found.unknown), (2, 8, 1));
    day[u + 2 + 18] = 9; // of an order that is not there
    let found = figures(&config, &day);
    assert_eq!((found.resting, found.ask_shares, found.unknown), (2, 11, 3));
}

#[test]
fn a_made_up_day_is_the_same_on_every_backend_and_any_number_of_threads() {
    let data = generator::text(11, 60_000).unwrap();
    let expected = figures(&config(Backend::Heap), &data);
    assert_eq!(expected.rows, 60_000);
    assert!(expected.unknown > 0 && expected.other > 0 && expected.resting > 1_000);
    for config in configs() {
        let outcome = outcome(&config, &data).unwrap();
        assert_eq!(outcome.figures, expected, "{config:?}");
        assert_counts_add_up(&config, &outcome);
    }
}

// What is pinned is the stream and the book at once: neither changes without anyone noticing.
#[test]
fn a_made_up_day_is_the_same_for_ever() {
    let data = generator::text(1, 20_000).unwrap();
    let figures = figures(&config(Backend::Heap), &data);
    assert_eq!(
        figures.top_of_book_fnv1a, 0x237e_5d12_6534_2dc2,
        "{figures:?}"
    );
}

#[test]
fn a_bound_is_exact_with_any_batch_size() {
    let data = generator::text(12, 30_000).unwrap();
    let unbounded = figures(&config(Backend::Heap), &data);
    let peak = usize::try_from(unbounded.peak_resting).unwrap();
    for feeds in [0, 2] {
        for batch_size in [1, 2, 7, 64, 1_000] {
            let exact = Config {
                batch_size: Some(batch_size),
                capacity: Some(peak),
                feeds,
                ..config(Backend::Batched)
            };
            assert_eq!(figures(&exact, &data), unbounded, "{exact:?}");
            let short = Config {
                capacity: Some(peak - 1),
                ..exact
            };
            let error = run(&short, &data, &mut |_| {}).unwrap_err();
            assert!(matches!(error, RunError::Full), "{short:?}: {error}");
        }
    }
}

#[test]
fn measuring_changes_nothing_but_the_latency() {
    let data = generator::text(13, 5_000).unwrap();
    for config in configs() {
        let timed = outcome(
            &Config {
                timed: true,
                ..config
            },
            &data,
        )
        .unwrap();
        assert_eq!(timed.figures, figures(&config, &data));
        assert_eq!(timed.latency.map(|latency| latency.len()), Some(5_000));
    }
}

/// The text of a day with rows 1,500 and 2,500 (the first being 1) spoilt.
fn spoilt_day() -> (Vec<u8>, Vec<u8>) {
    let good = String::from_utf8(generator::text(14, 3_000).unwrap()).unwrap();
    let spoilt = good.lines().enumerate().map(|(at, row)| match at + 1 {
        1_500 => format!("{row},null,one too many\n"),
        2_500 => "\n".to_owned(),
        _ => format!("{row}\n"),
    });
    let rest = good
        .lines()
        .enumerate()
        .filter(|(at, _)| ![1_500, 2_500].contains(&(at + 1)));
    (
        spoilt.collect::<String>().into_bytes(),
        rest.map(|(_, row)| format!("{row}\n"))
            .collect::<String>()
            .into_bytes(),
    )
}

#[test]
fn the_first_bad_row_of_the_file_is_the_one_reported() {
    let (data, _) = spoilt_day();
    for config in configs() {
        let error = run(&config, &data, &mut |_| {}).unwrap_err();
        let RunError::BadRow { offset, error } = error else {
            panic!("{config:?}: {error}")
        };
        assert_eq!(line_of(&data, offset), 1_500, "{config:?}");
        assert_eq!(error.field, 8);
    }
}

#[test]
fn skipping_bad_rows_gives_the_figures_of_the_good_ones() {
    let (data, rest) = spoilt_day();
    let expected = figures(&config(Backend::Heap), &rest);
    for config in configs() {
        let outcome = outcome(
            &Config {
                skip_bad: true,
                ..config
            },
            &data,
        )
        .unwrap();
        assert_eq!(outcome.figures, expected, "{config:?}");
        assert_eq!(outcome.skipped, 2);
        assert_counts_add_up(&config, &outcome);
    }
}

#[test]
fn nothing_at_all_is_an_empty_book() {
    for config in configs() {
        let figures = figures(&config, b"");
        assert_eq!((figures.rows, figures.peak_resting), (0, 0), "{config:?}");
    }
}

#[test]
fn a_batch_size_needs_a_backend_with_batches() {
    let config = Config {
        batch_size: Some(8),
        ..config(Backend::Queue)
    };
    let error = run(&config, b"", &mut |_| {}).unwrap_err();
    assert!(matches!(error, RunError::Build(_)), "{error}");
}
