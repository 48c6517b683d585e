/// The guess that a record of a ring buffer is as long as the ones before it.
///
/// The position of a header depends on the length in the one before, a chain of loads. Comparing the
/// header with a guess makes that dependence a branch, which the CPU predicts, so it fetches the next
/// record before this one's length has arrived (benches `bpf`). A wrong guess is a misprediction, so a
/// length is guessed only after several equal ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct LengthGuess {
    /// The header that is guessed, without flags, or [`NONE`].
    header: u64,
    /// Bytes from that header to the next one. Not computed from `header`, or the compiler would compute
    /// it from the header that is equal to it.
    record: u64,
    /// The last header.
    last: u32,
    /// Number of records before the last one that had the same header.
    equal: u32,
}

/// No guess: more than any header.
const NONE: u64 = u64::MAX;

/// Equal headers in a row before the next one is guessed.
const EQUAL: u32 = 4;

impl LengthGuess {
    #[inline]
    pub(super) const fn new() -> Self {
        Self { header: NONE, record: 0, last: 0, equal: 0 }
    }

    /// Returns the `record` with which `header` was [learned](Self::learn), if it is guessed.
    #[inline(always)]
    pub(super) fn record(&self, header: u32) -> Option<u64> {
        (u64::from(header) == self.header).then_some(self.record)
    }

    /// Notes a header without flags that was not guessed, and the bytes to the next one.
    #[inline(always)]
    pub(super) fn learn(&mut self, header: u32, record: u64) {
        self.equal = if header == self.last { self.equal + 1 } else { 0 };
        self.last = header;
        self.header = NONE;
        if self.equal >= EQUAL {
            self.header = u64::from(header);
            self.record = record;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which of these headers are guessed.
    fn guessed(headers: &[u32]) -> Vec<bool> {
        let mut guess = LengthGuess::new();
        let is_guessed = |&header: &u32| {
            let record = u64::from(header) + 8;
            let found = guess.record(header);
            assert!(found.is_none_or(|found| found == record));
            if found.is_none() {
                guess.learn(header, record);
            }
            found.is_some()
        };
        headers.iter().map(is_guessed).collect()
    }

    #[test]
    fn length_is_guessed_after_five_equal_ones() {
        assert_eq!(guessed(&[16; 7]), [false, false, false, false, false, true, true]);
    }

    #[test]
    fn another_length_ends_the_guess_until_five_are_equal_again() {
        let headers = [8, 8, 8, 8, 8, 8, 24, 8, 8, 8, 8, 8, 8];
        let mut expected = [false; 13];
        (expected[5], expected[12]) = (true, true);
        assert_eq!(guessed(&headers), expected);
    }
}
