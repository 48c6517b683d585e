//! The cost of a piece of work, by perf-sys' own counters.

use perf_abi::{Attr, AttrFlags, Software};
use perf_sys::{Event, Target};

/// A counter of what this thread does.
pub(crate) struct Counter(Event);

impl Counter {
    /// Counts nanoseconds on a CPU: unlike a clock it stops while another thread has the CPU.
    pub(crate) fn nanoseconds() -> Option<Self> {
        let flags = AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        Self::open(Attr::software(Software::TASK_CLOCK).with_flags(flags))
    }

    /// Counts system calls, of which the last read of the counter is one; `None` without tracefs or permission.
    pub(crate) fn system_calls() -> Option<Self> {
        let id = std::fs::read_to_string("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id").ok()?;
        Self::open(Attr::tracepoint(id.trim().parse().ok()?))
    }

    fn open(attr: Attr) -> Option<Self> {
        Event::open(&attr, Target::calling_thread()).ok().map(Self)
    }

    /// Returns the cost of `work`, with the two reads of the counter.
    pub(crate) fn count<R>(&self, work: impl FnOnce() -> R) -> Option<u64> {
        let before = self.read()?;
        std::hint::black_box(work());
        Some(self.read()? - before)
    }

    fn read(&self) -> Option<u64> {
        let mut count = [0];
        self.0.read_raw(&mut count).ok().filter(|&words| words == 1)?;
        Some(count[0])
    }
}
