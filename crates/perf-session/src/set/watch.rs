//! Events that show whether a CPU was offline.

use perf_ring::{Attr, AttrFlags, Count, Event, Software, Target};

use super::loss::monotonic;
use super::{EventError, Scope};

/// The clock of the event advances within this many ns, unless its CPU was offline. The kernel
/// updates it when the event is read; the slowest clock that perf uses ticks every 10 ms.
const PULSE: u64 = 30_000_000;

/// An event that shows whether its CPU was offline since it was opened: a clock that counts on all
/// CPUs, also idle ones, without a timer.
///
/// It belongs to the set alone, because an event that a caller can reach may also have stopped
/// because somebody disabled it. For a cgroup, the time of an event advances only while one of its
/// tasks runs.
#[derive(Debug)]
pub(super) struct Watch {
    event: Event,
    pub(super) cpu: u32,
    /// Time of the clock at the last look, in ns.
    pub(super) time: u64,
    /// When the event was last known to count, in ns of `CLOCK_MONOTONIC`.
    pub(super) at_ns: u64,
    pub(super) is_dead: bool,
}

impl Watch {
    /// Opens the event of a CPU, enabled.
    pub(super) fn open(cpu: u32) -> Result<Self, EventError> {
        let attr =
            Attr::software(Software::CPU_CLOCK).with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
        let at_ns = monotonic();
        match Event::open(&attr, Target::cpu(cpu)) {
            Ok(event) => Ok(Self { event, cpu, time: 0, at_ns, is_dead: false }),
            Err(error) => {
                let label = Software::CPU_CLOCK.name().unwrap_or_default().into();
                Err(EventError::new(label, &attr, Scope::cpu(cpu), false, error))
            }
        }
    }

    /// Finds out whether the event still counts.
    pub(super) fn look(&mut self) -> Result<(), EventError> {
        self.time = self.read()?;
        if self.advances()? {
            return Ok(());
        }
        // `prctl` may have disabled all events of the thread. An event whose CPU was offline does
        // not count again, although its time enabled advances after it was enabled (kernel errata).
        self.event.enable().map_err(|error| self.failed(error))?;
        let start = monotonic();
        while monotonic() - start < PULSE {
            if self.advances()? {
                return Ok(());
            }
        }
        self.is_dead = true;
        Ok(())
    }

    fn advances(&mut self) -> Result<bool, EventError> {
        let (at_ns, time) = (monotonic(), self.read()?);
        let advances = time != self.time;
        if advances {
            (self.time, self.at_ns) = (time, at_ns);
        }
        Ok(advances)
    }

    fn read(&self) -> Result<u64, EventError> {
        Count::read(&self.event).map(|count| count.value).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl Into<perf_ring::Error>) -> EventError {
        EventError::of(&self.event, Scope::cpu(self.cpu), false, error)
    }
}
