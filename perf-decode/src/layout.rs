//! Layouts of the records of one event.

use perf_abi::{Attr, AttrFlags, BranchSampleType, Misc, ReadFormat, RecordType, SampleType};

use crate::error::{Error, Result};
use crate::field_order::{KNOWN, LAST, LATE};
use crate::read_layout::ReadLayout;
use crate::schema::words::{ADDR, HEAD, MEM, TRAILER, all, count, word_indices};
use crate::word_index::WordIndex;

/// The layout of one event's records, as a view holds it: a `&SampleLayout` at run time, or a
/// [`ConstantLayout`]. No other type can implement it, so that a view's layout never changes.
pub trait Layout: Copy + Sealed {
    /// Returns the layout.
    fn sample_layout(&self) -> &SampleLayout;
}

/// Keeps other implementations of [`Layout`] out: views rely on one layout for each value.
pub trait Sealed {}

impl Sealed for &SampleLayout {}

impl Layout for &SampleLayout {
    #[inline(always)]
    fn sample_layout(&self) -> &SampleLayout {
        self
    }
}

impl<C: ConstantLayout> Sealed for C {}

impl<C: ConstantLayout> Layout for C {
    #[inline(always)]
    fn sample_layout(&self) -> &SampleLayout {
        const { &C::LAYOUT }
    }
}

/// A layout that is known at compile time, as a zero-sized type.
///
/// It is part of the view's type. The compiler folds it wherever the view is used, even after the
/// view was stored or passed to a function that is not inlined. A view with a constant layout is
/// one pointer smaller.
///
/// ```
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_decode::{ConstantLayout, RawRecord, Record, SampleLayout};
/// # use perf_decode::testing::builder::SampleBuilder;
///
/// const ATTR: Attr = Attr::software(Software::CPU_CLOCK)
///     .with_sample_type(SampleType::IP.union(SampleType::TIME));
///
/// #[derive(Clone, Copy)]
/// struct CpuClock;
///
/// impl ConstantLayout for CpuClock {
///     const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
/// }
///
/// # let words = SampleBuilder::new(&ATTR).ip(7).time(9).finish();
/// if let Record::Sample(sample) = RawRecord::from_words(&words)?.decode(CpuClock)? {
///     assert_eq!(sample.time(), Some(9));
/// }
/// # Ok::<(), perf_decode::Error>(())
/// ```
pub trait ConstantLayout: Copy {
    /// The layout of the event's records.
    const LAYOUT: SampleLayout;
}

/// The word indices of the fields in one event's records, made from the event's attr.
///
/// [`SampleLayout::new`] is `const`. For a layout that is known at compile time see
/// [`ConstantLayout`].
///
/// ```
/// use perf_abi::{Attr, SampleType, Software};
/// use perf_decode::SampleLayout;
///
/// const ATTR: Attr = Attr::software(Software::CPU_CLOCK)
///     .with_sample_type(SampleType::IP.union(SampleType::TIME));
/// static LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
///
/// assert_eq!(LAYOUT.sample_type(), ATTR.sample_type);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    sample_type: SampleType,
    branch_sample_type: BranchSampleType,
    pub(crate) read: ReadLayout,
    regs_user: u64,
    regs_intr: u64,
    /// The fields of [`HEAD`], from the record's start.
    pub(crate) head: [WordIndex; HEAD.len()],
    /// The fields of [`MEM`], from the start of their run.
    pub(crate) mem: [WordIndex; MEM.len()],
    /// The fields of [`ADDR`], from the start of their run.
    pub(crate) addr: [WordIndex; ADDR.len()],
    /// The fields of [`TRAILER`], from the record's end: 1 is the last word, 0 an absent field.
    pub(crate) trailer: [u8; TRAILER.len()],
    /// Whether records hold counts in the `read_format`: samples, or the READ records of inherited
    /// counts.
    pub(crate) has_counts: bool,
    /// Words of a sample's header and fixed head. Longer than any record if the layout of samples
    /// is unknown, so that the check of the length rejects them too.
    pub(crate) head_words: u16,
    /// Words of the trailer, 0 without `sample_id_all`. Longer than any record if unknown.
    pub(crate) trailer_words: u16,
    pub(crate) mem_words: u8,
    pub(crate) addr_words: u8,
    pub(crate) regs_user_words: u8,
    pub(crate) regs_intr_words: u8,
    /// The misc bit of records with a build id if the attr requests build ids, else none, because
    /// the kernel can set the bit without it. A mask, so that its test does not branch on the bit,
    /// which means something else for other kinds.
    pub(crate) build_id: Misc,
    /// Whether a sample has parts after its raw data.
    pub(crate) has_late_parts: bool,
    /// Whether a sample has parts after its user stack.
    pub(crate) has_last_parts: bool,
    /// Equal to `head_words` if a sample has no parts after its head; else longer than any record.
    /// One comparison then accepts a sample of fixed length.
    pub(crate) fixed_words: u16,
    /// `None` if a sample has no parts after its head, or others.
    pub(crate) parts: Option<Parts>,
}

