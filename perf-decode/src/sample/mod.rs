//! Samples: a view that is validated once and read on demand.

use perf_abi::SampleType;

use crate::error::{Error, Result};
use crate::fixed::head_accessors;
use crate::layout::{Layout, SampleLayout};
use crate::raw::RawRecord;
use crate::schema::words::HEAD;
use crate::word;

mod branches;
mod callchain;
mod fields;
mod head;
mod parts;
mod regs;
mod stack;
mod walk;

pub use branches::Branches;
pub use callchain::{Callchain, Frame, Frames};
pub use fields::SampleFields;
use fields::last_field;
pub use head::SampleHead;
pub use regs::Regs;
pub use stack::UserStack;
use walk::{BranchLayout, Malformed, SampleOffsets, WalkError, walk, walk_few};

/// A sample, with the fields that the event's `sample_type` selects. Written when the event
/// overflows.
///
/// Holding one proves that every field of the layout is inside the record. Every accessor is total
/// and takes constant time. `None` means that the event does not record the field, or that the
/// kernel has truncated it ([`truncated_field`](Self::truncated_field)).
#[doc(alias = "PERF_RECORD_SAMPLE")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a, L = &'a SampleLayout> {
    words: &'a [u64],
    layout: L,
    offsets: SampleOffsets,
}

impl<'a, L: Layout> Sample<'a, L> {
    /// Validates a SAMPLE record against the layout of its event.
    ///
    /// [`RawRecord::decode`] does the same for records of that kind. Call this for a stream that
    /// has no other kinds.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownBits`], [`Error::Truncated`] or [`Error::Invalid`].
    #[inline(always)]
    pub fn parse(raw: RawRecord<'a>, layout: L) -> Result<Self> {
        match offsets(raw.words(), layout) {
            Some(offsets) => Ok(Self::validated(raw.words(), layout, offsets)),
            None => Err(sample_error(raw.words(), layout.sample_layout())),
        }
    }

    /// Views words that were validated.
    #[inline(always)]
    pub(crate) fn validated(words: &'a [u64], layout: L, offsets: SampleOffsets) -> Self {
        Self { words, layout, offsets }
    }

    /// Returns a sample that cannot exist, with a header in the place of offsets, for the arm of
    /// `decode` that is not reached.
    #[inline(always)]
    pub(crate) fn unreachable(words: &'a [u64], layout: L, header: u64) -> Self {
        Self { words, layout, offsets: SampleOffsets::from_header(header) }
    }

    /// Returns the word of a row of the head.
    #[inline(always)]
    fn word(&self, row: usize) -> Option<u64> {
        self.layout.sample_layout().head.get(row)?.of(self.words)
    }

    /// Returns the bytes after the last field; empty for nearly all samples.
    ///
    /// The kernel prepares one sample for all software events of the same kind, so the callchain,
    /// stack or registers of another event can enlarge this one. The content of these bytes is
    /// undefined.
    pub fn trailing(&self) -> &'a [u8] {
        let layout = self.layout.sample_layout();
        let end = match walk::<Malformed>(self.words, layout, self.offsets.branches()) {
            Ok((_, end)) => end,
            Err(Malformed) => self.words.len(),
        };
        word::bytes(self.words.get(end..).unwrap_or(&[]))
    }

    /// Returns whether the record's length fits two readings of its branch stack, with and without
    /// an optional part. [`branches`](Self::branches) then follows the attr.
    pub fn has_ambiguous_branches(&self) -> bool {
        let layout = self.layout.sample_layout();
        let end = |branches| match walk::<Malformed>(self.words, layout, branches) {
            Ok((_, end)) => Some(end),
            Err(Malformed) => None,
        };
        layout.sample_type().contains(SampleType::BRANCH_STACK)
            && self.branches_differ()
            && [BranchLayout::Attr, BranchLayout::Opposite]
                .map(end)
                .iter()
                .all(|end| *end >= Some(self.words.len()))
    }

    /// Returns the name of the last field if the kernel has truncated it, which is then absent;
    /// `None` for nearly all samples.
    ///
    /// Kernels write a word after an empty user stack of a task with registers for which they
    /// reserve no space. It moves the later fields, so that the last word of the sample is lost
    /// (kernel errata). The other fields are right.
    pub fn truncated_field(&self) -> Option<&'static str> {
        let layout = self.layout.sample_layout();
        match walk::<Malformed>(self.words, layout, self.offsets.branches()) {
            Ok((_, end)) if end > self.words.len() => last_field(layout.sample_type()),
            _ => None,
        }
    }
}

