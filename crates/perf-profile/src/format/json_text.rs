//! Values as JSON text.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use perf_decode::breaks_line;

/// A string, quoted and escaped.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = serde_json::to_string(self.0).map_err(|_| fmt::Error)?;
        if quoted.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return f.write_str(&quoted);
        }
        quoted.chars().try_for_each(|character| match character {
            // JSON permits them in a string.
            character if breaks_line(character) => write!(f, "\\u{:04x}", u32::from(character)),
            character => f.write_char(character),
        })
    }
}

/// A value, or `null`.
#[derive(Clone, Copy)]
pub(super) struct Optional<T>(pub(super) Option<T>);

impl<T: fmt::Display> fmt::Display for Optional<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// Writes a list, element by element.
pub(super) fn write_list(
    out: &mut dyn Write,
    items: impl IntoIterator<Item: fmt::Display>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, item) in items.into_iter().enumerate() {
        write!(out, "{}{item}", if index > 0 { "," } else { "" })?;
    }
    out.write_all(b"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_control_character_and_is_read_as_it_was() {
        let text = "a\u{1b}[31m\n\"\\\u{7f}\u{9b}\u{2028}\u{202e}\u{fc}";
        let quoted = Text(text).to_string();
        assert_eq!(quoted, r#""a\u001b[31m\n\"\\\u007f\u009b\u2028\u202eü""#);
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }
}
