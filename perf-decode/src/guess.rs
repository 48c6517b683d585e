//! Framing by guessed sizes.

use crate::raw::RawRecord;

/// The guess that a record is as long as the ones before it.
///
/// Framing is a chain of loads: the position of a header depends on the size in the one before.
/// Comparing the size with a guess makes that dependence a branch, which the CPU predicts, so it
/// fetches the next record before this one's size has arrived (benches `ratios`, workload `fixed`).
///
/// A wrong guess is a misprediction, so a size is guessed only after several equal ones. Only every
/// fourth of the records that were not guessed is compared with the ones before, because comparing
/// each would cost more than the guesses save.
#[derive(Debug)]
pub(crate) struct Guess {
    /// The size in bytes that is guessed, or [`NONE`].
    size: u64,
    /// The same in words. Not computed from `size`, or the compiler would compute it from the
    /// header that is equal to it.
    words: usize,
    /// Records until one is compared.
    wait: u32,
    /// Words of the last record that was compared.
    last: usize,
    /// Number of preceding compared records with the same size.
    equal: u32,
}

/// No guess: more than any size. Not 0, which a malformed header can have.
const NONE: u64 = u64::MAX;

/// After a wrong guess, the size of one record in this number is compared.
const WAIT: u32 = 4;

/// Equal sizes in a row before the next one is guessed.
const EQUAL: u32 = 2;

impl Default for Guess {
    #[inline]
    fn default() -> Self {
        Self { size: NONE, words: 1, wait: 1, last: 0, equal: 0 }
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
        self.wait -= 1;
        if self.wait > 0 {
            return;
        }
        self.wait = WAIT;
        self.equal = if words == self.last { self.equal.saturating_add(1) } else { 0 };
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
// A comparison keeps the load, although nothing uses its value: `black_box` of the value would
// store it, and make the compiler reload its copy of the layout.
#[inline(always)]
pub(crate) fn read_ahead(words: &[u64]) {
    if words.get(AHEAD) == Some(&UNLIKELY) {
        unlikely();
    }
}

/// A word that records seldom hold. It is the extension of 32 bits, so that an instruction can hold
/// it.
const UNLIKELY: u64 = 0xffff_ffff_a35e_54e2;

#[cold]
#[inline(never)]
fn unlikely() {
    core::hint::black_box(());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::builder::RecordBuilder;
    use perf_abi::{Misc, RecordType};
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn word_that_is_read_ahead_has_no_effect() {
        let mut words = [0; AHEAD + 1];
        words[AHEAD] = UNLIKELY;
        let before = words;
        for len in 0..=words.len() {
            read_ahead(&words[..len]);
        }
        assert_eq!(words, before);
    }

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

    /// Records of equal size until the size is guessed.
    const LEARNED: usize = (1 + WAIT * EQUAL) as usize;

    #[test]
    fn size_is_guessed_after_some_equal_ones() {
        let mut expected = [true; LEARNED + 3];
        expected[..LEARNED].fill(false);
        assert_eq!(guessed(&[3; LEARNED + 3]), expected);
    }

    #[test]
    fn guess_ends_when_a_record_that_it_missed_is_compared() {
        let missed = WAIT as usize;
        let sizes = [vec![3; LEARNED], vec![5; missed], vec![3; missed + LEARNED]].concat();
        let mut expected = vec![false; sizes.len()];
        expected[sizes.len() - 1] = true;
        assert_eq!(guessed(&sizes), expected);
        // One other record does not end it.
        let sizes = [vec![3; LEARNED + 1], vec![5], vec![3]].concat();
        assert_eq!(guessed(&sizes)[LEARNED..], [true, false, true]);
    }

    #[test]
    fn sizes_that_differ_are_not_guessed() {
        assert!(!guessed(&[3, 4, 5, 6, 7].repeat(20)).contains(&true));
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
        (0..LEARNED).for_each(|_| guess.learn(3));
        assert!(guess.frame(&record).is_some());
        assert!(guess.frame(&record[..2]).is_none());
        assert!(guess.frame(&[]).is_none());
    }
}
