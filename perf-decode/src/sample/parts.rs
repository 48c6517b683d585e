//! The accessors of the parts after the head, each found from the nearest stored offset.

use perf_abi::mem::DataSource;
use perf_abi::regs::RegsAbi;
use perf_abi::{SampleType, Transaction, Weight};

use super::branches::BranchParts;
use super::walk::BranchLayout;
use super::{Branches, Callchain, Regs, Sample, UserStack};
use crate::fixed::accessors;
use crate::layout::Layout;
use crate::read::ReadValues;
use crate::schema::words::{ADDR, MEM};
use crate::word;
use crate::word_index::WordIndex;

impl<'a, L: Layout> Sample<'a, L> {
    /// Returns whether the event records the fields of `bit`.
    #[inline(always)]
    fn has(&self, bit: SampleType) -> bool {
        self.layout.sample_layout().sample_type().intersects(bit)
    }

    /// Returns the counts of the event, or of its group, at the time of the sample.
    #[inline]
    pub fn read(&self) -> Option<ReadValues<'a>> {
        if !self.has(SampleType::READ) {
            return None;
        }
        let layout = self.layout.sample_layout();
        let block = self.words.get(usize::from(layout.head_words)..self.offsets.after_read())?;
        Some(ReadValues::validated(block, layout.read))
    }

    /// Returns the addresses that led to the sample, innermost first.
    #[inline]
    pub fn callchain(&self) -> Option<Callchain<'a>> {
        if !self.has(SampleType::CALLCHAIN) {
            return None;
        }
        let (start, end) = (self.offsets.after_read(), self.offsets.after_callchain());
        // The first word is the number of addresses.
        self.words.get(start + 1..end).map(Callchain::from_words)
    }

    /// Returns the raw data: the payload of a tracepoint, or the output of a BPF program.
    ///
    /// The length includes up to 7 bytes of padding that the kernel does not clear. The record does
    /// not hold their number. The bytes are 4-aligned, because they start in the middle of a word.
    #[inline]
    pub fn raw(&self) -> Option<&'a [u8]> {
        if !self.has(SampleType::RAW) {
            return None;
        }
        let (start, end) = (self.offsets.after_callchain(), self.offsets.after_raw());
        // The first 4 bytes are the size.
        word::bytes(self.words.get(start..end)?).get(4..)
    }

    /// Returns the branches that led to the sample, newest first (since Linux 3.4).
    #[inline]
    pub fn branches(&self) -> Option<Branches<'a>> {
        if !self.has(SampleType::BRANCH_STACK) {
            return None;
        }
        let words = self.words.get(self.offsets.after_raw()..)?;
        Some(Branches::new(words, self.layout.sample_layout(), self.offsets.branches()))
    }

    /// Returns the registers of user space at the entry into the kernel (since Linux 3.7). `None`
    /// also if the task had none, as kernel threads ([`RegsAbi::NONE`]), so that every register of
    /// the event's mask is in the result.
    #[inline]
    pub fn regs_user(&self) -> Option<Regs<'a>> {
        self.regs_user_field().filter(Regs::is_recorded)
    }

    /// Returns the field, which is present even without registers.
    #[inline(always)]
    pub(super) fn regs_user_field(&self) -> Option<Regs<'a>> {
        if !self.has(SampleType::REGS_USER) {
            return None;
        }
        let words = self.words.get(self.after_branches()..)?;
        Some(Regs::validated(words, self.layout.sample_layout().regs_user()))
    }

    /// Returns the user stack from the stack pointer upwards (since Linux 3.7). Without bytes if
    /// the task had none.
    #[inline]
    pub fn stack_user(&self) -> Option<UserStack<'a>> {
        if !self.has(SampleType::STACK_USER) {
            return None;
        }
        let mut start = self.after_branches();
        if self.has(SampleType::REGS_USER) {
            start = self.after_regs(start, self.layout.sample_layout().regs_user_words);
        }
        UserStack::new(self.words.get(start..self.offsets.mem())?)
    }

    /// Returns the registers at the interrupt, of the kernel or of user space (since Linux 3.19).
    /// `None` also if the kernel had none.
    #[inline]
    pub fn regs_intr(&self) -> Option<Regs<'a>> {
        self.regs_intr_field().filter(Regs::is_recorded)
    }

    /// Returns the field, which is present even without registers.
    #[inline(always)]
    pub(super) fn regs_intr_field(&self) -> Option<Regs<'a>> {
        if !self.has(SampleType::REGS_INTR) {
            return None;
        }
        // None if the last word is one that the kernel lost.
        let words = self.words.get(self.after_mem()..)?;
        Regs::from_words(words, self.layout.sample_layout().regs_intr())
    }

    /// Returns a piece of the AUX area, padded with zeros to whole words (since Linux 5.5).
    #[inline]
    pub fn aux(&self) -> Option<&'a [u8]> {
        if !self.has(SampleType::AUX) {
            return None;
        }
        let start = self.after_intr() + usize::from(self.layout.sample_layout().addr_words);
        let (&size, rest) = self.words.get(start..)?.split_first()?;
        word::bytes(rest).get(..size as usize)
    }

    /// Returns the word index after the branch stack, the start of the user registers.
    #[inline(always)]
    fn after_branches(&self) -> usize {
        let start = self.offsets.after_raw();
        if !self.has(SampleType::BRANCH_STACK) {
            return start;
        }
        let nr = self.words.get(start).copied().unwrap_or(0);
        // The walk has checked that the stack fits into the record, so the sum cannot overflow.
        let parts = BranchParts::new(self.layout.sample_layout(), self.offsets.branches(), nr);
        start + 1 + usize::from(parts.hw_index) + (nr * parts.words_per_branch()) as usize
    }

    /// Returns the word index after registers that start at `start`.
    #[inline(always)]
    fn after_regs(&self, start: usize, words: u8) -> usize {
        let abi = RegsAbi(self.words.get(start).copied().unwrap_or(0));
        start + 1 + if abi == RegsAbi::NONE { 0 } else { usize::from(words) }
    }

    /// Returns the word index after the run of [`MEM`], the start of the interrupt registers.
    #[inline(always)]
    fn after_mem(&self) -> usize {
        self.offsets.mem() + usize::from(self.layout.sample_layout().mem_words)
    }

    /// Returns the word index after the interrupt registers, the start of the run of [`ADDR`].
    #[inline(always)]
    fn after_intr(&self) -> usize {
        let start = self.after_mem();
        if self.has(SampleType::REGS_INTR) {
            self.after_regs(start, self.layout.sample_layout().regs_intr_words)
        } else {
            start
        }
    }

    /// Returns a word of the run of [`MEM`].
    #[inline(always)]
    pub(super) fn mem_word(&self, row: usize) -> Option<u64> {
        let index = *self.layout.sample_layout().mem.get(row)?;
        self.words.get(self.offsets.mem()..).and_then(|run| index.of(run))
    }

    /// Returns a word of the run of [`ADDR`].
    #[inline(always)]
    pub(super) fn addr_word(&self, row: usize) -> Option<u64> {
        let index: WordIndex = *self.layout.sample_layout().addr.get(row)?;
        if index.is_absent() {
            return None;
        }
        self.words.get(self.after_intr()..).and_then(|run| index.of(run))
    }

    /// Returns whether the two layouts of the branch stack differ in this sample.
    pub(super) fn branches_differ(&self) -> bool {
        let nr = self.words.get(self.offsets.after_raw()).copied().unwrap_or(0);
        let layout = self.layout.sample_layout();
        let [attr, opposite] = [BranchLayout::Attr, BranchLayout::Opposite]
            .map(|branches| BranchParts::new(layout, branches, nr));
        attr.hw_index != opposite.hw_index || attr.counters != opposite.counters
    }
}

accessors! { Sample MEM by mem_word:
    /// Returns the cost of the sampled access: one number (since Linux 3.10), or three with
    /// `WEIGHT_STRUCT` (since 5.12).
    weight: Weight,
    /// Returns the source of the sampled access's data (since Linux 3.10).
    data_src: DataSource,
    /// Returns the abort reason of a hardware transaction (since Linux 3.13).
    transaction: Transaction,
}

accessors! { Sample ADDR by addr_word:
    /// Returns the physical address of the data; 0 if unknown (since Linux 4.14).
    phys_addr: u64,
    /// Returns the id of the task's control group: the inode of its directory (since Linux 5.7).
    cgroup: u64,
    /// Returns the size in bytes of the page of the data address; 0 if unknown (since Linux 5.11).
    data_page_size: u64,
    /// Returns the size in bytes of the page of the instruction pointer; 0 if unknown (since Linux
    /// 5.11).
    code_page_size: u64,
}