// core sorts the entries of `Layouts` without a panic path only up to this size: see
// checks/no-panic.
const _: () = assert!(size_of::<SampleLayout>() <= 104);

/// The parts of a sample after its head, of the layouts whose walk is shorter than the one over all
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    Read,
    Callchain,
    Raw,
    UserRegsAndStack,
}

impl Parts {
    const fn of(parts: SampleType) -> Option<Self> {
        const USER: SampleType = SampleType::REGS_USER.union(SampleType::STACK_USER);
        if parts.bits() == SampleType::READ.bits() {
            Some(Self::Read)
        } else if parts.bits() == SampleType::CALLCHAIN.bits() {
            Some(Self::Callchain)
        } else if parts.bits() == SampleType::RAW.bits() {
            Some(Self::Raw)
        } else if parts.bits() == USER.bits() {
            Some(Self::UserRegsAndStack)
        } else {
            None
        }
    }
}

/// More words than a record can have.
const UNKNOWN_WORDS: u16 = u16::MAX;

impl SampleLayout {
    /// Returns the layout of the records of an event that was opened with `attr`.
    #[must_use]
    pub const fn new(attr: &Attr) -> Self {
        let wanted = attr.sample_type;
        let trailer =
            if attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) { wanted } else { SampleType::empty() };
        let head = 1 + count(&HEAD, wanted);
        let head_only = head == 1 + wanted.bits().count_ones() as usize;
        let layout = Self {
            sample_type: wanted,
            branch_sample_type: attr.branch_sample_type,
            read: ReadLayout::new(attr.read_format),
            regs_user: attr.sample_regs_user,
            regs_intr: attr.sample_regs_intr,
            head: word_indices(&HEAD, wanted, 1),
            mem: word_indices(&MEM, wanted, 0),
            addr: word_indices(&ADDR, wanted, 0),
            trailer: from_end(&word_indices(&TRAILER, trailer, 0)),
            has_counts: wanted.contains(SampleType::READ) || attr.flags.contains(AttrFlags::INHERIT_STAT),
            head_words: head as u16,
            trailer_words: count(&TRAILER, trailer) as u16,
            mem_words: count(&MEM, wanted) as u8,
            addr_words: count(&ADDR, wanted) as u8,
            regs_user_words: attr.sample_regs_user.count_ones() as u8,
            regs_intr_words: attr.sample_regs_intr.count_ones() as u8,
            build_id: if attr.flags.contains(AttrFlags::BUILD_ID) {
                Misc::MMAP_BUILD_ID
            } else {
                Misc::empty()
            },
            has_late_parts: wanted.intersects(LATE),
            has_last_parts: wanted.intersects(LAST),
            fixed_words: if head_only { head as u16 } else { UNKNOWN_WORDS },
            parts: Parts::of(wanted.difference(all(&HEAD))),
        };
        layout.without_unknown()
    }

    /// Sets the parts whose layout is unknown to longer than any record.
    const fn without_unknown(mut self) -> Self {
        if self.unknown_in_samples().is_some() {
            self.head_words = UNKNOWN_WORDS;
            self.fixed_words = UNKNOWN_WORDS;
            self.head = [WordIndex::ABSENT; HEAD.len()];
        }
        if !self.unknown_fields().is_empty() && self.has_trailer() {
            self.trailer_words = UNKNOWN_WORDS;
            self.trailer = [0; TRAILER.len()];
        }
        self
    }

    /// Returns the fields that a sample of the event has.
    #[inline]
    pub const fn sample_type(&self) -> SampleType {
        self.sample_type
    }

    /// Returns the format of the counts in a sample or a READ record of the event.
    #[inline]
    pub const fn read_format(&self) -> ReadFormat {
        self.read.format()
    }

    /// Returns the attr's `branch_sample_type`, which selects the content of a branch stack.
    #[inline]
    pub const fn branch_sample_type(&self) -> BranchSampleType {
        self.branch_sample_type
    }

    /// Returns the mask of user registers in a sample; bit numbers are the architecture's.
    #[inline]
    pub const fn regs_user(&self) -> u64 {
        self.regs_user
    }

    /// Returns the mask of interrupt registers in a sample; bit numbers are the architecture's.
    #[inline]
    pub const fn regs_intr(&self) -> u64 {
        self.regs_intr
    }

    /// Returns whether records other than samples have a trailer. They do if the attr has
    /// `sample_id_all` and one of the six fields.
    #[inline]
    pub const fn has_trailer(&self) -> bool {
        self.trailer_words != 0
    }

    /// Returns the first bits of the attr that are newer than this decoder, as the error that
    /// decoding the affected records returns; `None` if all bits are known.
    ///
    /// `sample_type` affects samples and all trailers; `read_format`, READ records and samples with
    /// counts; `branch_sample_type`, samples with a branch stack.
    pub const fn unknown(&self) -> Option<Error> {
        match self.unknown_in_samples() {
            None if !self.read.unknown().is_empty() => Some(self.unknown_read_format()),
            unknown => unknown,
        }
    }

    /// Returns whether both layouts decode the records of the event alike. The perf tool asks each
    /// event for ids and losses, so the format of counts is compared only if a record has some.
    pub(crate) fn decodes_as(&self, other: &Self) -> bool {
        let read = if self.has_counts { self.read } else { other.read };
        Self { read, ..*self } == *other
    }

    const fn unknown_fields(&self) -> SampleType {
        self.sample_type.difference(KNOWN)
    }

    /// Returns the reason why samples of the event cannot be decoded, if there is one.
    pub(crate) const fn unknown_in_samples(&self) -> Option<Error> {
        let wanted = self.sample_type;
        let branches = self.branch_sample_type.difference(BranchSampleType::KNOWN);
        if !self.unknown_fields().is_empty() {
            Some(Error::UnknownBits { field: "sample_type", bits: self.unknown_fields().bits() })
        } else if wanted.contains(SampleType::READ) && !self.read.unknown().is_empty() {
            Some(self.unknown_read_format())
        } else if wanted.contains(SampleType::BRANCH_STACK) && !branches.is_empty() {
            Some(Error::UnknownBits { field: "branch_sample_type", bits: branches.bits() })
        } else {
            None
        }
    }

    /// Returns an error if records of this kind have a trailer of unknown layout, or counts.
    pub(crate) fn known_in(&self, kind: RecordType) -> Result<()> {
        if self.trailer_words == UNKNOWN_WORDS {
            return Err(Error::UnknownBits { field: "sample_type", bits: self.unknown_fields().bits() });
        }
        if kind == RecordType::READ && !self.read.unknown().is_empty() {
            return Err(self.unknown_read_format());
        }
        Ok(())
    }

    const fn unknown_read_format(&self) -> Error {
        Error::UnknownBits { field: "read_format", bits: self.read.unknown().bits() }
    }
}

