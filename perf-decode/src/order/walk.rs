use perf_abi::{RecordType, SampleType};

use super::cursor::Cursor;
use super::{COST, PLACE};
use crate::{Error, Result, SampleLayout};

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
    let mut cursor = Cursor::new(words, usize::from(layout.head_words));

    if wanted.contains(SampleType::READ) {
        cursor.read(layout.read_format())?;
    }
    if wanted.contains(SampleType::CALLCHAIN) {
        starts.callchain = cursor.here();
        let nr = cursor.word("callchain")?;
        cursor.skip(nr, "callchain")?;
    }
    if wanted.contains(SampleType::RAW) {
        starts.raw = cursor.here();
        cursor.raw()?;
    }
    if wanted.contains(SampleType::BRANCH_STACK) {
        starts.branches = cursor.here();
        starts.branch_parts = cursor.branches(layout, assume)?;
    }
    let mut user_regs = false;
    if wanted.contains(SampleType::REGS_USER) {
        starts.regs_user = cursor.here();
        user_regs = cursor.regs(layout.regs_user_words, "regs_user")?;
    }
    if wanted.contains(SampleType::STACK_USER) {
        starts.stack_user = cursor.here();
        cursor.stack(user_regs)?;
    }
    if layout.cost_words > 0 {
        starts.cost = cursor.here() - 1;
        cursor.fixed(&COST, layout.cost_words, wanted)?;
    }
    if wanted.contains(SampleType::REGS_INTR) {
        starts.regs_intr = cursor.here();
        cursor.regs(layout.regs_intr_words, "regs_intr")?;
    }
    if layout.place_words > 0 {
        starts.place = cursor.here() - 1;
        cursor.fixed(&PLACE, layout.place_words, wanted)?;
    }
    if wanted.contains(SampleType::AUX) {
        starts.aux = cursor.here();
        let size = cursor.word("aux")?;
        cursor.bytes(size, "aux")?;
    }
    match cursor.left() {
        0 => Ok(starts),
        left => Err(Error::Surplus { kind: RecordType::SAMPLE, found: left * 8 }),
    }
}
