use crate::RawRecord;

/// The guess that a record is as long as the ones before it.
///
/// Framing is a chain of loads: the position of a header depends on the size in the one before.
/// Comparing the size with a guess makes that dependence a branch, which the CPU predicts, so it
/// fetches the next record before this one's size has arrived (benches `ratios`, workload `fixed`).
///
/// A wrong guess is a misprediction, so a size is guessed only after several equal ones.
#[derive(Debug)]
pub(crate) struct Guess {
    /// The size in bytes that is guessed, or [`NONE`].
    size: u64,
    /// The same in words. Not computed from `size`, or the compiler would compute it from the header
    /// that is equal to it.
    words: usize,
    /// Words of the last record.
    last: usize,
    /// Number of records before the last one that had the same size.
    equal: usize,
}

/// No guess: more than any size. Not 0, which a malformed header can have.
const NONE: u64 = u64::MAX;

/// Equal sizes in a row before the next one is guessed.
const EQUAL: usize = 4;

impl Default for Guess {
    #[inline]
    fn default() -> Self {
        Self { size: NONE, words: 1, last: 0, equal: 0 }
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
        self.size = NONE;
        if self.equal >= EQUAL {
            self.size = words as u64 * 8;
            self.words = words;
        }
    }
}

/// Words between a record and the word that is read ahead: 512 bytes, some records.
const AHEAD: usize = 64;

/// Reads a word some records ahead, as a prefetch: the framing of records that vary in size is a
/// chain of loads, which the CPU cannot start early on cold memory (benches `ratios`, workloads
/// `callchain` and `side-band` with `--large`).
// `black_box` keeps the load, whose value nothing uses.
#[inline(always)]
pub(crate) fn read_ahead(words: &[u64]) {
    if let Some(&ahead) = words.get(AHEAD) {
        core::hint::black_box(ahead);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::builder::RecordBuilder;
    use perf_abi::{Misc, RecordType};
    use std::vec;
    use std::vec::Vec;

    /// Frames records of these sizes in words, and returns which were guessed.
    fn guessed(sizes: &[usize]) -> Vec<bool> {
        let mut guess = Guess::default();
        let frame = |&words: &usize| {
            let record =
                RecordBuilder::new(RecordType(99), Misc::empty()).words(&vec![0; words - 1]).finish();
            let raw = RawRecord::from_words(&record).unwrap();
            let framed = guess.frame(&record).is_some_and(|(framed, rest)| framed == raw && rest.is_empty());
            if !framed {
                guess.learn(words);
            }
            framed
        };
        sizes.iter().map(frame).collect()
    }

    #[test]
    fn size_is_guessed_after_five_equal_ones() {
        assert_eq!(guessed(&[3; 7]), [false, false, false, false, false, true, true]);
    }

    #[test]
    fn another_size_ends_the_guess_until_five_are_equal_again() {
        let sizes = [3, 3, 3, 3, 3, 3, 5, 3, 3, 3, 3, 3, 3];
        let mut expected = [false; 13];
        (expected[5], expected[12]) = (true, true);
        assert_eq!(guessed(&sizes), expected);
    }

    #[test]
    fn size_of_zero_is_never_guessed() {
        let mut guess = Guess::default();
        assert!(guess.frame(&[0, 0]).is_none());
        guess.learn(3);
        assert!(guess.frame(&[0, 0]).is_none());
    }

    #[test]
    fn guess_beyond_the_window_is_not_a_record() {
        let mut guess = Guess::default();
        let record = RecordBuilder::new(RecordType(99), Misc::empty()).words(&[1, 2]).finish();
        (0..5).for_each(|_| guess.learn(3));
        assert!(guess.frame(&record).is_some());
        assert!(guess.frame(&record[..2]).is_none());
        assert!(guess.frame(&[]).is_none());
    }
}
