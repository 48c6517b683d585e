use crate::RawRecord;

/// The guess that a record is as long as the ones before it.
///
/// Framing is a chain of loads: the position of a header depends on the size in the one before.
/// Comparing the size with a guess makes that dependence a branch, which the CPU predicts, so it
/// fetches the next record before this one's size has arrived (benches `ratios`, workload `fixed`).
///
/// A wrong guess is a misprediction, so a size is guessed only if the next records have it too. They
/// are looked at after a wrong guess, and otherwise once in [`PAUSE`] records, because most streams
/// keep their kind: what is learned at each record costs more than it saves (benches `instructions`,
/// workloads `raw` and `group`).
#[derive(Debug)]
pub(crate) struct Guess {
    /// The size in bytes that is guessed, or [`NONE`].
    size: u64,
    /// The same in words. Not computed from `size`, or the compiler would compute it from the header
    /// that is equal to it.
    words: usize,
    /// Records to frame before the sizes of the next ones are compared again.
    pause: usize,
}

/// No guess: more than any size. Not 0, which a malformed header can have.
const NONE: u64 = u64::MAX;

/// Records of unequal sizes that are framed without comparing them.
const PAUSE: usize = 6;

impl Default for Guess {
    #[inline]
    fn default() -> Self {
        Self { size: NONE, words: 1, pause: 0 }
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

    /// Notes that a record was not guessed; `rest` are the words after it.
    #[inline(always)]
    pub(crate) fn missed(&mut self, rest: &[u64]) {
        if let Some(pause) = self.pause.checked_sub(1) {
            self.pause = pause;
            return;
        }
        // Guesses the size of the next record if the two after it have it too. Not in a function that is
        // not inlined: every loop would keep its state in memory for the call.
        let size = |index: usize| rest.get(index).map(|&first| RawRecord::size_of(first));
        let next = size(0).unwrap_or(0);
        let words = next as usize / 8;
        let is_equal = words != 0 && next % 8 == 0 && [words, 2 * words].map(size) == [Some(next); 2];
        (self.size, self.words, self.pause) = if is_equal { (next, words, 0) } else { (NONE, 1, PAUSE) };
    }
}

/// Words between a record and the word that is read ahead: 512 bytes, some records.
const AHEAD: usize = 64;

/// Reads a word some records ahead, as a prefetch: the framing of records that vary in size is a
/// chain of loads, which the CPU cannot start early on cold memory (benches `ratios`, workloads
/// `callchain` and `side-band` with `--large`).
// The comparison keeps the load, as two instructions; `black_box` of the value would be three.
#[inline(always)]
pub(crate) fn read_ahead(words: &[u64]) {
    if words.get(AHEAD) == Some(&u64::MAX) {
        unlikely();
    }
}

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

    /// Frames records of these sizes in words, and returns which were guessed.
    fn guessed(sizes: &[usize]) -> Vec<bool> {
        let records: Vec<u64> = sizes.iter().flat_map(|&words| record(words)).collect();
        let (mut guess, mut rest) = (Guess::default(), &records[..]);
        let frame = |&words: &usize| {
            let framed = guess.frame(rest).map(|(framed, _)| framed);
            let (first, after) = rest.split_at(words);
            rest = after;
            match framed {
                Some(framed) => assert_eq!(framed, RawRecord::from_words(first).unwrap()),
                None => guess.missed(rest),
            }
            framed.is_some()
        };
        sizes.iter().map(frame).collect()
    }

    fn record(words: usize) -> Vec<u64> {
        RecordBuilder::new(RecordType(99), Misc::empty()).words(&vec![0; words - 1]).finish()
    }

    #[test]
    fn size_is_guessed_if_the_next_three_records_have_it() {
        assert_eq!(guessed(&[3; 5]), [false, true, true, true, true]);
        assert_eq!(guessed(&[5, 3, 3, 3]), [false, true, true, true]);
        assert_eq!(guessed(&[5, 3, 3]), [false; 3]);
        assert_eq!(guessed(&[5, 3, 3, 4]), [false; 4]);
        assert_eq!(guessed(&[5, 3, 4, 3]), [false; 4]);
    }

    #[test]
    fn other_size_is_framed_without_the_guess_which_then_is_made_anew() {
        let expected = [false, true, true, true, false, true, true, true, true];
        assert_eq!(guessed(&[3, 3, 3, 3, 5, 4, 4, 4, 4]), expected);
    }

    #[test]
    fn unequal_sizes_are_not_compared_for_six_records() {
        let sizes = [&[3, 5, 3][..], &[4; 20]].concat();
        let guessed = guessed(&sizes);
        // The first record compares those after it, and the seventh after it does again.
        assert_eq!(guessed.iter().position(|guessed| *guessed), Some(8));
        assert!(guessed[8..].iter().all(|guessed| *guessed));
    }

    #[test]
    fn size_of_zero_is_never_guessed() {
        for words in [[0; 8], [1, 0, 0, 0, 0, 0, 0, 0]] {
            let mut guess = Guess::default();
            assert!(guess.frame(&words).is_none());
            guess.missed(&words);
            assert!(guess.frame(&words).is_none());
        }
    }

    #[test]
    fn guess_beyond_the_window_is_not_a_record() {
        let mut guess = Guess::default();
        guess.missed(&[record(3), record(3), record(3)].concat());
        assert!(guess.frame(&record(3)).is_some());
        assert!(guess.frame(&record(3)[..2]).is_none());
        assert!(guess.frame(&[]).is_none());
    }
}
