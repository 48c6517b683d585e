use perf_abi::SampleType;

use super::cursor::Cursor;
use super::{COST, Fault, PLACE};
use crate::SampleLayout;
use crate::slot::Slot;

/// Where the parts of one sample start that have no fixed place, in words from the record's start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Starts {
    /// The end of the counts, which start right behind the head.
    pub(crate) read_end: Slot,
    pub(crate) callchain: Slot,
    pub(crate) raw: Slot,
    pub(crate) branches: Slot,
    pub(crate) regs_user: Slot,
    pub(crate) stack_user: Slot,
    /// The run of [`COST`].
    pub(crate) cost: Slot,
    pub(crate) regs_intr: Slot,
    /// The run of [`PLACE`].
    pub(crate) place: Slot,
    pub(crate) aux: Slot,
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
pub(crate) fn walk<F: Fault>(words: &[u64], layout: &SampleLayout, assume: Assume) -> Result<Starts, F> {
    let wanted = layout.sample_type();
    let mut starts = Starts::default();
    let mut cursor = Cursor::<F>::new(words, usize::from(layout.head_words));

    if wanted.contains(SampleType::READ) {
        cursor.read(layout.read)?;
        starts.read_end = cursor.here();
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
    if layout.has_late_parts { walk_late(cursor, starts, layout, assume) } else { cursor.end(starts) }
}

/// The parts behind the raw data, which fewer events sample: apart, so that one test passes them all over.
#[inline(always)]
fn walk_late<F: Fault>(
    mut cursor: Cursor<'_, F>,
    mut starts: Starts,
    layout: &SampleLayout,
    assume: Assume,
) -> Result<Starts, F> {
    let wanted = layout.sample_type();
    let mut user_regs = false;

    if wanted.contains(SampleType::BRANCH_STACK) {
        starts.branches = cursor.here();
        starts.branch_parts = cursor.branches(layout, assume)?;
    }
    if wanted.contains(SampleType::REGS_USER) {
        starts.regs_user = cursor.here();
        user_regs = cursor.regs(layout.regs_user_words, "regs_user")?;
    }
    if wanted.contains(SampleType::STACK_USER) {
        starts.stack_user = cursor.here();
        cursor.stack(user_regs)?;
    }
    if layout.cost_words > 0 {
        starts.cost = cursor.here();
        cursor.fixed(&COST, layout.cost_words, wanted)?;
    }
    if wanted.contains(SampleType::REGS_INTR) {
        starts.regs_intr = cursor.here();
        cursor.regs(layout.regs_intr_words, "regs_intr")?;
    }
    if layout.place_words > 0 {
        starts.place = cursor.here();
        cursor.fixed(&PLACE, layout.place_words, wanted)?;
    }
    if wanted.contains(SampleType::AUX) {
        starts.aux = cursor.here();
        let size = cursor.word("aux")?;
        cursor.bytes(size, "aux")?;
    }
    cursor.end(starts)
}
