use rustix::process::configure_performance_counters;

use crate::{Call, Error, Event, Result};

/// Every event at once.
impl Event {
    /// `prctl(PR_TASK_PERF_EVENTS_ENABLE)`—Enables every event that the calling thread has opened,
    /// whatever it watches, with its inherited copies. Events that others opened to watch this thread
    /// are not among them.
    ///
    /// # References
    ///
    /// `prctl(2)`, `PR_TASK_PERF_EVENTS_ENABLE`.
    #[doc(alias = "PR_TASK_PERF_EVENTS_ENABLE")]
    pub fn enable_all() -> Result<()> {
        configure_performance_counters(true).map_err(Error::of(Call::PrctlEnable))
    }

    /// `prctl(PR_TASK_PERF_EVENTS_DISABLE)`—Disables what [`enable_all`](Self::enable_all) enables.
    #[doc(alias = "PR_TASK_PERF_EVENTS_DISABLE")]
    pub fn disable_all() -> Result<()> {
        configure_performance_counters(false).map_err(Error::of(Call::PrctlDisable))
    }
}
