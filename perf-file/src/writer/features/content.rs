//! The encoding of feature sections: numbers in the machine's byte order, and strings.

use zerocopy::IntoBytes;

/// Strings are padded to a multiple of this number of bytes, as the perf tool does.
const STRING_ALIGN: usize = 64;

/// The content of a feature section under construction.
#[derive(Debug, Default)]
pub(super) struct Content(pub(super) Vec<u8>);

impl Content {
    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(value.as_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(value.as_bytes());
    }

    /// Appends a number of entries.
    pub(super) fn count(&mut self, count: usize) {
        self.u32(count as u32);
    }

    /// Appends the padded length, the text, and NUL bytes up to that length.
    pub(super) fn text(&mut self, text: &str) {
        let padded = (text.len() + 1).next_multiple_of(STRING_ALIGN);
        self.count(padded);
        self.0.extend_from_slice(text.as_bytes());
        self.0.resize(self.0.len() + padded - text.len(), 0);
    }

    /// Appends the number of texts and each text.
    pub(super) fn list<S: AsRef<str>>(&mut self, texts: &[S]) {
        self.count(texts.len());
        for text in texts {
            self.text(text.as_ref());
        }
    }
}
