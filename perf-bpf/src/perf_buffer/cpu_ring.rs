use std::sync::Arc;
use std::time::{Duration, Instant};

use perf_sys::Event;

use super::PerfBufferCounts;

/// The time in which an event that counts must advance its time enabled. The kernel updates it in every
/// read; the slowest clock that perf uses ticks every 10 ms.
const PULSE: Duration = Duration::from_millis(30);

/// The event and the ring of one CPU.
#[derive(Debug)]
pub(super) struct CpuRing {
    /// The key of the ring in the set. Ascending, never reused.
    pub(super) key: usize,
    pub(super) cpu: u32,
    pub(super) event: Arc<Event>,
    pub(super) counts: PerfBufferCounts,
    /// Cleared when the CPU was found to be offline, or to have been offline in between.
    pub(super) is_live: bool,
}

impl CpuRing {
    /// Returns whether the event's time enabled still advances, which ends when its CPU goes offline.
    pub(super) fn is_counting(&self) -> perf_sys::Result<bool> {
        let (first, begin) = (self.event.read()?.time_enabled, Instant::now());
        loop {
            // Before the read, so that there is one after the time is over.
            let is_over = begin.elapsed() > PULSE;
            if self.event.read()?.time_enabled != first {
                return Ok(true);
            }
            if is_over {
                return Ok(false);
            }
        }
    }

    /// Returns the counts, with the lost records as the kernel counts them.
    pub(super) fn read_counts(&self) -> perf_sys::Result<PerfBufferCounts> {
        Ok(PerfBufferCounts {
            lost: self.event.read()?.lost.unwrap_or(self.counts.reported_lost),
            ..self.counts
        })
    }
}
