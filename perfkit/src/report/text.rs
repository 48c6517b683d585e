//! Columns of text.

use super::sort::SortKey;

/// Returns the width of each column: of its title or its longest text, in characters.
pub(crate) fn widths(keys: &[SortKey], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<_> = keys.iter().map(|key| key.title().len()).collect();
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.chars().count());
        }
    }
    widths
}

/// Returns columns with their widths, each after two blanks.
pub(crate) fn columns(texts: &[String], widths: &[usize]) -> String {
    let columns: Vec<_> =
        texts.iter().zip(widths).map(|(text, &width)| format!("  {text:<width$}")).collect();
    columns.concat().trim_end().to_owned()
}

/// Returns the line below titles: dots as wide as each column, but only as wide as the title in the
/// last column.
pub(crate) fn dots(keys: &[SortKey], widths: &[usize]) -> String {
    let last = keys.last().map_or(0, |key| key.title().len());
    let mut dots: Vec<_> = widths.iter().map(|&width| ".".repeat(width)).collect();
    if let Some(text) = dots.last_mut() {
        text.truncate(last);
    }
    columns(&dots, widths)
}
