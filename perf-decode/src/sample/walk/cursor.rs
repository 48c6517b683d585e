//! A position in the words of a sample.

use core::marker::PhantomData;

use perf_abi::SampleType;
use perf_abi::regs::RegsAbi;

use super::{BranchLayout, WalkError};
use crate::layout::SampleLayout;
use crate::read_layout::ReadLayout;
use crate::sample::branches::BranchParts;
use crate::schema::Word;
use crate::word;

/// A position in the words of a record. `at` passes their end by `lost` words at most.
pub(super) struct Cursor<'a, E> {
    words: &'a [u64],
    at: usize,
    /// Words after the end that belong to the sample: 1 after an empty stack with the kernel's
    /// extra word.
    lost: usize,
    error: PhantomData<E>,
}

impl<'a, E: WalkError> Cursor<'a, E> {
    /// Starts at a word that is in the record or just after it.
    #[inline(always)]
    pub(super) fn new(words: &'a [u64], at: usize) -> Self {
        Self { words, at, lost: 0, error: PhantomData }
    }

    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn left(&self) -> u64 {
        (self.words.len() + self.lost - self.at) as u64
    }

    /// Returns a count, a size or an ABI. One that is the lost word has nothing after it, so it is
    /// 0.
    #[inline(always)]
    fn word(&mut self, field: &'static str) -> Result<u64, E> {
        let word = match self.words.get(self.at) {
            Some(&word) => word,
            None if self.left() > 0 => 0,
            None => return Err(E::truncated(field, 1, 0)),
        };
        self.at += 1;
        Ok(word)
    }

    #[inline(always)]
    fn skip(&mut self, words: u64, field: &'static str) -> Result<(), E> {
        if words > self.left() {
            return Err(E::truncated(field, words, self.left()));
        }
        self.at += words as usize;
        Ok(())
    }

    /// Skips a count and that many words.
    #[inline(always)]
    pub(super) fn counted(&mut self, field: &'static str) -> Result<(), E> {
        let nr = self.word(field)?;
        self.skip(nr, field)
    }

    /// Skips a size and that many bytes, which the kernel always makes a multiple of 8.
    #[inline(always)]
    pub(super) fn sized(&mut self, field: &'static str) -> Result<(), E> {
        let size = self.word(field)?;
        self.bytes(size, field)
    }

    #[inline(always)]
    fn bytes(&mut self, size: u64, field: &'static str) -> Result<(), E> {
        if size % 8 != 0 {
            return Err(E::invalid(field, size));
        }
        self.skip(size / 8, field)
    }

    #[inline(always)]
    pub(super) fn read(&mut self, layout: ReadLayout) -> Result<(), E> {
        let Some(&first) = self.words.get(self.at) else {
            return Err(E::truncated("read", layout.words(0), 0));
        };
        // A group's count is not trusted. A count that is no greater than the words left cannot
        // overflow.
        let entries = layout.entries(first);
        if entries > self.left() {
            return Err(E::truncated("read", layout.words(first), self.left()));
        }
        self.skip(entries * u64::from(layout.entry.get()) + u64::from(layout.before), "read")
    }

    /// Skips raw data. Its size is half a word, and both together are a multiple of 8 bytes.
    #[inline(always)]
    pub(super) fn raw(&mut self) -> Result<(), E> {
        let word = *self.words.get(self.at).ok_or_else(|| E::truncated("raw", 1, 0))?;
        let [size, _] = word::halves(word);
        let whole = u64::from(size) + 4;
        if whole % 8 != 0 {
            return Err(E::invalid("raw", u64::from(size)));
        }
        self.skip(whole / 8, "raw")
    }

    /// Skips `nr`, the words that the parts name, and `nr` entries of three words.
    #[inline(always)]
    pub(super) fn branches(&mut self, layout: &SampleLayout, branches: BranchLayout) -> Result<(), E> {
        let nr = self.word("branch_stack")?;
        let parts = BranchParts::new(layout, branches, nr);
        self.skip(u64::from(parts.hw_index), "branch_stack")?;
        self.skip(nr.saturating_mul(parts.words_per_branch()), "branch_stack")
    }

    /// Skips the ABI word and, unless the ABI is 0, one word per sampled register. Returns whether
    /// there are registers.
    #[inline(always)]
    pub(super) fn regs(&mut self, words: u8, field: &'static str) -> Result<bool, E> {
        let abi = RegsAbi(self.word(field)?);
        match abi {
            RegsAbi::NONE => Ok(false),
            RegsAbi::ABI_32 | RegsAbi::ABI_64 => self.skip(u64::from(words), field).map(|()| true),
            RegsAbi(value) => Err(E::invalid(field, value)),
        }
    }

    /// Skips the size, that many bytes, and the number of valid ones. An empty stack has the size
    /// only, except for one kernel fault: if the task has user registers, the kernel also writes
    /// the number, 0, but does not reserve space for it, so the last word of the sample is lost.
    #[inline(always)]
    pub(super) fn stack(&mut self, user_regs: bool, is_last: bool) -> Result<(), E> {
        match self.word("stack_user")? {
            0 if user_regs && self.words.get(self.at) == Some(&0) => {
                self.at += 1;
                // If the sample ends with the stack, the extra word itself is lost.
                self.lost = usize::from(!is_last);
                Ok(())
            }
            0 => Ok(()),
            size => {
                self.bytes(size, "stack_user")?;
                self.skip(1, "stack_user")
            }
        }
    }

    /// Skips the `count` words that the fields of `order` have in this event.
    #[inline(always)]
    pub(super) fn fixed<const N: usize>(
        &mut self,
        order: &[Word; N],
        count: u8,
        wanted: SampleType,
    ) -> Result<(), E> {
        if u64::from(count) > self.left() {
            return Err(E::missing(order, wanted, self.left()));
        }
        self.at += usize::from(count);
        Ok(())
    }
}
