//! Lists of entries, and how entries are read and written.

use core::fmt;

use crate::bytes::{Bytes, until_nul};
#[cfg(any(test, feature = "std"))]
use crate::encoder::Encoder;
use crate::error::Result;
use crate::format::{AuxtraceType, StatRoundType, StatTag};

/// An entry of a [`List`].
pub trait ListEntry<'a>: Copy + Read<'a> {}

impl<'a, T: Copy + Read<'a>> ListEntry<'a> for T {}

mod private {
    use crate::bytes::Bytes;
    use crate::error::Result;

    /// A field or an entry that can be read.
    pub trait Read<'a>: Sized {
        /// Reads the value at the start of `bytes`. `what` names a number or a text in errors.
        fn read(bytes: &mut Bytes<'a>, what: &'static str) -> Result<Self>;
    }

    /// A field or an entry that can be written: what [`Read::read`] reads.
    #[cfg(any(test, feature = "std"))]
    pub trait Write {
        /// Appends the value.
        fn write(&self, out: &mut crate::encoder::Encoder);
    }
}

pub(crate) use private::Read;
#[cfg(any(test, feature = "std"))]
pub(crate) use private::Write;

/// Declares structs by their fields in the order of the file, each with its name in errors. Reading
/// and writing follow from the list: by the type of a field, or by the form after `in`.
macro_rules! fields {
    ($($(#[$meta:meta])* pub struct $name:ident $(<$a:lifetime>)? {
        $($(#[$doc:meta])* pub $field:ident: $type:ty = $what:literal $(in $form:ty)?,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name $(<$a>)? {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl<'a> $crate::list::Read<'a> for $name $(<$a>)? {
            fn read(bytes: &mut $crate::bytes::Bytes<'a>, _: &'static str) -> $crate::Result<Self> {
                Ok(Self { $($field: $crate::list::read_as!(bytes, $what $(, $form)?),)+ })
            }
        }

        #[cfg(any(test, feature = "std"))]
        impl $(<$a>)? $crate::list::Write for $name $(<$a>)? {
            fn write(&self, out: &mut $crate::encoder::Encoder) {
                $($crate::list::write_as!(&self.$field, out $(, $form)?);)+
            }
        }
    )+};
}
/// Reads a value by its type, or by a form.
macro_rules! read_as {
    ($bytes:expr, $what:expr) => {
        $crate::list::Read::read($bytes, $what)?
    };
    ($bytes:expr, $what:expr, $form:ty) => {
        <$form>::read($bytes, $what)?
    };
}

/// Writes a value by its type, or by a form.
#[cfg(any(test, feature = "std"))]
macro_rules! write_as {
    ($value:expr, $out:expr) => {
        $crate::list::Write::write($value, $out)
    };
    ($value:expr, $out:expr, $form:ty) => {
        <$form>::write($value, $out)
    };
}

#[cfg(any(test, feature = "std"))]
pub(crate) use write_as;
pub(crate) use {fields, read_as};

/// The form of a list after its number of entries as a `u64`. Without a form that number is a
/// `u32`.
pub(crate) struct LongList;

impl LongList {
    pub(crate) fn read<'a, T: ListEntry<'a>>(
        bytes: &mut Bytes<'a>,
        what: &'static str,
    ) -> Result<List<'a, T>> {
        let count = bytes.u64(what)?;
        List::take(bytes, count, what)
    }

    #[cfg(any(test, feature = "std"))]
    pub(crate) fn write<'a, T: ListEntry<'a> + Write>(list: &List<'a, T>, out: &mut Encoder) {
        out.u64(list.len() as u64);
        list.write_entries(out);
    }
}

/// The form of a list up to the end of the section.
pub(crate) struct Rest;

impl Rest {
    pub(crate) fn read<'a, T: ListEntry<'a>>(
        bytes: &mut Bytes<'a>,
        what: &'static str,
    ) -> Result<List<'a, T>> {
        let whole = *bytes;
        let mut count = 0;
        while !bytes.is_empty() {
            T::read(bytes, what)?;
            count += 1;
        }
        Ok(List(Entries::Encoded(whole, count)))
    }

    #[cfg(any(test, feature = "std"))]
    pub(crate) fn write<'a, T: ListEntry<'a> + Write>(list: &List<'a, T>, out: &mut Encoder) {
        list.write_entries(out);
    }
}

