use core::fmt::{self, Write};

use perf_decode::Scaled;

use super::Count;

/// The widths of a table's columns, in characters. The default of 0 is for a line by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    value: usize,
    label: usize,
    coverage: usize,
    id: usize,
    lost: usize,
}

impl Columns {
    /// Returns these columns, wide enough for `count` too.
    pub(super) fn widened(self, count: &Count) -> Self {
        let of = |cell: Option<&dyn fmt::Display>| cell.map_or(0, width);
        Self {
            value: self.value.max(width(&Value(count.scaled()))),
            label: self.label.max(width(&count.label)),
            coverage: self.coverage.max(of(Coverage::of(count).as_ref().map(|cell| cell as _))),
            id: self.id.max(of(count.id.as_ref().map(|cell| cell as _))),
            lost: self.lost.max(of(count.lost.as_ref().map(|cell| cell as _))),
        }
    }
}

/// Writes a count as one line without its end and without trailing blanks.
pub(super) fn write_row(f: &mut impl Write, count: &Count, columns: &Columns) -> fmt::Result {
    let value = Value(count.scaled());
    write!(f, "{:blank$}{value}  {}", "", count.label, blank = columns.value.saturating_sub(width(&value)))?;
    let mut blank = columns.label.saturating_sub(width(&count.label));
    let mut cell = |title: &str, cell: Option<&dyn fmt::Display>, columns: usize| match cell {
        Some(cell) => {
            let right = columns.saturating_sub(width(cell));
            write!(f, "{:blank$}  {title} {:right$}{cell}", "", "")?;
            blank = 0;
            Ok(())
        }
        // Blanks are written before the next cell, so that none are at the end of the line.
        None if columns != 0 => {
            blank += 2 + title.len() + 1 + columns;
            Ok(())
        }
        None => Ok(()),
    };
    cell("ran", Coverage::of(count).as_ref().map(|cell| cell as _), columns.coverage)?;
    cell("id", count.id.as_ref().map(|cell| cell as _), columns.id)?;
    cell("lost", count.lost.as_ref().map(|cell| cell as _), columns.lost)
}

/// A value, marked as an estimate or as unknown.
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

/// Time running in percent of time enabled; `-` if the event was never enabled.
struct Coverage(Option<f64>);

impl Coverage {
    /// Returns `None` without both times.
    fn of(count: &Count) -> Option<Self> {
        count.time_enabled.and(count.time_running).map(|_| Self(count.coverage()))
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(coverage) => write!(f, "{:5.1} %", coverage * 100.0),
            None => write!(f, "{:>5} %", '-'),
        }
    }
}

/// Returns the number of characters that `text` prints, without the allocation of a `String`.
fn width(text: &dyn fmt::Display) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.chars().count(); // a label may be more than ASCII
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting does not fail. If a label's Display did, only the alignment would be wrong.
    let _ = write!(counter, "{text}");
    counter.0
}
