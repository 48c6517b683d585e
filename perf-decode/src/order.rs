//! The kernel's order of fields, in a sample and in a trailer: nothing else knows it.
//!
//! It is the order of `perf_output_sample()` and `perf_event__output_id_sample()` in
//! `kernel/events/core.c`, which is not the order of the bits of `sample_type`.

use perf_abi::{ReadFormat, RecordType, RegsAbi, SampleType};

use crate::read::block_words;
use crate::{Error, Result, SampleLayout, word};

/// The fixed words that begin a sample.
pub(crate) const HEAD: [(SampleType, &str); 9] = [
    (SampleType::IDENTIFIER, "identifier"),
    (SampleType::IP, "ip"),
    (SampleType::TID, "tid"),
    (SampleType::TIME, "time"),
    (SampleType::ADDR, "addr"),
    (SampleType::ID, "id"),
    (SampleType::STREAM_ID, "stream_id"),
    (SampleType::CPU, "cpu"),
    (SampleType::PERIOD, "period"),
];

/// The fixed words between the user stack and the interrupt registers.
pub(crate) const COST: [(SampleType, &str); 3] = [
    (SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT), "weight"),
    (SampleType::DATA_SRC, "data_src"),
    (SampleType::TRANSACTION, "transaction"),
];

/// The fixed words between the interrupt registers and the AUX data.
pub(crate) const PLACE: [(SampleType, &str); 4] = [
    (SampleType::PHYS_ADDR, "phys_addr"),
    (SampleType::CGROUP, "cgroup"),
    (SampleType::DATA_PAGE_SIZE, "data_page_size"),
    (SampleType::CODE_PAGE_SIZE, "code_page_size"),
];

/// The words of the trailer that every other record ends with.
pub(crate) const TRAILER: [(SampleType, &str); 6] = [
    (SampleType::TID, "tid"),
    (SampleType::TIME, "time"),
    (SampleType::ID, "id"),
    (SampleType::STREAM_ID, "stream_id"),
    (SampleType::CPU, "cpu"),
    (SampleType::IDENTIFIER, "identifier"),
];

/// Counts the fields of `order` up to and including each one; 0 for those that `wanted` lacks.
#[expect(clippy::indexing_slicing, reason = "const fn: the loop bounds the index")]
pub(crate) const fn places<const N: usize>(order: &[(SampleType, &str); N], wanted: SampleType) -> [u8; N] {
    let mut places = [0; N];
    let (mut index, mut count) = (0, 0);
    while index < N {
        if order[index].0.intersects(wanted) {
            count += 1;
            places[index] = count;
        }
        index += 1;
    }
    places
}

/// How many fields of `order` are in `wanted`.
#[expect(clippy::indexing_slicing, reason = "const fn: the loop bounds the index")]
pub(crate) const fn count<const N: usize>(order: &[(SampleType, &str); N], wanted: SampleType) -> u8 {
    let (mut index, mut count) = (0, 0);
    while index < N {
        count += order[index].0.intersects(wanted) as u8;
        index += 1;
    }
    count
}

/// Where the parts of one sample start that have no fixed place, as word indices into the record.
/// Those that the event does not sample are 0, the header's place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Starts {
    pub(crate) callchain: u16,
    pub(crate) raw: u16,
    pub(crate) branches: u16,
    pub(crate) regs_user: u16,
    pub(crate) stack_user: u16,
    /// One less than the first word of [`COST`], so that a place counted from 1 can be added.
    pub(crate) cost: u16,
    pub(crate) regs_intr: u16,
    /// One less than the first word of [`PLACE`].
    pub(crate) place: u16,
    pub(crate) aux: u16,
    pub(crate) branch_parts: BranchParts,
}

/// Which optional parts the branch stack of one sample has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BranchParts {
    pub(crate) hw_index: bool,
    pub(crate) counters: bool,
}

/// What a branch stack is taken to hold where its length could mean two things.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assume {
    /// What the attr says.
    Attr,
    /// The other: no hardware index on an empty stack, counters brought in by another of the group.
    Other,
}