/// The form of bytes after their number as a `u32`, without padding.
pub(crate) struct CountedBytes;

impl CountedBytes {
    pub(crate) fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<&'a [u8]> {
        let len = bytes.u32(what)?;
        bytes.take(len.into(), what)
    }

    #[cfg(any(test, feature = "std"))]
    pub(crate) fn write(value: &[u8], out: &mut Encoder) {
        out.count(value.len()).bytes(value);
    }
}

/// A NUL-terminated text in a field of `LEN` bytes.
pub(crate) struct TextField<const LEN: usize>;

impl<const LEN: usize> TextField<LEN> {
    pub(crate) fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<&'a [u8]> {
        Ok(until_nul(bytes.take(LEN as u64, what)?))
    }

    #[cfg(any(test, feature = "std"))]
    pub(crate) fn write(text: &[u8], out: &mut Encoder) {
        out.text(text.get(..LEN).unwrap_or(text), LEN);
    }
}

/// A list in a record or section.
///
/// The entries of a file were checked, and are read when the list is iterated over. [`List::from`]
/// makes a list of entries in memory, for [`Features::set`](crate::writer::Features::set).
#[derive(Clone, Copy)]
pub struct List<'a, T>(Entries<'a, T>);

#[derive(Clone, Copy)]
enum Entries<'a, T> {
    /// The entries, with whatever follows them, and their number.
    Encoded(Bytes<'a>, usize),
    Memory(&'a [T]),
}

impl<'a, T> From<&'a [T]> for List<'a, T> {
    fn from(entries: &'a [T]) -> Self {
        Self(Entries::Memory(entries))
    }
}

impl<'a, T: ListEntry<'a>> List<'a, T> {
    /// Takes a list of `count` entries.
    pub(crate) fn take(bytes: &mut Bytes<'a>, count: u64, what: &'static str) -> Result<Self> {
        let whole = *bytes;
        for _ in 0..count {
            // An entry of no bytes would make any count valid, and the loop endless.
            if bytes.is_empty() {
                return Err(crate::error::Error::truncated(bytes.offset(), what, 1, 0));
            }
            T::read(bytes, what)?;
        }
        // Each entry has at least one byte, so the number of entries fits.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Self(Entries::Encoded(whole, count)))
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        match self.0 {
            Entries::Encoded(_, count) => count,
            Entries::Memory(entries) => entries.len(),
        }
    }

    /// Returns true for an empty list.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the entries, in the order of the file.
    pub const fn iter(&self) -> ListIter<'a, T> {
        ListIter { rest: self.0 }
    }
}

/// A list after its number of entries, a `u32`.
impl<'a, T: ListEntry<'a>> Read<'a> for List<'a, T> {
    fn read(bytes: &mut Bytes<'a>, what: &'static str) -> Result<Self> {
        let count = bytes.u32(what)?;
        Self::take(bytes, count.into(), what)
    }
}

#[cfg(any(test, feature = "std"))]
impl<'a, T: ListEntry<'a> + Write> List<'a, T> {
    /// Writes the entries without their number.
    pub(crate) fn write_entries(&self, out: &mut Encoder) {
        self.iter().for_each(|entry| entry.write(out));
    }
}

#[cfg(any(test, feature = "std"))]
impl<'a, T: ListEntry<'a> + Write> Write for List<'a, T> {
    fn write(&self, out: &mut Encoder) {
        out.count(self.len());
        self.write_entries(out);
    }
}

impl<'a, T: ListEntry<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: ListEntry<'a>> IntoIterator for &List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: ListEntry<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Lists are equal if their entries are, in memory or in files of any byte order.
impl<'a, T: ListEntry<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl<'a, T: ListEntry<'a> + Eq> Eq for List<'a, T> {}

