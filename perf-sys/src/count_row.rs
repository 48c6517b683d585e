use core::fmt::{self, Write};

use perf_decode::Scaled;

use crate::Count;

/// How wide the columns of a table of counts are, in characters; 0 of everything is a line of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns {
    value: usize,
    label: usize,
    id: usize,
    lost: usize,
}

impl Columns {
    /// Wide enough for every one of `counts`.
    pub(crate) fn fit(counts: impl Iterator<Item = Count>) -> Self {
        counts.fold(Self::default(), |columns, count| Self {
            value: columns.value.max(width(&Value(count.scaled()))),
            label: columns.label.max(width(&count.label)),
            id: columns.id.max(width(&count.id.unwrap_or(0))),
            lost: columns.lost.max(width(&count.lost.unwrap_or(0))),
        })
    }
}

/// Writes a count as one line without its end.
pub(crate) fn write_row(f: &mut impl Write, count: &Count, columns: &Columns) -> fmt::Result {
    let value = Value(count.scaled());
    write!(f, "{:left$}{value}  {}", "", count.label, left = columns.value.saturating_sub(width(&value)))?;
    let has_times = count.time_enabled.is_some() && count.time_running.is_some();
    if has_times || count.id.is_some() || count.lost.is_some() {
        write!(f, "{:right$}", "", right = columns.label.saturating_sub(width(&count.label)))?;
    }
    match count.coverage() {
        Some(coverage) => write!(f, "  ran {:5.1} %", coverage * 100.0)?,
        None if has_times => write!(f, "  ran {:>5} %", '-')?,
        None => {}
    }
    if let Some(id) = count.id {
        write!(f, "  id {id:>width$}", width = columns.id)?;
    }
    if let Some(lost) = count.lost {
        write!(f, "  lost {lost:>width$}", width = columns.lost)?;
    }
    Ok(())
}

/// A value and how sure it is.
struct Value(Scaled);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Scaled::Exact(value) | Scaled::Unscaled(value) => write!(f, "{value}"),
            Scaled::Estimate(value) => write!(f, "~{value}"),
            Scaled::NeverRan => f.write_char('-'),
        }
    }
}

/// Characters of what `text` prints: a `String` would be an allocation for each.
fn width(text: &impl fmt::Display) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.chars().count(); // a label may be more than ASCII
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting does not fail; a wrong width would only be ugly.
    let _ = write!(counter, "{text}");
    counter.0
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Hardware};

    use super::*;
    use crate::Label;

    #[test]
    fn columns_are_as_wide_as_their_widest() {
        let cycles = Count {
            label: Label::of(&Attr::hardware(Hardware::CPU_CYCLES)),
            value: 1_000,
            time_enabled: Some(80),
            time_running: Some(40),
            id: Some(9),
            lost: Some(0),
        };
        let label = Label::of(&Attr::hardware(Hardware::INSTRUCTIONS));
        let instructions = Count { label, value: 7, time_running: Some(80), id: Some(10), ..cycles };
        let columns = Columns::fit([cycles, instructions].into_iter());
        let mut text = String::new();
        write_row(&mut text, &cycles, &columns).unwrap();
        text.push('\n');
        write_row(&mut text, &instructions, &columns).unwrap();
        assert_eq!(
            text,
            "~2000  CPU_CYCLES    ran  50.0 %  id  9  lost 0\n    7  INSTRUCTIONS  ran 100.0 %  id 10  lost 0"
        );
    }

    #[test]
    fn a_label_of_ones_own_has_its_place_in_the_column() {
        let of = |label, value| Count {
            label,
            value,
            time_enabled: None,
            time_running: None,
            id: None,
            lost: Some(0),
        };
        let counts = [of(Label::named("µops:all"), 10), of(Label::of(&Attr::tracepoint(0x1a3)), 7)];
        let columns = Columns::fit(counts.into_iter());
        let lines = counts.map(|count| {
            let mut text = String::new();
            write_row(&mut text, &count, &columns).unwrap();
            text
        });
        assert_eq!(lines, ["10  µops:all          lost 0", " 7  TRACEPOINT:0x1a3  lost 0"]);
    }

    #[test]
    fn no_line_ends_in_blanks() {
        let label = Label::of(&Attr::hardware(Hardware::CPU_CYCLES));
        let count = Count { label, value: 7, time_enabled: None, time_running: None, id: None, lost: None };
        let mut text = String::new();
        write_row(&mut text, &count, &Columns { value: 3, label: 20, ..Columns::default() }).unwrap();
        assert_eq!(text, "  7  CPU_CYCLES");
    }
}
