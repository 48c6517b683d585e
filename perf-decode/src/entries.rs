//! Slices of entries that are decoded when they are read.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::slice;

use zerocopy::{FromBytes, IntoBytes};

/// Entries of `N` words each, as in a slice, but each entry is a value that is made when it is
/// read.
///
/// ```
/// use perf_abi::NamespaceLink;
/// use perf_decode::Entries;
///
/// let links: Entries<'_, NamespaceLink, 2> = Entries::new(&[[4, 100], [4, 101]]);
/// assert_eq!((links.len(), links.get(1).map(|link| link.inode)), (2, Some(101)));
/// for link in links {
///     assert_eq!(link.dev, 4);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entries<'a, E, const N: usize> {
    words: &'a [[u64; N]],
    entry: PhantomData<E>,
}

impl<'a, E: From<[u64; N]>, const N: usize> Entries<'a, E, N> {
    /// Views the words of entries.
    #[inline]
    #[must_use]
    pub const fn new(words: &'a [[u64; N]]) -> Self {
        Self { words, entry: PhantomData }
    }

    /// Views the first `nr` entries of `words`; none if there are fewer.
    #[inline]
    pub(crate) fn prefix(words: &'a [u64], nr: usize) -> Self {
        // A bound on the count and not a checked product, so that LLVM knows the length to be a
        // multiple of N and drops the division of the cast: 12 instructions per branch stack by
        // callgrind.
        let bounded = nr <= const { usize::MAX / size_of::<[u64; N]>() };
        let words = if bounded { words.get(..nr * N) } else { None };
        Self::new(words.and_then(|words| <[[u64; N]]>::ref_from_bytes(words.as_bytes()).ok()).unwrap_or(&[]))
    }

    /// Returns the words of the entries.
    #[inline]
    #[must_use]
    pub const fn words(self) -> &'a [[u64; N]] {
        self.words
    }

    /// Returns the number of entries.
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        self.words.len()
    }

    /// Returns true for an empty slice.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// Returns the entry at `index`, counted from 0.
    #[inline]
    #[must_use]
    pub fn get(self, index: usize) -> Option<E> {
        self.words.get(index).map(|words| E::from(*words))
    }

    /// Returns the entries in the order of the record.
    #[inline]
    #[must_use]
    pub fn iter(self) -> EntriesIter<'a, E, N> {
        EntriesIter { words: self.words.iter(), entry: PhantomData }
    }
}

impl<'a, E: From<[u64; N]>, const N: usize> IntoIterator for Entries<'a, E, N> {
    type Item = E;
    type IntoIter = EntriesIter<'a, E, N>;

    #[inline]
    fn into_iter(self) -> EntriesIter<'a, E, N> {
        self.iter()
    }
}

impl<'a, E: From<[u64; N]>, const N: usize> IntoIterator for &Entries<'a, E, N> {
    type Item = E;
    type IntoIter = EntriesIter<'a, E, N>;

    #[inline]
    fn into_iter(self) -> EntriesIter<'a, E, N> {
        EntriesIter { words: self.words.iter(), entry: PhantomData }
    }
}

impl<E: From<[u64; N]> + core::fmt::Debug, const N: usize> core::fmt::Debug for Entries<'_, E, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// Iterator over the entries of an [`Entries`].
#[derive(Clone, Debug)]
pub struct EntriesIter<'a, E, const N: usize> {
    words: slice::Iter<'a, [u64; N]>,
    entry: PhantomData<E>,
}

impl<E: From<[u64; N]>, const N: usize> Iterator for EntriesIter<'_, E, N> {
    type Item = E;

    #[inline]
    fn next(&mut self) -> Option<E> {
        self.words.next().map(|words| E::from(*words))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.words.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<E> {
        self.words.nth(n).map(|words| E::from(*words))
    }
}

impl<E: From<[u64; N]>, const N: usize> DoubleEndedIterator for EntriesIter<'_, E, N> {
    #[inline]
    fn next_back(&mut self) -> Option<E> {
        self.words.next_back().map(|words| E::from(*words))
    }
}

impl<E: From<[u64; N]>, const N: usize> ExactSizeIterator for EntriesIter<'_, E, N> {}

impl<E: From<[u64; N]>, const N: usize> FusedIterator for EntriesIter<'_, E, N> {}

#[cfg(test)]
mod tests {
    use perf_abi::NamespaceLink;
    use std::format;
    use std::vec::Vec;

    use super::*;

    const WORDS: [[u64; 2]; 3] = [[1, 10], [2, 20], [3, 30]];

    fn entries() -> Entries<'static, NamespaceLink, 2> {
        Entries::new(&WORDS)
    }

    #[test]
    fn entry_is_found_by_its_index() {
        assert_eq!(entries().get(1), Some(NamespaceLink { dev: 2, inode: 20 }));
        assert_eq!(entries().get(3), None);
        assert_eq!((entries().len(), entries().is_empty()), (3, false));
    }

    #[test]
    fn entries_are_read_from_both_ends() {
        let devices =
            |links: EntriesIter<'_, NamespaceLink, 2>| links.map(|link| link.dev).collect::<Vec<_>>();
        assert_eq!(devices(entries().iter()), [1, 2, 3]);
        assert!(entries().iter().rev().map(|link| link.dev).eq([3, 2, 1]));
        let mut rest = entries().into_iter();
        assert_eq!(rest.nth(1).map(|link| link.inode), Some(20));
        assert_eq!((rest.len(), devices(rest)), (1, Vec::from([3])));
    }

    #[test]
    fn count_beyond_the_words_has_no_entries() {
        let words = WORDS.as_flattened();
        assert_eq!(Entries::<NamespaceLink, 2>::prefix(words, 3), entries());
        for nr in [4, usize::MAX / 16, usize::MAX / 16 + 2, usize::MAX] {
            assert!(Entries::<NamespaceLink, 2>::prefix(words, nr).is_empty(), "{nr}");
        }
    }

    #[test]
    fn debug_form_is_that_of_a_slice() {
        let links: Vec<_> = entries().iter().collect();
        assert_eq!(format!("{:?}", entries()), format!("{links:?}"));
    }
}
