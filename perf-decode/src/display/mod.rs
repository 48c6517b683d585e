//! Prints records, one line each.

use core::fmt::{self, Write};

mod line;
mod value;

pub use line::RecordDisplay;

/// Bytes of a name as text. Characters that would break or reorder the line are escaped: control
/// characters, line and paragraph separators, bidirectional formatting, and bytes that are not
/// UTF-8.
pub(crate) struct Text<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            for character in chunk.valid().chars() {
                if character == '\\' || breaks_line(character) {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    f.write_char(character)?;
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
        })
    }
}

/// Returns true for the characters that records print escaped, because they change the text after
/// them: control characters, line and paragraph separators (U+2028, U+2029), and directional marks.
pub fn breaks_line(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A process or thread id. Prints -1, as perf does, if the task has no id in the opener's pid
/// namespace.
pub(crate) struct Task(pub(crate) u32);

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        i32::from_ne_bytes(self.0.to_ne_bytes()).fmt(f)
    }
}

/// Bytes as hexadecimal digits without separators.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Writes items with a separator between them.
fn separated<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    separator: &str,
    items: impl Iterator<Item = T>,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn separators_and_bidirectional_marks_are_escaped() {
        let text = Text("a\u{2028}b\u{202e}c\u{2066}d\n".as_bytes()).to_string();
        assert_eq!(text, "a\\u{2028}b\\u{202e}c\\u{2066}d\\n");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_escaped() {
        assert_eq!(Text(b"a\xffb\\").to_string(), "a\\xffb\\\\");
    }

    #[test]
    fn letters_of_any_script_are_printed_as_they_are() {
        assert_eq!(Text("libé/фон.so".as_bytes()).to_string(), "libé/фон.so");
    }
}
