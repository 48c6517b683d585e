use crate::RawRecord;

/// The guess that a record is as long as the ones before it.
///
/// Framing is a chain of loads: the place of a header depends on the size in the one before. A guess
/// that is compared with the size makes that dependence a branch, which the CPU predicts, so the next
/// record is fetched before this one's size has arrived (benches `shapes`).
///
/// Sizes that vary would be mispredicted, so a guess is made only after several equal ones.
#[derive(Debug)]
pub(crate) struct Guess {
    /// The size in bytes that is guessed; no record has 0.
    size: u64,
    /// The same in words. Not computed from `size`, or the compiler would compute it from the header
    /// that is equal to it.
    words: usize,
    /// Words of the last record.
    last: usize,
    /// How many records before the last one had the same size.
    equal: usize,
}

/// Equal sizes in a row before the next one is guessed.
const EQUAL: usize = 4;

impl Default for Guess {
    #[inline]
    fn default() -> Self {
        Self { size: 0, words: 1, last: 0, equal: 0 }
    }
}

impl Guess {
    /// Frames the first record of `words` if it has the guessed size.
    #[inline(always)]
    pub(crate) fn frame<'a>(&self, words: &'a [u64]) -> Option<(RawRecord<'a>, &'a [u64])> {
        let &first = words.first()?;
        if RawRecord::size_of(first) != self.size {
            return None;
        }
        let (record, rest) = words.split_at_checked(self.words)?;
        Some((RawRecord::framed(first, record), rest))
    }

    /// Notes the length of a record that was not guessed.
    #[inline(always)]
    pub(crate) fn learn(&mut self, words: usize) {
        self.equal = if words == self.last { self.equal + 1 } else { 0 };
        self.last = words;
        self.size = 0;
        if self.equal >= EQUAL {
            self.size = words as u64 * 8;
            self.words = words;
        }
    }
}
