//! Indices of words in a record.

/// Index of a field's word, counted from the start of its run of words.
///
/// An absent field has an index beyond any record, so one bounds check covers both an absent field
/// and a record that is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordIndex(u16);

impl WordIndex {
    /// The index of a field that the event does not record. A record has at most 8191 words.
    pub(crate) const ABSENT: Self = Self(u16::MAX);

    /// Returns an index below the 8191 words of the longest record.
    #[inline(always)]
    pub(crate) const fn new(index: usize) -> Self {
        Self(index as u16)
    }

    /// Returns the index as a number.
    #[inline(always)]
    pub(crate) const fn get(self) -> usize {
        self.0 as usize
    }

    /// Returns whether the event does not record the field.
    pub(crate) const fn is_absent(self) -> bool {
        self.0 == Self::ABSENT.0
    }

    /// Returns the word of the field in its run of words.
    #[inline(always)]
    pub(crate) fn of(self, words: &[u64]) -> Option<u64> {
        words.get(self.get()).copied()
    }
}
