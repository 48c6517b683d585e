//! Columns of text.

use perf_session::{Columns, text_width};

use super::sort::SortKey;

/// Returns columns as wide as their title or their widest text.
pub(crate) fn widths(keys: &[SortKey], rows: &[Vec<String>]) -> Columns {
    let titles: Vec<_> = keys.iter().map(|key| key.title.to_owned()).collect();
    Columns::new(rows.iter().chain([&titles]))
}

/// Returns a row of columns, after two blanks.
pub(crate) fn columns(texts: &[String], widths: &Columns) -> String {
    format!("  {}", widths.line(texts)).trim_end().to_owned()
}

/// Returns the line below titles: dots as wide as each column, but only as wide as the title in the
/// last column.
pub(crate) fn dots(keys: &[SortKey], widths: &Columns) -> String {
    let last = keys.last().map_or(0, |key| key.title.len());
    let mut dots: Vec<_> = widths.widths().iter().map(|&width| ".".repeat(width)).collect();
    if let Some(text) = dots.last_mut() {
        text.truncate(last);
    }
    columns(&dots, widths)
}

/// Returns the number of characters, from the first one on, that a terminal shows in a width.
pub(crate) fn fitting(characters: impl Iterator<Item = char>, width: usize) -> usize {
    let mut used = 0;
    let fits = |character: &char| {
        used += text_width(character.encode_utf8(&mut [0; 4]));
        used <= width
    };
    characters.take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_fit_are_counted_by_their_width() {
        for (text, width, expected) in
            [("plain", 3, 3), ("日本語", 5, 2), ("e\u{301}te\u{301}", 2, 3), ("a", 9, 1)]
        {
            assert_eq!(fitting(text.chars(), width), expected, "{text}");
        }
    }
}
