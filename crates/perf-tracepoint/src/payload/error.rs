//! Errors of `format` texts and of binding fields, and the excerpt of foreign text that they carry.

use core::fmt;

use super::Kind;

/// The reason why a `format` text could not be parsed, or a field not be bound.
///
/// Reading a payload returns no such error. A field outside the payload reads as `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The text departs from the grammar.
    Syntax {
        /// Line of the text, counted from 1.
        line: u32,
        /// The element that the grammar requires here.
        expected: &'static str,
        /// The beginning of the text found instead; empty at the end of the line or of the text.
        found: Excerpt,
    },
    /// The tracepoint has no field of this name. It was renamed, or belongs to another kernel.
    NoField {
        /// The beginning of the name that was looked up.
        name: Excerpt,
    },
    /// The field exists, but its kind does not allow this binding.
    Mismatch {
        /// The beginning of the field's name.
        name: Excerpt,
        /// The kind of data that the binding reads.
        expected: &'static str,
        /// The kind of the field.
        kind: Kind,
        /// Size of the field in bytes.
        size: u32,
    },
    /// The machine has no integer of this size.
    ElementSize {
        /// The size passed to [`Field::array_of`](super::Field::array_of), in bytes.
        size: u32,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, expected, found } => {
                write!(f, "line {line}: expected {expected}, found {found}")
            }
            Self::NoField { name } => {
                write!(f, "field {name}: not in this tracepoint; compare with its `format` file")
            }
            Self::Mismatch { name, expected, kind, size } => write!(
                f,
                "field {name}: expected {expected}, found {kind} ({size} bytes); bind it as that or as bytes"
            ),
            Self::ElementSize { size } => {
                write!(f, "element size: expected 1, 2, 4 or 8 bytes, found {size}")
            }
        }
    }
}

impl core::error::Error for FormatError {}

/// A [`FormatError::Syntax`] without its line number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unexpected<'t> {
    pub(super) expected: &'static str,
    pub(super) found: &'t str,
}

impl Unexpected<'_> {
    pub(super) fn at(self, line: u32) -> FormatError {
        let found = Excerpt::new(self.found.trim_ascii());
        FormatError::Syntax { line, expected: self.expected, found }
    }
}

/// Longest excerpt in bytes: a whole `offset:` or `size:` part and most declarations.
const CAPACITY: usize = 47;

/// The beginning of a text, at most 47 bytes of it, owned.
///
/// Errors carry this instead of a borrow, so that they outlive the text and pass through
/// `Box<dyn Error>`. Prints in backquotes, with all but printable ASCII escaped.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Excerpt {
    bytes: [u8; CAPACITY],
    len: u8,
}

impl Excerpt {
    /// Copies the beginning of `text`, up to the last whole character that fits.
    pub(super) fn new(text: &str) -> Self {
        let kept = (0..=CAPACITY.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default();
        let mut bytes = [0; CAPACITY];
        for (to, from) in bytes.iter_mut().zip(kept.bytes()) {
            *to = from;
        }
        Self { bytes, len: kept.len() as u8 }
    }

    /// Returns the text that was kept; empty if the original was.
    pub fn as_str(&self) -> &str {
        let kept = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(kept).unwrap_or_default()
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            "" => f.write_str("nothing"),
            text => write!(f, "`{}`", text.as_bytes().escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place_and_both_sides() {
        let name = Excerpt::new("prev_pod");
        for (error, message) in [
            (
                Unexpected { expected: "`;` after a value", found: " signed:0" }.at(7),
                "line 7: expected `;` after a value, found `signed:0`",
            ),
            (
                Unexpected { expected: "`format:`", found: "\n" }.at(3),
                "line 3: expected `format:`, found nothing",
            ),
            (
                FormatError::Mismatch { name, expected: "an integer", kind: Kind::Text, size: 16 },
                "field `prev_pod`: expected an integer, found text (16 bytes); bind it as that or as bytes",
            ),
            (
                FormatError::NoField { name },
                "field `prev_pod`: not in this tracepoint; compare with its `format` file",
            ),
            (FormatError::ElementSize { size: 3 }, "element size: expected 1, 2, 4 or 8 bytes, found 3"),
        ] {
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn excerpts_keep_47_bytes() {
        let long = "0123456789012345678901234567890123456789012345678";
        assert_eq!(Excerpt::new(long).as_str(), &long[..47]);
        assert_eq!(Excerpt::new(&long[..48]).as_str(), &long[..47]);
        assert_eq!(Excerpt::new(&long[..47]).as_str(), &long[..47]);
        assert_eq!(Excerpt::new(&long[..46]).as_str(), &long[..46]);
        assert_eq!(Excerpt::new("size:8").as_str(), "size:8");
        assert_eq!(Excerpt::new("").as_str(), "");
    }

    #[test]
    fn excerpts_end_at_a_whole_character() {
        let padding = "0123456789012345678901234567890123456789012345";
        assert_eq!(padding.len(), 46);
        assert_eq!(Excerpt::new(&format!("{padding}é")).as_str(), padding);
        assert_eq!(Excerpt::new(&format!("{}é...", &padding[1..])).as_str(), format!("{}é", &padding[1..]));
        assert_eq!(Excerpt::new(&format!("{}\u{10ffff}", &padding[2..])).as_str(), &padding[2..]);
    }

    #[test]
    fn excerpts_print_as_one_line_of_ascii() {
        let printed = |text: &str| Excerpt::new(text).to_string();
        assert_eq!(printed("a b~"), "`a b~`");
        assert_eq!(printed("\u{1b}[2J\r\n\u{7f}\0"), r"`\x1b[2J\r\n\x7f\x00`");
        assert_eq!(printed("\u{85}é"), r"`\xc2\x85\xc3\xa9`");
        for first in ['\u{2028}', '\u{202a}', '\u{2066}'] {
            for character in first..=char::from_u32(first as u32 + 4).unwrap() {
                let line = printed(character.to_string().as_str());
                assert!(line.starts_with(r"`\xe2\x8") && line.is_ascii(), "{character:?}: {line}");
            }
        }
        assert_eq!(format!("{:?}", Excerpt::new("a\u{202e}")), r#""a\u{202e}""#);
    }
}
