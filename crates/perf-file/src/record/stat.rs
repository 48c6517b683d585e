//! The records of `perf stat` and of the scheduler's statistics.

use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::{StatRoundType, StatTag};
use crate::list::fields;

fields! {
    /// An option of `perf stat`.
    #[doc(alias = "perf_record_stat_config_entry")]
    pub struct StatConfig {
        /// Which option of `perf stat`.
        pub tag: StatTag = "tag",
        /// The value of this option.
        pub value: u64 = "val",
    }

    /// A count of `perf stat`.
    #[doc(alias = "perf_record_stat")]
    pub struct Stat {
        /// Id of the event.
        pub id: u64 = "id",
        /// Index of the CPU in the [`CpuMap`](super::CpuMap).
        pub cpu: u32 = "cpu",
        /// Index of the thread in the list of [`ThreadMapEntry`](super::ThreadMapEntry).
        pub thread: u32 = "thread",
        /// The count, unscaled.
        pub value: u64 = "val",
        /// Time enabled in ns.
        pub time_enabled: u64 = "ena",
        /// Time running in ns.
        pub time_running: u64 = "run",
    }

    /// End of a round of counts.
    #[doc(alias = "perf_record_stat_round")]
    pub struct StatRound {
        /// The kind of the round.
        pub kind: StatRoundType = "type",
        /// Time since the start in ns.
        pub time: u64 = "time",
    }
}

/// Scheduler statistics of a CPU or of one of its scheduling domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_schedstat_cpu")]
#[doc(alias = "perf_record_schedstat_domain")]
pub struct Schedstat<'a> {
    /// Time of the reading.
    pub timestamp: u64,
    /// Number of the CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// The domain; `None` for the statistics of the CPU itself.
    pub domain: Option<u16>,
    /// The counters, in the byte order of the file. Their layout depends on the version.
    pub counters: &'a [u8],
}

impl<'a> Schedstat<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>, is_domain: bool) -> Result<Self> {
        let (timestamp, cpu, version) = (body.u64("timestamp")?, body.u32("cpu")?, body.u16("version")?);
        let domain = body.u16("domain")?;
        Ok(Self { timestamp, cpu, version, domain: is_domain.then_some(domain), counters: body.rest() })
    }
}
