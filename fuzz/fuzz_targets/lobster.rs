//! The parser of the order book example, on any bytes: it never panics, reads every byte once, and
//! points at a byte of the row when it refuses one.
#![no_main]

// It has more than this target needs.
#[allow(dead_code)]
#[path = "../../examples/src/lobster.rs"]
mod lobster;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (size, data) = input;
    let mut end = 0;
    for (start, row) in lobster::rows(data) {
        assert_eq!(start, end);
        end += row.len();
        end += data[end..]
            .iter()
            .take_while(|byte| **byte == b'\r')
            .count()
            .min(1);
        end += usize::from(data.get(end) == Some(&b'\n'));
        if let Err(error) = lobster::parse(row) {
            assert!(
                error.column >= 1 && error.column <= row.len() + 1,
                "{error}"
            );
        }
        assert!(lobster::line_of(data, start) >= 1);
    }
    assert_eq!(end, data.len());
    let pieces: Vec<_> = lobster::pieces(data, 1 + usize::from(size)).collect();
    let all: Vec<u8> = pieces
        .iter()
        .flat_map(|(_, piece)| piece.to_vec())
        .collect();
    assert_eq!(all, data);
    assert!(data.starts_with(lobster::trim_end(data)));
});
