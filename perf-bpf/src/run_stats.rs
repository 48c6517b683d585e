use std::os::fd::OwnedFd;

use crate::syscall::enable_stats;
use crate::{Error, ObjectName};
use perf_sys::abi::bpf::BpfCmd;

/// Statistics of the run time of all programs, enabled as long as this value lives.
///
/// [`ProgramInfo::run_time`](crate::ProgramInfo::run_time) and [`runs`](crate::ProgramInfo::runs)
/// grow while any process has enabled them. They cost each run two reads of the clock.
#[derive(Debug)]
pub struct RunStats(#[allow(dead_code)] OwnedFd); // closing it disables the statistics

impl RunStats {
    /// `bpf(BPF_ENABLE_STATS)`—Enables the statistics. Since Linux 5.8; needs `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_ENABLE_STATS")]
    pub fn enable() -> Result<Self, Error> {
        enable_stats().map(Self).map_err(Error::of(BpfCmd::ENABLE_STATS, ObjectName::EMPTY))
    }
}
