//! The one pass over the variable parts of a sample, which finds their offsets.

use perf_abi::SampleType;

use crate::field_order::{common_parts, last_parts, user_parts};
use crate::layout::{Parts, SampleLayout};
use crate::schema::words::{ADDR, MEM};

mod cursor;
mod error;
mod offsets;

use cursor::Cursor;
pub(crate) use error::{Malformed, WalkError};
pub(crate) use offsets::SampleOffsets;

/// The reading of a branch stack's optional words, because the record's length can fit two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchLayout {
    /// The layout that the attr requests.
    Attr,
    /// The opposite: an empty stack without hardware index, counters that another event of the
    /// group asked for.
    Opposite,
}

/// Walks the variable parts in the kernel's order. Returns their offsets and the word index after
/// the last field. It is one more than the record has if the kernel lost the last word.
#[inline(always)]
pub(crate) fn walk<E: WalkError>(
    words: &[u64],
    layout: &SampleLayout,
    branches: BranchLayout,
) -> Result<(SampleOffsets, usize), E> {
    let wanted = layout.sample_type();
    let mut offsets = SampleOffsets::new(layout.head_words, branches);
    let mut cursor = Cursor::<E>::new(words, usize::from(layout.head_words));

    macro_rules! common {
        (READ) => {
            if wanted.contains(SampleType::READ) {
                let start = cursor.at();
                cursor.read(layout.read)?;
                offsets.add_read(cursor.at() - start);
            }
        };
        (CALLCHAIN) => {
            if wanted.contains(SampleType::CALLCHAIN) {
                let start = cursor.at();
                cursor.counted("callchain")?;
                offsets.add_callchain(cursor.at() - start);
            }
        };
        (RAW) => {
            if wanted.contains(SampleType::RAW) {
                let start = cursor.at();
                cursor.raw()?;
                offsets.add_raw(cursor.at() - start);
            }
        };
    }
    common_parts!(common);
    // One branch skips all parts that most events do not record.
    if layout.has_late_parts {
        walk_late(&mut cursor, &mut offsets, layout, branches)?;
    }
    Ok((offsets, cursor.at()))
}

/// Walks the parts of a layout that has just these, as [`walk`] does. The record is longer than the
/// head.
#[inline(always)]
pub(crate) fn walk_few(words: &[u64], layout: &SampleLayout, parts: Parts) -> Option<SampleOffsets> {
    let start = usize::from(layout.head_words);
    let mut offsets = SampleOffsets::new(layout.head_words, BranchLayout::Attr);
    let mut cursor = Cursor::<Malformed>::new(words, start);
    match parts {
        Parts::Read => {
            cursor.read(layout.read).ok()?;
            offsets.add_read(cursor.at() - start);
        }
        Parts::Callchain => {
            cursor.counted("callchain").ok()?;
            offsets.add_callchain(cursor.at() - start);
        }
        Parts::Raw => {
            cursor.raw().ok()?;
            offsets.add_raw(cursor.at() - start);
        }
        Parts::UserRegsAndStack => {
            let has_regs = cursor.regs(layout.regs_user_words, "regs_user").ok()?;
            cursor.stack(has_regs, true).ok()?;
            offsets.set_mem(cursor.at());
        }
    }
    Some(offsets)
}

/// Walks the parts after the raw data, which fewer events record.
#[inline(always)]
fn walk_late<E: WalkError>(
    cursor: &mut Cursor<'_, E>,
    offsets: &mut SampleOffsets,
    layout: &SampleLayout,
    branches: BranchLayout,
) -> Result<(), E> {
    let wanted = layout.sample_type();
    let mut user_regs = false;

    macro_rules! user {
        (BRANCH_STACK) => {
            if wanted.contains(SampleType::BRANCH_STACK) {
                cursor.branches(layout, branches)?;
            }
        };
        (REGS_USER) => {
            if wanted.contains(SampleType::REGS_USER) {
                user_regs = cursor.regs(layout.regs_user_words, "regs_user")?;
            }
        };
        (STACK_USER) => {
            if wanted.contains(SampleType::STACK_USER) {
                // An empty stack can have an extra word, whose position matters if parts follow.
                cursor.stack(user_regs, !layout.has_last_parts)?;
            }
        };
    }
    user_parts!(user);
    // Later parts are found from this offset: see [`SampleOffsets`].
    offsets.set_mem(cursor.at());
    if !layout.has_last_parts {
        return Ok(());
    }
    macro_rules! last {
        (MEM) => {
            cursor.fixed(&MEM, layout.mem_words, wanted)?;
        };
        (REGS_INTR) => {
            if wanted.contains(SampleType::REGS_INTR) {
                cursor.regs(layout.regs_intr_words, "regs_intr")?;
            }
        };
        (ADDR) => {
            cursor.fixed(&ADDR, layout.addr_words, wanted)?;
        };
        (AUX) => {
            if wanted.contains(SampleType::AUX) {
                cursor.sized("aux")?;
            }
        };
    }
    last_parts!(last);
    Ok(())
}
