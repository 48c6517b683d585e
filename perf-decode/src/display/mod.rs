//! Printing: any record as one line.

use core::fmt::{self, Write};

mod line;
mod read;
mod sample;

pub use line::RecordDisplay;

/// Bytes of a name as text: control characters and bytes that are not UTF-8 are escaped, so that a line stays a line.
pub(crate) struct Text<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            for character in chunk.valid().chars() {
                if character.is_control() || character == '\\' {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    f.write_char(character)?;
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
        })
    }
}

/// A process or thread: -1 if it cannot be named, as the perf tool prints it.
pub(crate) struct Task(pub(crate) u32);

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        i32::from_ne_bytes(self.0.to_ne_bytes()).fmt(f)
    }
}

/// Bytes as hexadecimal digits without anything between them.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
