//! A place in a byte slice that only moves forward, and never past the end.

use super::Error;

/// What is left of a file, and how far it has been read.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// The next `len` bytes.
    pub(super) fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8], Error> {
        let truncated = Error::Truncated { field, at: self.at, needed: len, found: self.rest.len() };
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(truncated)?;
        (self.rest, self.at) = (rest, self.at + len);
        Ok(taken)
    }

    /// The next `N` bytes by value.
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

    /// A `u32` that counts bytes.
    pub(super) fn length(&mut self, field: &'static str) -> Result<usize, Error> {
        let value = self.u32(field)?;
        usize::try_from(value).map_err(|_| Error::Invalid { field, value: value.into() })
    }

    /// The next `len` bytes as words, copied because a file promises no alignment.
    pub(super) fn words(&mut self, len: usize, field: &'static str) -> Result<Vec<u64>, Error> {
        if len % 8 != 0 {
            return Err(Error::Invalid { field, value: len as u64 });
        }
        let mut bytes = Self::new(self.take(len, field)?);
        (0..len / 8).map(|_| bytes.u64(field)).collect()
    }

    /// As [`words`](Self::words), but if the file ends before them those that are there, and the error.
    pub(super) fn words_present(&mut self, len: usize, field: &'static str) -> (Vec<u64>, Result<(), Error>) {
        let end = self.clone().take(len, field).map(drop);
        let present = len.min(self.rest.len()) / 8 * 8;
        self.words(present, field).map_or_else(|error| (Vec::new(), Err(error)), |words| (words, end))
    }

    /// Refuses a file that goes on.
    pub(super) fn end(&self) -> Result<(), Error> {
        match self.rest.len() {
            0 => Ok(()),
            found => Err(Error::Surplus { at: self.at, found }),
        }
    }
}
