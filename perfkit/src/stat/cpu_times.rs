//! The CPU time that the command used.

use std::io;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The CPU time of processes that were waited for, including their children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuTimes {
    pub(super) user: Duration,
    pub(super) system: Duration,
}

impl CpuTimes {
    /// Returns the times of all commands that have exited and were waited for.
    pub(super) fn of_children() -> io::Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok(Self { user: duration(usage.user_time()), system: duration(usage.system_time()) })
    }

    /// Returns the difference from an earlier reading.
    pub(super) const fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
        }
    }
}

/// Converts a time, which is not negative.
fn duration(time: TimeVal) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec()).unwrap_or(0));
    seconds + Duration::from_micros(u64::try_from(time.tv_usec()).unwrap_or(0))
}
