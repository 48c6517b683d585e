//! Lists of entries that are read when they are iterated over.

use core::fmt;
use core::marker::PhantomData;

use crate::Result;
use crate::bytes::Bytes;

/// An entry of a [`List`].
pub trait Entry<'a>: Sized + Read<'a> {}

impl<'a, T: Read<'a>> Entry<'a> for T {}

pub(crate) mod private {
    use crate::Result;
    use crate::bytes::Bytes;

    /// Reads one entry.
    pub trait Read<'a>: Sized {
        /// Reads the entry at the start of `bytes`.
        fn read(bytes: &mut Bytes<'a>) -> Result<Self>;
    }
}

pub(crate) use private::Read;

/// A list of entries in a record or section. Its entries were checked and are read by iteration.
#[derive(Clone, Copy)]
pub struct List<'a, T> {
    bytes: Bytes<'a>,
    count: usize,
    of: PhantomData<fn() -> T>,
}

impl<'a, T: Entry<'a>> List<'a, T> {
    /// Takes a list of `count` entries.
    pub(crate) fn take(bytes: &mut Bytes<'a>, count: u64, what: &'static str) -> Result<Self> {
        let whole = *bytes;
        for _ in 0..count {
            if bytes.is_empty() {
                return Err(crate::Error::truncated(bytes.offset(), what, 1, 0));
            }
            T::read(bytes)?;
        }
        // Each entry has at least one byte, so the number of entries is that of a slice.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Self { bytes: whole, count, of: PhantomData })
    }

    /// Takes all entries up to the end of `bytes`.
    pub(crate) fn take_all(bytes: &mut Bytes<'a>) -> Result<Self> {
        let whole = *bytes;
        let mut count = 0;
        while !bytes.is_empty() {
            T::read(bytes)?;
            count += 1;
        }
        Ok(Self { bytes: whole, count, of: PhantomData })
    }

    /// Returns the number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Iterates over the entries, in the order of the file.
    #[must_use]
    pub const fn iter(&self) -> Entries<'a, T> {
        Entries { rest: self.bytes, left: self.count, of: PhantomData }
    }
}

impl<'a, T: Entry<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Entries<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Entry<'a>> IntoIterator for &List<'a, T> {
    type Item = T;
    type IntoIter = Entries<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Entry<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterator over the entries of a [`List`].
#[derive(Clone, Debug)]
pub struct Entries<'a, T> {
    rest: Bytes<'a>,
    left: usize,
    of: PhantomData<fn() -> T>,
}

impl<'a, T: Entry<'a>> Iterator for Entries<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        T::read(&mut self.rest).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: Entry<'a>> ExactSizeIterator for Entries<'a, T> {}

impl<'a, T: Entry<'a>> core::iter::FusedIterator for Entries<'a, T> {}

impl<'a> Read<'a> for u64 {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        bytes.u64("number")
    }
}

impl<'a> Read<'a> for u32 {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        bytes.u32("number")
    }
}

/// A string of a feature section: raw bytes up to the NUL.
impl<'a> Read<'a> for &'a [u8] {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        bytes.string("string")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ByteOrder;

    #[test]
    fn list_has_its_number_of_entries() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9];
        let mut bytes = Bytes::new(&bytes, ByteOrder::Little, 0);
        let list = List::<u64>::take(&mut bytes, 2, "ids").unwrap();
        assert_eq!((list.len(), bytes.rest()), (2, &[9][..]));
        assert!(list.iter().eq([1, 2]) && list.iter().len() == 2);
        assert!(!list.is_empty() && List::<u64>::take(&mut bytes, 0, "ids").unwrap().is_empty());
        assert_eq!(std::format!("{list:?}"), "[1, 2]");
    }

    #[test]
    fn count_past_the_end_is_refused_without_an_allocation() {
        let bytes = [0; 8];
        let refused = List::<u64>::take(&mut Bytes::new(&bytes, ByteOrder::Little, 0), u64::MAX, "ids");
        assert_eq!(std::format!("{}", refused.unwrap_err()), "offset 0x8: ids: expected 1 bytes, found 0");
    }
}
