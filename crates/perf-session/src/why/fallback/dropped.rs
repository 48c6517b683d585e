//! Parts of an attr that were dropped.

use std::fmt;

use perf_ring::abi::Release;
use perf_ring::{Attr, AttrFlags, BranchSampleType, Clock, ReadFormat, SampleType, Skid};

use crate::why::Field;

/// A part of the attr that was dropped, because the kernel or the PMU does not accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DroppedFeature {
    /// A flag was cleared: one, or all that this crate does not know.
    Flag(AttrFlags),
    /// The times come from another clock.
    Clock {
        /// The clock that was requested.
        asked: Clock,
        /// The clock of the event; `None` is the clock of perf.
        granted: Option<Clock>,
    },
    /// The instruction pointer may have more skid.
    PreciseIp {
        /// The skid that was requested.
        asked: Skid,
        /// The skid of the event.
        granted: Skid,
    },
    /// A field is not sampled: one, or all that this crate does not know.
    SampleField(SampleType),
    /// A field that was not requested is sampled instead of the requested one.
    SampleFieldInstead(SampleType),
    /// A word is not read: one, or all that this crate does not know.
    ReadWord(ReadFormat),
    /// A branch filter or a part of branch records is not used: one bit, or all that this crate
    /// does not know.
    Branch(BranchSampleType),
    /// A field of the attr is 0.
    Field(Field),
}

/// Fields that request something on their own. The others are parameters of a bit, which is in the
/// list already.
const ALONE: [Field; 3] = [Field::SAMPLE_MAX_STACK, Field::AUX_WATERMARK, Field::SIG_DATA];

/// Returns the unknown bits as one, then each known bit.
macro_rules! each_bit {
    ($bits:expr, $Type:ident) => {{
        let unknown = $bits - $Type::KNOWN;
        (!unknown.is_empty()).then_some(unknown).into_iter().chain(($bits & $Type::KNOWN).iter())
    }};
}

impl DroppedFeature {
    /// Returns what `granted` lacks of `asked`.
    pub(in crate::why) fn between(asked: &Attr, granted: &Attr) -> Vec<Self> {
        let mut list = Vec::new();
        let clock = |attr: &Attr| attr.flags.contains(AttrFlags::USE_CLOCKID).then_some(attr.clockid);
        if let Some(asked) = clock(asked).filter(|asked| clock(granted) != Some(*asked)) {
            list.push(Self::Clock { asked, granted: clock(granted) });
        }
        let skids = (asked.flags.precise_ip(), granted.flags.precise_ip());
        if skids.0 != skids.1 {
            list.push(Self::PreciseIp { asked: skids.0, granted: skids.1 });
        }
        let precise = AttrFlags::from_bits_retain(AttrFlags::PRECISE_IP_MASK);
        let flags = asked.flags - granted.flags - AttrFlags::USE_CLOCKID - precise;
        list.extend(each_bit!(flags, AttrFlags).map(Self::Flag));
        let fields = asked.sample_type - granted.sample_type;
        list.extend(each_bit!(fields, SampleType).map(Self::SampleField));
        list.extend((granted.sample_type - asked.sample_type).iter().map(Self::SampleFieldInstead));
        let words = asked.read_format - granted.read_format;
        list.extend(each_bit!(words, ReadFormat).map(Self::ReadWord));
        // Without branches their bits are not worth a line.
        if !fields.contains(SampleType::BRANCH_STACK) {
            let bits = asked.branch_sample_type - granted.branch_sample_type;
            list.extend(each_bit!(bits, BranchSampleType).map(Self::Branch));
        }
        let cleared = ALONE.into_iter().filter(|field| field.is_set(asked) && !field.is_set(granted));
        list.extend(cleared.map(Self::Field));
        list
    }

    /// Returns the first release of Linux that has the part, if it is known.
    pub fn since(&self) -> Option<Release> {
        match *self {
            Self::Flag(flag) => flag.since(),
            Self::SampleField(field) => field.since(),
            Self::ReadWord(word) => word.since(),
            Self::Branch(bit) => bit.since(),
            _ => None,
        }
    }

    /// Returns the name of the part.
    pub(in crate::why) fn part(&self) -> String {
        match self {
            Self::Flag(flag) => format!("flag {flag}"),
            Self::Clock { asked, .. } => format!("clock {asked}"),
            Self::PreciseIp { asked, .. } => format!("precise_ip {}", asked.level()),
            Self::SampleField(field) => format!("sample field {field}"),
            Self::SampleFieldInstead(field) => format!("sample field {field} in its place"),
            Self::ReadWord(word) => format!("read format {word}"),
            Self::Branch(bit) => format!("branches {bit}"),
            Self::Field(field) => field.to_string(),
        }
    }
}

/// The part and what the event has in its place, such as
/// `flag BUILD_ID given up (since Linux 5.12)`.
impl fmt::Display for DroppedFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part();
        match self {
            Self::Clock { granted: Some(clock), .. } => write!(f, "{part} replaced by {clock}"),
            Self::Clock { granted: None, .. } => write!(f, "{part} replaced by that of perf"),
            Self::PreciseIp { granted, .. } => write!(f, "{part} replaced by {}", granted.level()),
            Self::SampleFieldInstead(_) => f.write_str(&part),
            _ => match self.since() {
                Some(since) => write!(f, "{part} given up (since {since})"),
                None => write!(f, "{part} given up"),
            },
        }
    }
}
