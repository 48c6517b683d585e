use super::Snapshot;
use crate::error::Result;
use crate::event::Event;
use crate::event::membarrier_global;
use crate::map::Overwritten;

/// A paused ring with the memory for its copy. Resumed when it is copied or dropped.
pub(super) struct Paused<'r> {
    output: PausedOutput<'r>,
    ring: &'r Overwritten,
    copy: &'r mut [u64],
    scratch: &'r mut [u64],
}

impl<'r> Paused<'r> {
    pub(super) fn new(
        event: &'r Event,
        ring: &'r Overwritten,
        copy: &'r mut [u64],
        scratch: &'r mut [u64],
    ) -> Result<Self> {
        // First, because a child of `fork` must not pause the ring of its parent.
        ring.check_here()?;
        event.pause_output(true)?;
        Ok(Self { output: PausedOutput(event), ring, copy, scratch })
    }

    /// Copies and resumes the ring. Call [`wait_for_writers`] before.
    pub(super) fn copy(self) -> Result<Snapshot<'r>> {
        let Self { output, ring, copy, scratch } = self;
        let head = ring.head()?;
        ring.copy(copy)?;
        output.resume()?;
        Ok(Snapshot { head, data: copy, scratch })
    }
}

/// The output of an event while it is paused.
struct PausedOutput<'r>(&'r Event);

impl PausedOutput<'_> {
    fn resume(self) -> Result<()> {
        let event = self.0;
        core::mem::forget(self);
        event.pause_output(false)
    }
}

impl Drop for PausedOutput<'_> {
    fn drop(&mut self) {
        // The caller gets the earlier error.
        let _ = self.0.pause_output(false);
    }
}

/// Waits until the kernel has finished every record that it began before a pause. Such a record may be
/// half written, over the oldest ones.
///
/// The kernel tests the pause under `rcu_read_lock` and writes with preemption disabled
/// (`perf_output_begin`), so a grace period of RCU has to pass. Of the membarrier commands only
/// GLOBAL waits for one; the expedited ones interrupt CPUs that run certain processes, which orders
/// memory but waits for no section with preemption disabled. GLOBAL fails with `nohz_full` and
/// under some seccomp filters. Then the oldest records may be damaged.
pub(super) fn wait_for_writers() {
    membarrier_global();
}