/// Iterator over the entries of a [`List`].
#[derive(Clone)]
pub struct ListIter<'a, T> {
    rest: Entries<'a, T>,
}

impl<'a, T: ListEntry<'a>> Iterator for ListIter<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.rest {
            Entries::Encoded(bytes, left) => {
                *left = left.checked_sub(1)?;
                // It was read before, when the list was taken.
                T::read(bytes, "entry").ok()
            }
            Entries::Memory(entries) => {
                let (first, rest) = entries.split_first()?;
                *entries = rest;
                Some(*first)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = List(self.rest).len();
        (left, Some(left))
    }
}

impl<'a, T: ListEntry<'a>> ExactSizeIterator for ListIter<'a, T> {}

impl<'a, T: ListEntry<'a>> core::iter::FusedIterator for ListIter<'a, T> {}

impl<'a, T: ListEntry<'a> + fmt::Debug> fmt::Debug for ListIter<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        List(self.rest).fmt(f)
    }
}

/// Reads and writes numbers by the methods of `Bytes` and `Encoder` with the same name, and types
/// of one number.
macro_rules! numbers {
    ($($type:ident)+; $($name:ty: $number:ty),+) => {
        $(
            impl<'a> Read<'a> for $type {
                fn read(bytes: &mut Bytes<'a>, what: &'static str) -> Result<Self> {
                    bytes.$type(what)
                }
            }

            #[cfg(any(test, feature = "std"))]
            impl Write for $type {
                fn write(&self, out: &mut Encoder) {
                    out.$type(*self);
                }
            }
        )+
        $(
            impl<'a> Read<'a> for $name {
                fn read(bytes: &mut Bytes<'a>, what: &'static str) -> Result<Self> {
                    <$number>::read(bytes, what).map(Self)
                }
            }

            #[cfg(any(test, feature = "std"))]
            impl Write for $name {
                fn write(&self, out: &mut Encoder) {
                    self.0.write(out);
                }
            }
        )+
    };
}

numbers! {
    u16 u32 u64;
    perf_abi::Clock: i32, AuxtraceType: u32, StatTag: u64, StatRoundType: u64
}

#[expect(clippy::cast_possible_wrap, reason = "negative numbers stand for unknown ones")]
impl<'a> Read<'a> for i32 {
    fn read(bytes: &mut Bytes<'a>, what: &'static str) -> Result<Self> {
        bytes.u32(what).map(|number| number as Self)
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for i32 {
    fn write(&self, out: &mut Encoder) {
        out.u32(u32::from_ne_bytes(self.to_ne_bytes()));
    }
}

/// A string of a feature section: raw bytes up to the NUL.
impl<'a> Read<'a> for &'a [u8] {
    fn read(bytes: &mut Bytes<'a>, what: &'static str) -> Result<Self> {
        bytes.string(what)
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for &[u8] {
    fn write(&self, out: &mut Encoder) {
        out.string(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::ByteOrder;

    #[test]
    fn list_has_its_number_of_entries() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9];
        let mut bytes = Bytes::new(&bytes, ByteOrder::Little, 0);
        let list = List::<u64>::take(&mut bytes, 2, "ids").unwrap();
        assert_eq!(bytes.rest(), [9]);
        for list in [list, List::from(&[1, 2][..])] {
            assert_eq!(list.len(), 2);
            assert!(!list.is_empty());
            assert!(list.iter().eq([1, 2]));
            let mut iter = list.iter();
            iter.next();
            assert_eq!(iter.len(), 1);
            assert_eq!(std::format!("{list:?} {iter:?}"), "[1, 2] [2]");
        }
        assert!(List::<u64>::take(&mut bytes, 0, "ids").unwrap().is_empty());
        assert!(list != List::from(&[1, 3][..]));
    }

    #[test]
    fn count_past_the_end_is_refused_without_an_allocation() {
        let bytes = [0; 8];
        let refused = List::<u64>::take(&mut Bytes::new(&bytes, ByteOrder::Little, 0), u64::MAX, "ids");
        assert_eq!(std::format!("{}", refused.unwrap_err()), "offset 0x8: ids: expected 1 bytes, found 0");
    }
}
