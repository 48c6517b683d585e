use core::marker::PhantomData;

use perf_abi::SampleType;
use perf_abi::regs::RegsAbi;

use super::Fault;
use super::walk::{Assume, BranchParts};
use crate::read_shape::ReadShape;
use crate::slot::Slot;
use crate::{SampleLayout, word};

/// Words of a record and how far the walk has come. `at` never passes the end.
pub(super) struct Cursor<'a, F> {
    words: &'a [u64],
    at: usize,
    fault: PhantomData<F>,
}

impl<'a, F: Fault> Cursor<'a, F> {
    #[inline(always)]
    pub(super) fn new(words: &'a [u64], at: usize) -> Self {
        Self { words, at, fault: PhantomData }
    }

    #[inline(always)]
    pub(super) fn here(&self) -> Slot {
        Slot::at(self.at)
    }

    /// The result of a walk that has seen all parts, if they are all of the record.
    #[inline(always)]
    pub(super) fn end<T>(&self, walked: T) -> Result<T, F> {
        match self.left() {
            0 => Ok(walked),
            left => Err(F::surplus(left)),
        }
    }

    #[inline(always)]
    fn left(&self) -> u64 {
        (self.words.len() - self.at) as u64
    }

    #[inline(always)]
    pub(super) fn word(&mut self, field: &'static str) -> Result<u64, F> {
        let word = *self.words.get(self.at).ok_or_else(|| F::truncated(field, 1, 0))?;
        self.at += 1;
        Ok(word)
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, words: u64, field: &'static str) -> Result<(), F> {
        if words > self.left() {
            return Err(F::truncated(field, words, self.left()));
        }
        self.at += words as usize;
        Ok(())
    }

    /// Skips `size` bytes, which the kernel always makes whole words.
    #[inline(always)]
    pub(super) fn bytes(&mut self, size: u64, field: &'static str) -> Result<(), F> {
        if size % 8 != 0 {
            return Err(F::invalid(field, size));
        }
        self.skip(size / 8, field)
    }

    #[inline(always)]
    pub(super) fn read(&mut self, shape: ReadShape) -> Result<(), F> {
        let Some(&first) = self.words.get(self.at) else {
            return Err(F::truncated("read", shape.words(0), 0));
        };
        // A group's count is not trusted, but one that is no greater than the words left overflows nothing.
        let entries = shape.entries(first);
        if entries > self.left() {
            return Err(F::truncated("read", shape.words(first), self.left()));
        }
        self.skip(entries * u64::from(shape.entry.get()) + u64::from(shape.before), "read")
    }

    /// The size comes in half a word, and with that half makes whole words: it includes its padding.
    #[inline(always)]
    pub(super) fn raw(&mut self) -> Result<(), F> {
        let word = *self.words.get(self.at).ok_or_else(|| F::truncated("raw", 1, 0))?;
        let [size, _] = word::halves(word);
        let whole = u64::from(size) + 4;
        if whole % 8 != 0 {
            return Err(F::invalid("raw", u64::from(size)));
        }
        self.skip(whole / 8, "raw")
    }

    /// `nr`, `hw_idx` if the kernel had a branch stack at all, entries of three words, and one word of
    /// counters per entry if any event of the group asked for them.
    #[inline(always)]
    pub(super) fn branches(&mut self, layout: &SampleLayout, assume: Assume) -> Result<BranchParts, F> {
        let nr = self.word("branch_stack")?;
        let mut parts = BranchParts { hw_index: layout.branch_hw_index, counters: layout.branch_counters };
        if assume == Assume::Other {
            match nr {
                0 => parts.hw_index = false,
                _ => parts.counters = !parts.counters,
            }
        }
        let entry = 3 + u64::from(parts.counters);
        self.skip(u64::from(parts.hw_index), "branch_stack")?;
        self.skip(nr.saturating_mul(entry), "branch_stack")?;
        Ok(parts)
    }

    /// The ABI word, then one word per sampled register unless it says that there are none. Returns
    /// whether there are.
    #[inline(always)]
    pub(super) fn regs(&mut self, words: u8, field: &'static str) -> Result<bool, F> {
        let abi = RegsAbi(self.word(field)?);
        match abi {
            RegsAbi::NONE => Ok(false),
            RegsAbi::ABI_32 | RegsAbi::ABI_64 => self.skip(u64::from(words), field).map(|()| true),
            RegsAbi(value) => Err(F::invalid(field, value)),
        }
    }

    /// The size, that many bytes, and how many of them are valid. Of an empty stack only the size, but
    /// for one defect: where the task has user registers the kernel still writes the second word, into
    /// room that it did not reserve, so the sample's last word is lost.
    #[inline(always)]
    pub(super) fn stack(&mut self, user_regs: bool) -> Result<(), F> {
        match self.word("stack_user")? {
            0 if user_regs => self.skip(self.left().min(1), "stack_user"),
            0 => Ok(()),
            size => {
                self.bytes(size, "stack_user")?;
                self.skip(1, "stack_user")
            }
        }
    }

    /// `count` words that the fields of `order` have in this event.
    #[inline(always)]
    pub(super) fn fixed<const N: usize>(
        &mut self,
        order: &[(SampleType, &'static str); N],
        count: u8,
        wanted: SampleType,
    ) -> Result<(), F> {
        if u64::from(count) > self.left() {
            return Err(F::missing(order, wanted, self.left()));
        }
        self.at += usize::from(count);
        Ok(())
    }
}
