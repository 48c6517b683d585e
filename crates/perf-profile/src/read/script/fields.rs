//! The fields of a line of `perf script`.

use std::ops::{BitOr, Sub};

use perf_abi::{Attr, EventType, SampleType, Sampling};

/// A set of fields that [`ScriptWriter`](super::ScriptWriter) writes for each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptFields(u16);

impl ScriptFields {
    /// Name of the thread.
    pub const COMM: Self = Self(1 << 0);
    /// Process id.
    pub const PID: Self = Self(1 << 1);
    /// Thread id.
    pub const TID: Self = Self(1 << 2);
    /// The CPU in brackets.
    pub const CPU: Self = Self(1 << 3);
    /// Time in seconds of the recording's clock.
    pub const TIME: Self = Self(1 << 4);
    /// The period, or the value of the event.
    pub const PERIOD: Self = Self(1 << 5);
    /// Name of the event.
    pub const EVENT: Self = Self(1 << 6);
    /// The payload of a tracepoint.
    pub const TRACE: Self = Self(1 << 7);
    /// The address that the instruction accessed.
    pub const ADDR: Self = Self(1 << 8);
    /// The address of each frame.
    pub const IP: Self = Self(1 << 9);
    /// The function of each frame.
    pub const SYM: Self = Self(1 << 10);
    /// The offset of each frame in its function.
    pub const SYMOFF: Self = Self(1 << 11);
    /// The object of each frame.
    pub const DSO: Self = Self(1 << 12);
    /// The source line of each frame.
    pub const SRCLINE: Self = Self(1 << 13);
    /// The control group.
    pub const CGROUP: Self = Self(1 << 14);
    /// The branch stack, newest branch first.
    pub const BRSTACK: Self = Self(1 << 15);

    /// The fields of a frame that the perf tool prints by default.
    const FRAME: Self = Self(Self::IP.0 | Self::SYM.0 | Self::SYMOFF.0 | Self::DSO.0);

    /// The names, and the bit of the attr without which samples do not have the field.
    const NAMES: [(&'static str, Self, SampleType); 16] = [
        ("comm", Self::COMM, SampleType::empty()),
        ("pid", Self::PID, SampleType::TID),
        ("tid", Self::TID, SampleType::TID),
        ("cpu", Self::CPU, SampleType::CPU),
        ("time", Self::TIME, SampleType::TIME),
        ("period", Self::PERIOD, SampleType::PERIOD),
        ("event", Self::EVENT, SampleType::empty()),
        ("trace", Self::TRACE, SampleType::RAW),
        ("addr", Self::ADDR, SampleType::ADDR),
        ("cgroup", Self::CGROUP, SampleType::CGROUP),
        ("ip", Self::IP, SampleType::empty()),
        ("sym", Self::SYM, SampleType::empty()),
        ("symoff", Self::SYMOFF, SampleType::empty()),
        ("dso", Self::DSO, SampleType::empty()),
        ("srcline", Self::SRCLINE, SampleType::empty()),
        ("brstack", Self::BRSTACK, SampleType::BRANCH_STACK),
    ];

    /// Returns the set of a field, by the name that the perf tool has for it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, ..)| *known == name).map(|(_, field, _)| *field)
    }

    /// Returns the names of all fields.
    pub fn all_names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, ..)| *name)
    }

    /// Returns the names of the fields of this set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(_, field, _)| self.contains(*field)).map(|(name, ..)| *name)
    }

    /// Returns true if the set has all fields of another one.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if it has a field of the frames of a stack.
    pub fn has_frames(self) -> bool {
        [Self::IP, Self::SYM, Self::DSO, Self::SRCLINE].into_iter().any(|field| self.contains(field))
    }

    /// Returns all fields that the samples of an event have. A fixed period is known from the attr.
    pub fn of_samples(attr: &Attr) -> Self {
        let is_fixed = |field| field == Self::PERIOD && matches!(attr.sampling(), Sampling::Period(_));
        let has =
            |&&(_, field, bit): &&(_, Self, SampleType)| attr.sample_type.contains(bit) || is_fixed(field);
        Self::NAMES.iter().filter(has).fold(Self(0), |all, (_, field, _)| all | *field)
    }

    /// Returns the fields that the perf tool prints for an event.
    pub fn default_of(attr: &Attr) -> Self {
        let common = Self::COMM | Self::TID | Self::CPU | Self::TIME | Self::EVENT;
        let rest = match attr.kind {
            // A tracepoint has a stack if it was recorded.
            EventType::TRACEPOINT if attr.sample_type.contains(SampleType::CALLCHAIN) => {
                Self::TRACE | Self::FRAME
            }
            EventType::TRACEPOINT => Self::TRACE,
            _ => Self::PERIOD | Self::FRAME,
        };
        Self((common | rest).0 & Self::of_samples(attr).0)
    }

    /// Returns the name of the first field of the set that the samples of an event do not have.
    pub fn missing(self, attr: &Attr) -> Option<&'static str> {
        (self - Self::of_samples(attr)).names().next()
    }
}

/// The fields of either set.
impl BitOr for ScriptFields {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The fields of the first set that are not in the second.
impl Sub for ScriptFields {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
