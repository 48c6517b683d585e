//! Bounds-checked reading of a byte slice from its start.

use alloc::vec::Vec;

use super::Error;

/// The unread rest of a file, and its offset.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// Takes the next `len` bytes.
    pub(super) fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8], Error> {
        let truncated = Error::Truncated { field, at: self.at, needed: len, found: self.rest.len() };
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(truncated)?;
        (self.rest, self.at) = (rest, self.at + len);
        Ok(taken)
    }

    /// Takes the next `N` bytes by value.
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, field)?);
        Ok(array)
    }

    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32, Error> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, field: &'static str) -> Result<u64, Error> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// Takes a `u32` that counts bytes.
    pub(super) fn length(&mut self, field: &'static str) -> Result<usize, Error> {
        let value = self.u32(field)?;
        usize::try_from(value).map_err(|_| Error::Invalid { field, value: value.into() })
    }

    /// Takes the next `len` bytes as words, copied because a file has no alignment.
    pub(super) fn words(&mut self, len: usize, field: &'static str) -> Result<Vec<u64>, Error> {
        if len % 8 != 0 {
            return Err(Error::Invalid { field, value: len as u64 });
        }
        let mut bytes = Self::new(self.take(len, field)?);
        (0..len / 8).map(|_| bytes.u64(field)).collect()
    }

    /// Reads [`words`](Self::words); if the file ends early, returns the words that are present and
    /// the error.
    pub(super) fn words_present(&mut self, len: usize, field: &'static str) -> (Vec<u64>, Result<(), Error>) {
        let end = self.clone().take(len, field).map(drop);
        let present = len.min(self.rest.len()) / 8 * 8;
        self.words(present, field).map_or_else(|error| (Vec::new(), Err(error)), |words| (words, end))
    }

    /// Returns an error unless all was taken.
    pub(super) fn end(&self) -> Result<(), Error> {
        match self.rest.len() {
            0 => Ok(()),
            found => Err(Error::TrailingBytes { at: self.at, found }),
        }
    }
}
