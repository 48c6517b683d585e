//! What can be wrong with a `format` text, and with what is asked of it.

use core::fmt;

use super::{Excerpt, Kind};

/// Why a `format` text could not be read, or a field not be bound.
///
/// Reading a payload never fails this way: a field outside the payload is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The text departs from the grammar.
    Syntax {
        /// Line of the text, counted from 1.
        line: u32,
        /// What the grammar wants here.
        expected: &'static str,
        /// The beginning of what is there instead; empty at the end of the line or of the text.
        found: Excerpt,
    },
    /// The tracepoint has no field of this name: it was renamed, or belongs to another kernel.
    NoField {
        /// The beginning of the name that was asked for.
        name: Excerpt,
    },
    /// The field exists, but cannot be read in the way that was asked for.
    Mismatch {
        /// What the field was to be read as.
        wanted: &'static str,
        /// What it is.
        kind: Kind,
        /// Its size in bytes.
        size: u32,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, expected, found } => {
                write!(f, "line {line}: expected {expected}, found {found}")
            }
            Self::NoField { name } => write!(f, "the tracepoint has no field {name}"),
            Self::Mismatch { wanted, kind, size } => {
                write!(f, "the field cannot be read as {wanted}: it is {kind} of {size} bytes")
            }
        }
    }
}

impl core::error::Error for FormatError {}

/// A [`FormatError::Syntax`] that does not know its line yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault<'t> {
    pub(super) expected: &'static str,
    pub(super) found: &'t str,
}

impl Fault<'_> {
    pub(super) fn at(self, line: u32) -> FormatError {
        FormatError::Syntax { line, expected: self.expected, found: Excerpt::of(self.found.trim()) }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn errors_say_where_and_what() {
        let syntax = Fault { expected: "`;` after a value", found: " signed:0" }.at(7);
        assert_eq!(syntax.to_string(), "line 7: expected `;` after a value, found `signed:0`");
        let end = Fault { expected: "`format:`", found: "" }.at(3);
        assert_eq!(end.to_string(), "line 3: expected `format:`, found nothing");
        let mismatch = FormatError::Mismatch { wanted: "an integer", kind: Kind::Text, size: 16 };
        assert_eq!(mismatch.to_string(), "the field cannot be read as an integer: it is text of 16 bytes");
        let missing = FormatError::NoField { name: Excerpt::of("prev_pod") };
        assert_eq!(missing.to_string(), "the tracepoint has no field `prev_pod`");
    }
}
