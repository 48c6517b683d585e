//! CPU time, which does not run while others have the CPU.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Measures the CPU time of the thread that started it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self(now())
    }

    /// CPU time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        now().saturating_sub(self.0)
    }
}

fn now() -> Duration {
    // The clock is never negative: it starts with the thread.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_costs_no_cpu_time() {
        let (watch, nap) = (Stopwatch::start(), Duration::from_millis(50));
        std::thread::sleep(nap);
        assert!(watch.elapsed() < nap);
    }
}
