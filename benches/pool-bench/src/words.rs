//! Numbers as people read them. Called by every module that writes text.

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

/// Nanoseconds without a decimal that is 0: whole ones, and those beside an axis.
pub(crate) fn round_nanos(height: f64) -> String {
    nanos(height).replace(".0 ", " ")
}

/// Whole nanoseconds, in the unit that suits them.
pub(crate) fn ns(whole: u64) -> String {
    round_nanos(whole as f64)
}

/// How often something happened.
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
        let numbers = [0.0, 3.94, 99.96, 9_949.0, 12_345.0, 4e6, 41e6, 2.5e9];
        let texts = [
            "0.0 ns", "3.9 ns", "100 ns", "9.9 µs", "12 µs", "4.0 ms", "41 ms", "2.5 s",
        ];
        assert_eq!(numbers.map(nanos), texts);
        assert_eq!([7, 1_763, 1_000_000].map(ns), ["7 ns", "1.8 µs", "1 ms"]);
        assert_eq!([0, 1, 1_200].map(times), ["0 times", "once", "1,200 times"]);
    }
}