/// Walks the variable parts of a sample in order, once, and returns where each starts.
#[inline(always)]
pub(crate) fn walk(words: &[u64], layout: &SampleLayout, assume: Assume) -> Result<Starts> {
    let wanted = layout.sample_type();
    let mut starts = Starts::default();
    let mut walk = Walk { words, at: usize::from(layout.head_words) };

    if wanted.contains(SampleType::READ) {
        walk.read(layout.read_format())?;
    }
    if wanted.contains(SampleType::CALLCHAIN) {
        starts.callchain = walk.here();
        let nr = walk.word("callchain")?;
        walk.skip(nr, "callchain")?;
    }
    if wanted.contains(SampleType::RAW) {
        starts.raw = walk.here();
        walk.raw()?;
    }
    if wanted.contains(SampleType::BRANCH_STACK) {
        starts.branches = walk.here();
        starts.branch_parts = walk.branches(layout, assume)?;
    }
    let mut user_regs = false;
    if wanted.contains(SampleType::REGS_USER) {
        starts.regs_user = walk.here();
        user_regs = walk.regs(layout.regs_user_words, "regs_user")?;
    }
    if wanted.contains(SampleType::STACK_USER) {
        starts.stack_user = walk.here();
        walk.stack(user_regs)?;
    }
    if layout.cost_words > 0 {
        starts.cost = walk.here() - 1;
        walk.fixed(&COST, layout.cost_words, wanted)?;
    }
    if wanted.contains(SampleType::REGS_INTR) {
        starts.regs_intr = walk.here();
        walk.regs(layout.regs_intr_words, "regs_intr")?;
    }
    if layout.place_words > 0 {
        starts.place = walk.here() - 1;
        walk.fixed(&PLACE, layout.place_words, wanted)?;
    }
    if wanted.contains(SampleType::AUX) {
        starts.aux = walk.here();
        let size = walk.word("aux")?;
        walk.bytes(size, "aux")?;
    }
    match walk.left() {
        0 => Ok(starts),
        left => Err(Error::Surplus { kind: RecordType::SAMPLE, found: left * 8 }),
    }
}

/// Words of a record and how far the walk has come. `at` never passes the end.
struct Walk<'a> {
    words: &'a [u64],
    at: usize,
}

impl Walk<'_> {
    /// A record has at most 8191 words, so its indices fit.
    #[inline(always)]
    fn here(&self) -> u16 {
        self.at as u16
    }

    #[inline(always)]
    fn left(&self) -> u64 {
        (self.words.len() - self.at) as u64
    }

    #[inline(always)]
    fn word(&mut self, field: &'static str) -> Result<u64> {
        let word = *self.words.get(self.at).ok_or_else(|| truncated(field, 1, 0))?;
        self.at += 1;
        Ok(word)
    }

    #[inline(always)]
    fn skip(&mut self, words: u64, field: &'static str) -> Result<()> {
        if words > self.left() {
            return Err(truncated(field, words, self.left()));
        }
        self.at += words as usize;
        Ok(())
    }

    /// Skips `size` bytes, which the kernel always makes whole words.
    #[inline(always)]
    fn bytes(&mut self, size: u64, field: &'static str) -> Result<()> {
        if size % 8 != 0 {
            return Err(invalid(field, size));
        }
        self.skip(size / 8, field)
    }

    #[inline(always)]
    fn read(&mut self, format: ReadFormat) -> Result<()> {
        let first = self.words.get(self.at).copied();
        self.skip(block_words(first, format), "read")
    }

    /// The size comes in half a word, and with that half makes whole words: it includes its padding.
    #[inline(always)]
    fn raw(&mut self) -> Result<()> {
        let word = *self.words.get(self.at).ok_or_else(|| truncated("raw", 1, 0))?;
        let [size, _] = word::halves(word);
        let whole = u64::from(size) + 4;
        if whole % 8 != 0 {
            return Err(invalid("raw", u64::from(size)));
        }
        self.skip(whole / 8, "raw")
    }

    /// `nr`, `hw_idx` if the kernel had a branch stack at all, entries of three words, and one word of
    /// counters per entry if any event of the group asked for them.
    #[inline(always)]
    fn branches(&mut self, layout: &SampleLayout, assume: Assume) -> Result<BranchParts> {
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
    fn regs(&mut self, words: u8, field: &'static str) -> Result<bool> {
        let abi = RegsAbi(self.word(field)?);
        match abi {
            RegsAbi::NONE => Ok(false),
            RegsAbi::ABI_32 | RegsAbi::ABI_64 => self.skip(u64::from(words), field).map(|()| true),
            RegsAbi(value) => Err(invalid(field, value)),
        }
    }

    /// The size, that many bytes, and how many of them are valid. Of an empty stack only the size, but
    /// for one defect: where the task has user registers the kernel still writes the second word, into
    /// room that it did not reserve, so the sample's last word is lost.
    #[inline(always)]
    fn stack(&mut self, user_regs: bool) -> Result<()> {
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
    fn fixed<const N: usize>(
        &mut self,
        order: &[(SampleType, &'static str); N],
        count: u8,
        wanted: SampleType,
    ) -> Result<()> {
        if u64::from(count) > self.left() {
            return Err(missing(order, wanted, self.left() as usize));
        }
        self.at += usize::from(count);
        Ok(())
    }
}

/// The error of a sample whose fixed words in `order` end after `present` of them.
#[cold]
pub(crate) fn missing<const N: usize>(
    order: &[(SampleType, &'static str); N],
    wanted: SampleType,
    present: usize,
) -> Error {
    let mut fields = order.iter().filter(|(bit, _)| bit.intersects(wanted));
    truncated(fields.nth(present).map_or("head", |(_, name)| name), 1, 0)
}

#[cold]
fn truncated(field: &'static str, needed: u64, found: u64) -> Error {
    Error::Truncated { kind: RecordType::SAMPLE, field, needed: needed.saturating_mul(8), found: found * 8 }
}

#[cold]
fn invalid(field: &'static str, value: u64) -> Error {
    Error::Invalid { kind: RecordType::SAMPLE, field, value }
}
