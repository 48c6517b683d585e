//! Bars and amounts in text.

/// Parts of a column, from one eighth to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar as long as `value` is of `max`, where `max` is `width` columns long.
pub(crate) fn bar(value: u64, max: u64, width: usize) -> String {
    let eighths = u128::from(value.min(max)) * width as u128 * 8 / u128::from(max.max(1));
    // Something is never drawn as nothing.
    let eighths = if value > 0 { eighths.max(1) } else { 0 } as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).and_then(|part| EIGHTHS.get(part)));
    bar
}

/// `part` of `whole` in percent, as text.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    format!("{}%", quotient(part.saturating_mul(100), whole))
}

/// One number by another with one digit behind the point; by zero it is 0.0.
pub(crate) fn quotient(dividend: u64, divisor: u64) -> String {
    let tenths = u128::from(dividend) * 10 / u128::from(divisor.max(1));
    let tenths = if divisor == 0 { 0 } else { tenths };
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A number of bytes with a unit that keeps it short.
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
    fn the_greatest_value_fills_the_width() {
        assert_eq!(bar(7, 7, 3), "███");
        assert_eq!(bar(9, 7, 3), "███");
    }

    #[test]
    fn parts_of_a_column_are_eighths() {
        assert_eq!(bar(3, 8, 1), "▍");
        assert_eq!(bar(12, 16, 2), "█▌");
    }

    #[test]
    fn something_is_never_drawn_as_nothing() {
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(0, 10, 10), "");
        assert_eq!(bar(0, 0, 10), "");
    }

    #[test]
    fn huge_values_do_not_overflow() {
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }

    #[test]
    fn nothing_of_nothing_is_no_percent() {
        assert_eq!([percent(0, 0), percent(1, 3), percent(3, 3)], ["0.0%", "33.3%", "100.0%"]);
    }

    #[test]
    fn bytes_change_their_unit() {
        assert_eq!([bytes(512), bytes(10_240), bytes(20 << 20)], ["512 B", "10.0 KiB", "20.0 MiB"]);
    }
}
