//! Columns of text, aligned as terminals show them.

use unicode_width::UnicodeWidthStr;

/// Returns the number of cells in which a terminal shows a text: a wide character takes two cells,
/// a combining one takes none.
pub fn text_width(text: &str) -> usize {
    text.width()
}

/// The widths of columns of text, which are two blanks apart.
///
/// ```
/// use perf_session::Columns;
///
/// let rows = [["7", "faults", "a"], ["1,234", "時計", "b"]];
/// let columns = Columns::new(&rows).right(0);
/// assert_eq!(columns.line(&rows[0]), "    7  faults  a");
/// assert_eq!(columns.line(&rows[1]), "1,234  時計    b");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    widths: Vec<usize>,
    right: Option<usize>,
}

impl Columns {
    /// Returns columns that are as wide as their widest text.
    pub fn new<R: AsRef<[T]>, T: AsRef<str>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut widths = Vec::new();
        for row in rows {
            let row = row.as_ref();
            widths.resize(widths.len().max(row.len()), 0);
            for (width, text) in widths.iter_mut().zip(row) {
                *width = (*width).max(text_width(text.as_ref()));
            }
        }
        Self { widths, right: None }
    }

    /// Aligns a column on the right, as one of numbers is.
    #[must_use]
    pub fn right(self, column: usize) -> Self {
        Self { right: Some(column), ..self }
    }

    /// Returns the width of each column, in cells.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// Returns a row as a line, without blanks at its end.
    pub fn line<T: AsRef<str>>(&self, row: &[T]) -> String {
        let mut line = String::new();
        for (index, (text, width)) in row.iter().map(AsRef::as_ref).zip(&self.widths).enumerate() {
            let blanks = " ".repeat(width.saturating_sub(text_width(text)));
            let (before, after) = if self.right == Some(index) { (&*blanks, "") } else { ("", &*blanks) };
            line.extend([if index == 0 { "" } else { "  " }, before, text, after]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_combining_characters_are_aligned() {
        let rows = [["plain", "x"], ["日本語", "x"], ["e\u{301}te\u{301}", "x"], ["", "x"]];
        let columns = Columns::new(rows);
        let lines = ["plain   x", "日本語  x", "e\u{301}te\u{301}     x", "        x"];
        assert_eq!(rows.map(|row| columns.line(&row)), lines);
        let columns = columns.right(0);
        assert_eq!(columns.line(&rows[2]), "   e\u{301}te\u{301}  x");
        assert_eq!(columns.widths(), [6, 1]);
    }

    #[test]
    fn lines_end_without_blanks_and_rows_may_be_shorter() {
        let columns = Columns::new([&["a", "b"][..], &["long"]]);
        assert_eq!(columns.line(&["a", ""]), "a");
        assert_eq!(columns.line(&["a"]), "a");
        assert_eq!(columns.line(&["", "b"]), "      b");
        assert_eq!(columns.line::<&str>(&[]), "");
    }
}
