//! Numbers as people read them. Called by everyone who writes text.

/// Nanoseconds, in the unit that suits them; below 100 with a decimal.
pub(crate) fn nanos(nanos: f64) -> String {
    match nanos {
        ..99.95 => format!("{nanos:.1} ns"),
        ..999.5 => format!("{nanos:.0} ns"),
        ..9_950.0 => format!("{:.1} µs", nanos / 1e3),
        ..999_500.0 => format!("{:.0} µs", nanos / 1e3),
        ..9_950_000.0 => format!("{:.1} ms", nanos / 1e6),
        ..999_500_000.0 => format!("{:.0} ms", nanos / 1e6),
        _ => format!("{:.1} s", nanos / 1e9),
    }
}

/// Whole nanoseconds, in the unit that suits them.
pub(crate) fn ns(whole: u64) -> String {
    if whole < 1000 {
        format!("{whole} ns")
    } else {
        nanos(whole as f64)
    }
}

/// Nanoseconds beside an axis: no decimal that is 0.
pub(crate) fn round_nanos(height: f64) -> String {
    nanos(height).replace(".0 ", " ")
}

/// How often, as one says it.
pub(crate) fn times(often: u64) -> String {
    match often {
        1 => "once".to_owned(),
        often => format!("{} times", count(often)),
    }
}

/// A count with its thousands set apart.
pub(crate) fn count(count: u64) -> String {
    indicatif::HumanCount(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (number, text) in [
            (0.0, "0.0 ns"),
            (3.94, "3.9 ns"),
            (99.96, "100 ns"),
            (9_949.0, "9.9 µs"),
            (12_345.0, "12 µs"),
            (4_000_000.0, "4.0 ms"),
            (41_000_000.0, "41 ms"),
            (2_500_000_000.0, "2.5 s"),
        ] {
            assert_eq!(nanos(number), text);
        }
    }

    #[test]
    fn whole_nanoseconds_have_no_decimals() {
        assert_eq!(ns(7), "7 ns");
        assert_eq!(ns(1_763), "1.8 µs");
    }

    #[test]
    fn an_axis_has_no_needless_decimals() {
        assert_eq!(round_nanos(10.0), "10 ns");
        assert_eq!(round_nanos(1_000_000.0), "1 ms");
        assert_eq!(round_nanos(3.9), "3.9 ns");
    }

    #[test]
    fn once_is_not_1_times() {
        assert_eq!([0, 1, 1_200].map(times), ["0 times", "once", "1,200 times"]);
    }
}
