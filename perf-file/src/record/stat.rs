use core::fmt;

use crate::Result;
use crate::bytes::Bytes;
use crate::list::{Read, fields};

/// The number of an option of `perf stat`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StatTag(pub u64);

impl StatTag {
    /// How counts are added up.
    #[doc(alias = "PERF_STAT_CONFIG_TERM__AGGR_MODE")]
    pub const AGGR_MODE: Self = Self(0);
    /// Interval between two readings in ms.
    #[doc(alias = "PERF_STAT_CONFIG_TERM__INTERVAL")]
    pub const INTERVAL: Self = Self(1);
    /// Whether counts are scaled.
    #[doc(alias = "PERF_STAT_CONFIG_TERM__SCALE")]
    pub const SCALE: Self = Self(2);
    /// Level of the caches over which counts are added up.
    #[doc(alias = "PERF_STAT_CONFIG_TERM__AGGR_LEVEL")]
    pub const AGGR_LEVEL: Self = Self(3);
}

impl fmt::Debug for StatTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AGGR_MODE => f.write_str("AGGR_MODE"),
            Self::INTERVAL => f.write_str("INTERVAL"),
            Self::SCALE => f.write_str("SCALE"),
            Self::AGGR_LEVEL => f.write_str("AGGR_LEVEL"),
            Self(tag) => write!(f, "StatTag({tag})"),
        }
    }
}

/// An option of `perf stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_stat_config_entry")]
pub struct StatConfig {
    /// The option.
    pub tag: StatTag,
    /// The value of this option.
    pub value: u64,
}

impl<'a> Read<'a> for StatConfig {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        Ok(Self { tag: StatTag(bytes.u64("tag")?), value: bytes.u64("val")? })
    }
}

fields! {
    /// A count of `perf stat`.
    #[doc(alias = "perf_record_stat")]
    pub struct Stat {
        /// Id of the event.
        pub id: u64 = "id",
        /// Index of the CPU in the [`CpuMap`](super::CpuMap).
        pub cpu: u32 = "cpu",
        /// Index of the thread in the list of [`ThreadMapEntry`](super::ThreadMapEntry).
        pub thread: u32 = "thread",
        /// The count.
        pub value: u64 = "val",
        /// Time enabled in ns.
        pub time_enabled: u64 = "ena",
        /// Time running in ns.
        pub time_running: u64 = "run",
    }
}

/// The kind of a round of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatRoundType(pub u64);

impl StatRoundType {
    /// After an interval.
    #[doc(alias = "PERF_STAT_ROUND_TYPE__INTERVAL")]
    pub const INTERVAL: Self = Self(0);
    /// At the end.
    #[doc(alias = "PERF_STAT_ROUND_TYPE__FINAL")]
    pub const FINAL: Self = Self(1);
}

/// End of a round of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_stat_round")]
pub struct StatRound {
    /// The kind of the round.
    pub kind: StatRoundType,
    /// Time since the start in ns.
    pub time: u64,
}

impl StatRound {
    pub(super) fn parse(body: &mut Bytes<'_>) -> Result<Self> {
        Ok(Self { kind: StatRoundType(body.u64("type")?), time: body.u64("time")? })
    }
}
