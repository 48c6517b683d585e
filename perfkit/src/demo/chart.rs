//! Bars, shares and sizes as text.

/// Parts of a column: one to seven eighths.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Returns a bar for `value`, on a scale where `max` is `width` columns.
pub(crate) fn bar(value: u64, max: u64, width: usize) -> String {
    let eighths = u128::from(value.min(max)) * width as u128 * 8 / u128::from(max.max(1));
    // A value above 0 is never invisible.
    let eighths = if value > 0 { eighths.max(1) } else { 0 } as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).and_then(|part| EIGHTHS.get(part)));
    bar
}

/// Returns `part` of `whole` in percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    format!("{}%", quotient(part.saturating_mul(100), whole))
}

/// Returns the quotient rounded to one digit after the point; 0.0 if `divisor` is 0.
pub(crate) fn quotient(dividend: u64, divisor: u64) -> String {
    let half = u128::from(divisor / 2);
    let tenths = (u128::from(dividend) * 10 + half).checked_div(u128::from(divisor)).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Returns a number of bytes with its unit: B, KiB or MiB.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..10_240 => format!("{count} B"),
        10_240..10_485_760 => format!("{} KiB", quotient(count, 1 << 10)),
        _ => format!("{} MiB", quotient(count, 1 << 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximum_fills_the_width() {
        assert_eq!(bar(7, 7, 3), "███");
        assert_eq!(bar(9, 7, 3), "███");
    }

    #[test]
    fn parts_of_a_column_are_drawn_in_eighths() {
        assert_eq!(bar(3, 8, 1), "▍");
        assert_eq!(bar(12, 16, 2), "█▌");
    }

    #[test]
    fn value_above_0_is_never_invisible() {
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(0, 10, 10), "");
        assert_eq!(bar(0, 0, 10), "");
    }

    #[test]
    fn largest_values_do_not_overflow() {
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }

    #[test]
    fn percent_of_0_is_0() {
        assert_eq!([percent(0, 0), percent(1, 3), percent(3, 3)], ["0.0%", "33.3%", "100.0%"]);
    }

    #[test]
    fn shares_are_rounded() {
        assert_eq!([percent(460, 1234), percent(774, 1234), percent(2, 3)], ["37.3%", "62.7%", "66.7%"]);
        assert_eq!(quotient(u64::MAX, u64::MAX), "1.0");
    }

    #[test]
    fn size_selects_the_unit() {
        assert_eq!([bytes(512), bytes(10_240), bytes(20 << 20)], ["512 B", "10.0 KiB", "20.0 MiB"]);
    }
}