/// Turns word indices from the start of a trailer into indices from its end.
#[expect(clippy::indexing_slicing, reason = "const fn: the loop bounds the index")]
const fn from_end<const N: usize>(indices: &[WordIndex; N]) -> [u8; N] {
    let (mut ends, mut words, mut row) = ([0; N], 0, N);
    while row > 0 {
        row -= 1;
        if !indices[row].is_absent() {
            words += 1;
            ends[row] = words;
        }
    }
    ends
}

// Every bit of `sample_type` that the header declares is in the tables.
const _: () = assert!(
    KNOWN.bits() == SampleType::KNOWN.bits(),
    "a bit of SampleType is missing in schema/words.rs and field_order.rs, or has no constant"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::words::row;
    use perf_abi::Software;

    fn layout(wanted: SampleType) -> SampleLayout {
        SampleLayout::new(&Attr::software(Software::DUMMY).with_sample_type(wanted))
    }

    #[test]
    fn identifier_is_first_and_period_last() {
        let layout = layout(SampleType::IDENTIFIER | SampleType::IP | SampleType::CPU | SampleType::PERIOD);
        let index = |bit| layout.head[row(&HEAD, bit)];
        let fields = [SampleType::IDENTIFIER, SampleType::IP, SampleType::CPU, SampleType::PERIOD];
        assert_eq!(fields.map(index), [1, 2, 3, 4].map(WordIndex::new));
        assert!(index(SampleType::TIME).is_absent());
    }

    #[test]
    fn both_weights_share_one_word() {
        assert_eq!(layout(SampleType::WEIGHT_STRUCT | SampleType::DATA_SRC).mem_words, 2);
        assert_eq!(layout(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT).mem_words, 1);
    }

    #[test]
    fn trailer_needs_sample_id_all() {
        let layout = layout(SampleType::TID | SampleType::IDENTIFIER);
        assert_eq!((layout.trailer_words, layout.trailer), (0, [0; 6]));
    }

    #[test]
    fn trailer_fields_are_counted_from_the_end() {
        let wanted = SampleType::TID | SampleType::CPU | SampleType::IDENTIFIER;
        let attr = Attr::software(Software::DUMMY).with_sample_type(wanted);
        let layout = SampleLayout::new(&attr.with_flags(AttrFlags::SAMPLE_ID_ALL));
        assert_eq!((layout.trailer_words, layout.trailer), (3, [3, 0, 0, 0, 2, 1]));
    }

    #[test]
    fn unknown_bits_are_named_by_field() {
        let unknown = |attr: Attr| SampleLayout::new(&attr).unknown();
        let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::IP);
        assert_eq!(unknown(attr), None);
        let newer = SampleType::from_bits_retain(1 << 40);
        assert_eq!(
            unknown(attr.with_sample_type(newer | SampleType::IP)),
            Some(Error::UnknownBits { field: "sample_type", bits: 1 << 40 })
        );
        assert_eq!(
            unknown(attr.with_read_format(ReadFormat::from_bits_retain(1 << 20 | 1))),
            Some(Error::UnknownBits { field: "read_format", bits: 1 << 20 })
        );
        let mut branches = attr.with_sample_type(SampleType::BRANCH_STACK);
        branches.branch_sample_type = BranchSampleType::from_bits_retain(1 << 50 | 1);
        assert_eq!(
            unknown(branches),
            Some(Error::UnknownBits { field: "branch_sample_type", bits: 1 << 50 })
        );
    }
}
