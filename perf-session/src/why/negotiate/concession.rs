use std::fmt;

use perf_sys::{Attr, AttrFlags, BranchSampleType, Clock, ReadFormat, SampleType, Skid};

use super::field::AttrField;
use super::since::{BRANCHES, FLAGS, READS, SAMPLES, Since};

/// A part of the attr that was given up, because the kernel or the PMU does not accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Concession {
    /// A flag was cleared.
    Flag {
        /// One flag, or all flags that this crate does not know.
        flag: AttrFlags,
        /// The first release with the flag, if it is known.
        since: Option<Since>,
    },
    /// The times come from another clock.
    Clock {
        /// The clock that was requested.
        asked: Clock,
        /// The clock of the event; `None` is that of perf.
        granted: Option<Clock>,
    },
    /// The instruction pointer may have more skid.
    PreciseIp {
        /// The skid that was requested.
        asked: Skid,
        /// The skid of the event.
        granted: Skid,
    },
    /// A field is not sampled.
    SampleField {
        /// One field, or all fields that this crate does not know.
        field: SampleType,
        /// The first release with the field, if it is known.
        since: Option<Since>,
    },
    /// A field is sampled that was not requested, in place of one that was.
    SampleFieldInstead(SampleType),
    /// A word is not read.
    ReadWord {
        /// One word, or all words that this crate does not know.
        word: ReadFormat,
        /// The first release with the word, if it is known.
        since: Option<Since>,
    },
    /// A branch filter or a part of branch records is not used.
    Branch {
        /// One bit, or all bits that this crate does not know.
        bit: BranchSampleType,
        /// The first release with the bit, if it is known.
        since: Option<Since>,
    },
    /// A field of the attr is 0.
    Field(AttrField),
}

impl Concession {
    /// Returns what `granted` lacks of `asked`.
    pub(crate) fn between(asked: &Attr, granted: &Attr) -> Vec<Self> {
        let mut list = Vec::new();
        let uses_clock = |attr: &Attr| attr.flags.contains(AttrFlags::USE_CLOCKID).then_some(attr.clockid);
        if let (Some(clock), after) = (uses_clock(asked), uses_clock(granted)) {
            if after != Some(clock) {
                list.push(Self::Clock { asked: clock, granted: after });
            }
        }
        let levels = (asked.flags.precise_ip(), granted.flags.precise_ip());
        if levels.0 != levels.1 {
            list.push(Self::PreciseIp { asked: levels.0, granted: levels.1 });
        }
        let precise = AttrFlags::from_bits_retain(AttrFlags::PRECISE_IP_MASK);
        let flags = asked.flags - granted.flags - AttrFlags::USE_CLOCKID - precise;
        let unknown = flags - AttrFlags::KNOWN;
        list.extend((!unknown.is_empty()).then_some(Self::Flag { flag: unknown, since: None }));
        list.extend(
            (flags & AttrFlags::KNOWN).iter().map(|flag| Self::Flag { flag, since: date(FLAGS, flag) }),
        );
        list.extend(samples(asked, granted));
        let words = asked.read_format - granted.read_format;
        let unknown = words - ReadFormat::KNOWN;
        list.extend((!unknown.is_empty()).then_some(Self::ReadWord { word: unknown, since: None }));
        let words = (words & ReadFormat::KNOWN).iter();
        list.extend(words.map(|word| Self::ReadWord { word, since: date(READS, word) }));
        list.extend(branches(asked, granted));
        // The parameters of fields that are not sampled either are not worth a line.
        let is_alone =
            |field: &AttrField| ["sample_max_stack", "aux_watermark", "sig_data"].contains(&field.name());
        let cleared = AttrField::all().filter(|field| field.is_set(asked) && !field.is_set(granted));
        list.extend(cleared.filter(is_alone).map(Self::Field));
        list
    }

    /// Returns the first release of Linux that has the part, if it is known.
    pub fn since(&self) -> Option<Since> {
        match *self {
            Self::Flag { since, .. }
            | Self::SampleField { since, .. }
            | Self::ReadWord { since, .. }
            | Self::Branch { since, .. } => since,
            _ => None,
        }
    }
}

fn samples(asked: &Attr, granted: &Attr) -> Vec<Concession> {
    let fields = asked.sample_type - granted.sample_type;
    let unknown = fields - SampleType::KNOWN;
    let unknown = (!unknown.is_empty()).then_some(Concession::SampleField { field: unknown, since: None });
    let known = (fields & SampleType::KNOWN).iter();
    let known = known.map(|field| Concession::SampleField { field, since: date(SAMPLES, field) });
    let added = (granted.sample_type - asked.sample_type).iter().map(Concession::SampleFieldInstead);
    unknown.into_iter().chain(known).chain(added).collect()
}

fn branches(asked: &Attr, granted: &Attr) -> Vec<Concession> {
    let without = asked.sample_type.contains(SampleType::BRANCH_STACK)
        && !granted.sample_type.contains(SampleType::BRANCH_STACK);
    if without {
        return Vec::new(); // the field itself is in the list
    }
    let bits = asked.branch_sample_type - granted.branch_sample_type;
    let unknown = bits - BranchSampleType::KNOWN;
    let unknown = (!unknown.is_empty()).then_some(Concession::Branch { bit: unknown, since: None });
    let known = (bits & BranchSampleType::KNOWN).iter();
    let known = known.map(|bit| Concession::Branch { bit, since: date(BRANCHES, bit) });
    unknown.into_iter().chain(known).collect()
}

fn date<T: Copy + PartialEq>(table: &[(T, Since)], bit: T) -> Option<Since> {
    table.iter().find(|(of, _)| *of == bit).map(|(_, since)| *since)
}

impl Concession {
    /// Returns the name of the part.
    pub(crate) fn part(&self) -> String {
        match self {
            Self::Flag { flag, .. } => format!("flag {flag}"),
            Self::Clock { asked, .. } => format!("clock {asked}"),
            Self::PreciseIp { asked, .. } => format!("precise_ip {}", asked.level()),
            Self::SampleField { field, .. } => format!("sample field {field}"),
            Self::SampleFieldInstead(field) => format!("sample field {field} in its place"),
            Self::ReadWord { word, .. } => format!("read format {word}"),
            Self::Branch { bit, .. } => format!("branches {bit}"),
            Self::Field(field) => field.to_string(),
        }
    }
}

/// The part and what the event has in its place, such as `flag BUILD_ID given up (since Linux 5.12)`.
impl fmt::Display for Concession {
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