head_accessors!(Sample);

impl<L: Layout> core::fmt::Debug for Sample<'_, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut fields = f.debug_struct("Sample");
        self.fields().for_each(|field| {
            fields.field(field.name, &field.value);
        });
        fields.finish()
    }
}

/// Validates a sample and returns the offsets of its parts; `None` if it is malformed.
///
/// Not a `Result`, because LLVM would keep the error of the cold path in memory, test its tag once
/// more and load values again that the path does not change.
#[inline(always)]
pub(crate) fn offsets<L: Layout>(words: &[u64], layout: L) -> Option<SampleOffsets> {
    let known = layout.sample_layout();
    if words.len() >= usize::from(known.fixed_words) {
        return Some(SampleOffsets::NONE);
    }
    // Of a constant layout the whole walk folds.
    if const { size_of::<L>() == 0 } {
        return walked(words, known);
    }
    // Every part has a word at least.
    if words.len() <= usize::from(known.head_words) {
        return None;
    }
    match known.parts {
        Some(parts) => walk_few(words, known, parts),
        None => walked_by_call(words, known),
    }
}

/// A call, so that the registers of the caller's loop are free of the walk over all parts.
#[inline(never)]
fn walked_by_call(words: &[u64], layout: &SampleLayout) -> Option<SampleOffsets> {
    walked(words, layout)
}

#[inline(always)]
fn walked(words: &[u64], layout: &SampleLayout) -> Option<SampleOffsets> {
    if words.len() < usize::from(layout.head_words) {
        return None;
    }
    let has_branches = layout.sample_type().contains(SampleType::BRANCH_STACK);
    match walk::<Malformed>(words, layout, BranchLayout::Attr) {
        // Without late parts first, because the walk has tested that already.
        Ok((offsets, end)) if !layout.has_late_parts || !has_branches || end >= words.len() => Some(offsets),
        Err(Malformed) if !has_branches => None,
        _ => offsets_with_branches(words, layout),
    }
}

/// Decides between two readings of a branch stack: the reading that ends with the record, else the
/// attr's, else the other.
#[cold]
#[inline(never)]
fn offsets_with_branches(words: &[u64], layout: &SampleLayout) -> Option<SampleOffsets> {
    let attr = walk::<Malformed>(words, layout, BranchLayout::Attr);
    let opposite = walk::<Malformed>(words, layout, BranchLayout::Opposite);
    match (attr, opposite) {
        (_, Ok((offsets, end))) if end >= words.len() => Some(offsets),
        (Ok((offsets, _)), _) | (Err(Malformed), Ok((offsets, _))) => Some(offsets),
        (Err(Malformed), Err(Malformed)) => None,
    }
}

/// Returns the error of a malformed sample.
#[cold]
#[inline(never)]
pub(crate) fn sample_error(words: &[u64], layout: &SampleLayout) -> Error {
    if words.len() < usize::from(layout.head_words) {
        return head_error(words, layout);
    }
    match walk::<Error>(words, layout, BranchLayout::Attr) {
        Err(error) => error,
        // Not reached: the same walk failed before.
        Ok((_, end)) => WalkError::truncated("sample", end as u64, words.len() as u64),
    }
}

/// Returns the error of a sample that ends within its head, or whose layout is unknown.
fn head_error(words: &[u64], layout: &SampleLayout) -> Error {
    let present = (words.len() as u64).saturating_sub(1);
    layout.unknown_in_samples().unwrap_or_else(|| WalkError::missing(&HEAD, layout.sample_type(), present))
}

#[cfg(test)]
mod tests;
