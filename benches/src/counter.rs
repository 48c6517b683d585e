//! The cost of a piece of work, by criterion-perf.

use criterion::measurement::Measurement;
use criterion_perf::{Error, PerfMeasurement, PerfMeasurementOptions};

/// A counter of what this thread does.
pub(crate) struct Counter(PerfMeasurement);

impl Counter {
    /// Counts nanoseconds on a CPU: unlike a clock it stops while another thread has the CPU.
    pub(crate) fn nanoseconds() -> Result<Self, Error> {
        Self::event("task-clock")
    }

    /// Counts an event of user space; nanoseconds on a CPU, with a line that says so, if this machine does not have it.
    pub(crate) fn event(name: &str) -> Result<Self, Error> {
        PerfMeasurementOptions::new(name).clock_if_refused().open().map(Self)
    }

    /// Counts system calls, of which the last read of the counter is one; `None` without tracefs or permission.
    pub(crate) fn system_calls() -> Option<Self> {
        PerfMeasurementOptions::new("raw_syscalls:sys_enter").include_kernel().open().ok().map(Self)
    }

    /// Returns the unit of the counts.
    pub(crate) fn unit(&self) -> &str {
        let event = self.0.event();
        if event.starts_with("task-clock") { "ns" } else { event }
    }

    /// Returns the cost of `work`, with two reads of the counter.
    pub(crate) fn count<R>(&self, work: impl FnOnce() -> R) -> Option<u64> {
        let start = self.0.start();
        std::hint::black_box(work());
        self.0.end(start)
    }
}
