use super::Event;
use super::syscall::enable_task_events;
use crate::error::Result;

/// All events of a thread.
impl Event {
    /// `prctl(PR_TASK_PERF_EVENTS_ENABLE)`—Enables every event that the calling thread opened, on
    /// any target, with its inherited copies. It does not enable events that other threads opened
    /// on this one.
    ///
    /// # References
    ///
    /// `prctl(2)`, `PR_TASK_PERF_EVENTS_ENABLE`.
    #[doc(alias = "PR_TASK_PERF_EVENTS_ENABLE")]
    pub fn enable_all() -> Result<()> {
        enable_task_events(true)
    }

    /// `prctl(PR_TASK_PERF_EVENTS_DISABLE)`—Disables every event that
    /// [`enable_all`](Self::enable_all) enables.
    #[doc(alias = "PR_TASK_PERF_EVENTS_DISABLE")]
    pub fn disable_all() -> Result<()> {
        enable_task_events(false)
    }
}
