use perf_abi::{Attr, AttrFlags, BranchSampleType, ReadFormat, SampleType};

use crate::order::{self, COST, EARLY, HEAD, PLACE, TRAILER};
use crate::read_shape::ReadShape;
use crate::slot::Slot;

/// Where the fields of one event's records lie: all that its attr says about them.
///
/// [`SampleLayout::new`] is `const`. A layout made at run time serves any attr; one that is a `const`
/// or `static` lets the compiler fold every test of it away, and decoding is as fast as code written by
/// hand for that one attr.
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
    pub(crate) read: ReadShape,
    regs_user: u64,
    regs_intr: u64,
    pub(crate) head: Head,
    pub(crate) cost: Cost,
    pub(crate) place: Place,
    pub(crate) trailer: Trailer,
    /// Words of a sample's header and fixed head together; more than any record has if `sample_type` has
    /// bits that are not known, so that the check of the length refuses these samples too.
    pub(crate) head_words: u16,
    pub(crate) cost_words: u8,
    pub(crate) place_words: u8,
    /// 0 also when the attr does not ask for trailers.
    pub(crate) trailer_words: u8,
    pub(crate) regs_user_words: u8,
    pub(crate) regs_intr_words: u8,
    pub(crate) branch_hw_index: bool,
    pub(crate) branch_counters: bool,
    /// Whether the attr asked for build ids: the kernel can set the misc bit without it.
    pub(crate) build_id: bool,
    /// Whether a sample goes on behind its raw data.
    pub(crate) has_late_parts: bool,
    /// Whether a sample ends with its head.
    pub(crate) head_only: bool,
}

/// The head fields, in words from the record's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) identifier: Slot,
    pub(crate) ip: Slot,
    pub(crate) tid: Slot,
    pub(crate) time: Slot,
    pub(crate) addr: Slot,
    pub(crate) id: Slot,
    pub(crate) stream_id: Slot,
    pub(crate) cpu: Slot,
    pub(crate) period: Slot,
}

/// The fields of a run of fixed words, in words from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) weight: Slot,
    pub(crate) data_src: Slot,
    pub(crate) transaction: Slot,
}

/// The fields of a run of fixed words, in words from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) phys_addr: Slot,
    pub(crate) cgroup: Slot,
    pub(crate) data_page_size: Slot,
    pub(crate) code_page_size: Slot,
}

/// The fields of the trailer, in words from the trailer's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) tid: Slot,
    pub(crate) time: Slot,
    pub(crate) id: Slot,
    pub(crate) stream_id: Slot,
    pub(crate) cpu: Slot,
    pub(crate) identifier: Slot,
}

impl SampleLayout {
    /// The layout of the records of an event that was opened with `attr`.
    #[must_use]
    pub const fn new(attr: &Attr) -> Self {
        let wanted = attr.sample_type;
        let (fields, head) = (wanted.bits().count_ones(), order::count(&HEAD, wanted) as u32);
        let trailer =
            if attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) { wanted } else { SampleType::empty() };
        Self {
            sample_type: wanted,
            read: ReadShape::new(attr.read_format),
            regs_user: attr.sample_regs_user,
            regs_intr: attr.sample_regs_intr,
            head: head_slots(wanted),
            cost: cost_slots(wanted),
            place: place_slots(wanted),
            trailer: trailer_slots(trailer),
            head_words: if unknown(wanted) == 0 { 1 + head as u16 } else { u16::MAX },
            cost_words: order::count(&COST, wanted),
            place_words: order::count(&PLACE, wanted),
            trailer_words: order::count(&TRAILER, trailer),
            regs_user_words: attr.sample_regs_user.count_ones() as u8,
            regs_intr_words: attr.sample_regs_intr.count_ones() as u8,
            branch_hw_index: attr.branch_sample_type.contains(BranchSampleType::HW_INDEX),
            branch_counters: attr.branch_sample_type.contains(BranchSampleType::COUNTERS),
            build_id: attr.flags.contains(AttrFlags::BUILD_ID),
            has_late_parts: fields > head + wanted.intersection(EARLY).bits().count_ones(),
            head_only: fields == head,
        }
    }

    /// The fields that a sample of the event has.
    #[must_use]
    pub const fn sample_type(&self) -> SampleType {
        self.sample_type
    }

    /// The shape of the counts in a sample or a READ record of the event.
    #[must_use]
    pub const fn read_format(&self) -> ReadFormat {
        self.read.format()
    }

    /// The mask of user registers that a sample holds; bit numbers are the architecture's.
    #[must_use]
    pub const fn regs_user(&self) -> u64 {
        self.regs_user
    }

    /// The mask of registers at the interrupt that a sample holds.
    #[must_use]
    pub const fn regs_intr(&self) -> u64 {
        self.regs_intr
    }

    /// Bits of `sample_type` whose fields this decoder does not know. Samples are refused if there are any.
    #[must_use]
    pub const fn unknown(&self) -> u64 {
        unknown(self.sample_type)
    }
}

/// `PERF_SAMPLE_MAX - 1` of the newest header.
const KNOWN: u64 = (1 << 25) - 1;

const fn unknown(wanted: SampleType) -> u64 {
    wanted.bits() & !KNOWN
}

const fn head_slots(wanted: SampleType) -> Head {
    let [identifier, ip, tid, time, addr, id, stream_id, cpu, period] = order::slots(&HEAD, wanted, 1);
    Head { identifier, ip, tid, time, addr, id, stream_id, cpu, period }
}

const fn cost_slots(wanted: SampleType) -> Cost {
    let [weight, data_src, transaction] = order::slots(&COST, wanted, 0);
    Cost { weight, data_src, transaction }
}

const fn place_slots(wanted: SampleType) -> Place {
    let [phys_addr, cgroup, data_page_size, code_page_size] = order::slots(&PLACE, wanted, 0);
    Place { phys_addr, cgroup, data_page_size, code_page_size }
}

const fn trailer_slots(wanted: SampleType) -> Trailer {
    let [tid, time, id, stream_id, cpu, identifier] = order::slots(&TRAILER, wanted, 0);
    Trailer { tid, time, id, stream_id, cpu, identifier }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::Software;

    fn layout(wanted: SampleType) -> SampleLayout {
        SampleLayout::new(&Attr::software(Software::DUMMY).with_sample_type(wanted))
    }

    #[test]
    fn the_identifier_comes_first_and_the_period_last() {
        let head =
            layout(SampleType::IDENTIFIER | SampleType::IP | SampleType::CPU | SampleType::PERIOD).head;
        assert_eq!([head.identifier, head.ip, head.cpu, head.period], [1, 2, 3, 4].map(Slot::at));
        assert!(head.time.is_absent());
    }

    #[test]
    fn both_weights_share_one_word() {
        assert_eq!(layout(SampleType::WEIGHT_STRUCT | SampleType::DATA_SRC).cost_words, 2);
        assert_eq!(layout(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT).cost_words, 1);
    }

    #[test]
    fn without_sample_id_all_there_is_no_trailer() {
        let layout = layout(SampleType::TID | SampleType::IDENTIFIER);
        assert_eq!((layout.trailer_words, layout.trailer.tid), (0, Slot::ABSENT));
    }

    #[test]
    fn a_bit_above_the_newest_field_is_unknown() {
        assert_eq!(layout(SampleType::from_bits_retain(1 << 25 | 1)).unknown(), 1 << 25);
    }
}
