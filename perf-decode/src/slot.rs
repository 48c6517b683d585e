/// The index of a field's word, counted from where its run of words starts.
///
/// A field that the event lacks has an index that no record reaches, so that one bounds check tells
/// both: whether the event has the field, and whether the record does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u16);

impl Slot {
    /// A record has at most 8191 words.
    pub(crate) const ABSENT: Self = Self(u16::MAX);

    /// The slot with this index, which is below the 8191 words of the longest record.
    #[inline(always)]
    pub(crate) const fn at(index: usize) -> Self {
        Self(index as u16)
    }

    /// The index.
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether the event lacks the field.
    pub(crate) const fn is_absent(self) -> bool {
        self.0 == Self::ABSENT.0
    }

    /// This slot, or `other` if the event lacks the field.
    pub(crate) const fn or(self, other: Self) -> Self {
        if self.is_absent() { other } else { self }
    }

    /// The word of the field in its run of words.
    #[inline(always)]
    pub(crate) fn get(self, words: &[u64]) -> Option<u64> {
        words.get(self.index()).copied()
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::ABSENT
    }
}
