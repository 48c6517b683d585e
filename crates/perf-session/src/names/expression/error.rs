//! Errors in event strings, with a caret below the place.

use std::fmt::{self, Display, Formatter};

use super::Span;
use crate::columns::text_width;
use crate::std_error::into_std;
use crate::system::FileError;

/// An event string that is malformed, or that names something that this machine does not have.
///
/// [`Display`] prints the reason, the nearest names, the string, and below it a line with a caret
/// under the character:
///
/// ```text
/// unknown event `cyclse`, the nearest name is cycles
///   instructions,cyclse:u
///                ^
/// ```
#[derive(Clone, Debug)]
pub struct ParseError(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    text: String,
    span: Span,
    problem: Problem,
    nearest: Vec<String>,
}

/// The cause of a [`ParseError`].
#[derive(Clone, Debug)]
pub(in crate::names) enum Problem {
    /// Another text was expected.
    Expected(&'static str),
    /// The event, PMU, term or tracepoint does not exist. The text is the kind of the name.
    Unknown(&'static str),
    /// The name is not among these few, which are listed. `kind` is the kind of the name.
    NotAmong { kind: &'static str, has: String },
    /// The text is understood, but cannot be an event, for this reason.
    Invalid(String),
    /// A file with the answer cannot be used.
    File(FileError),
}

impl ParseError {
    pub(in crate::names) fn new(text: &str, span: Span, problem: Problem) -> Self {
        Self(Box::new(Details { text: text.to_owned(), span, problem, nearest: Vec::new() }))
    }

    pub(in crate::names) fn with_nearest(mut self, nearest: Vec<String>) -> Self {
        self.0.nearest = nearest;
        self
    }

    /// Returns the event string.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the bytes that are wrong. At the end of the string they are empty.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Returns the offset of the first wrong character, in bytes.
    pub fn offset(&self) -> usize {
        self.0.span.start
    }

    /// Returns what was expected at the offset, `None` if the string is grammatical.
    pub fn expected(&self) -> Option<&'static str> {
        match self.0.problem {
            Problem::Expected(expected) => Some(expected),
            _ => None,
        }
    }

    /// Returns the wrong text. At the end of the string it is empty.
    pub fn found(&self) -> &str {
        self.0.text.get(self.0.span.start..self.0.span.end).unwrap_or_default()
    }

    /// Returns the known names that are most like the unknown one, the nearest first.
    pub fn nearest(&self) -> &[String] {
        &self.0.nearest
    }

    /// Returns the number of the errno if a file that was needed cannot be read.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.file_error()?.raw_os_error()
    }

    /// Returns the error of the file that was needed to know, if that is the cause.
    pub fn file_error(&self) -> Option<&FileError> {
        match &self.0.problem {
            Problem::File(error) => Some(error),
            _ => None,
        }
    }
}

/// The characters that are shown before and after the wrong one, at most.
const SHOWN: usize = 50;

/// A character as it is shown: one column wide and harmless to a terminal.
fn shown(c: char) -> char {
    if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() { c } else { '\u{fffd}' }
}

/// Returns the first characters of a text as they are shown.
fn excerpt(text: &str) -> String {
    text.chars().take(SHOWN).map(shown).collect()
}

impl ParseError {
    /// Returns the message in one line, without the string and the caret.
    pub fn message(&self) -> String {
        let found = match self.found() {
            "" => "the end".to_owned(),
            found => format!("`{}`", excerpt(found)),
        };
        let message = match &self.0.problem {
            Problem::Expected(expected) => format!("expected {expected}, found {found}"),
            Problem::Unknown(kind) => format!("unknown {kind} {found}"),
            Problem::NotAmong { kind, has } => {
                format!("unknown {kind} {found}; this machine has {has}")
            }
            Problem::Invalid(reason) => format!("{found}: {reason}"),
            Problem::File(error) => format!("{found}: {error}"),
        };
        match self.nearest() {
            [] => message,
            [name] => format!("{message}, the nearest name is {name}"),
            names => format!("{message}, the nearest names are {}", names.join(", ")),
        }
    }
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let before = self.0.text.get(..self.0.span.start).unwrap_or_default();
        let skipped = before.char_indices().nth_back(SHOWN - 1).map_or(0, |(index, _)| index);
        let before: String = before.get(skipped..).unwrap_or_default().chars().map(shown).collect();
        let after = excerpt(self.0.text.get(self.0.span.start..).unwrap_or_default());
        let width = text_width(&before);
        write!(f, "{}\n  {before}{after}\n  {:width$}^", self.message(), "")
    }
}

impl std::error::Error for ParseError {}

into_std!(ParseError, InvalidInput);
