//! CPU time of a thread, without the time in which it sleeps or waits for a CPU.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Measures the CPU time of the thread that started it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    /// Starts measuring.
    pub(crate) fn start() -> Self {
        Self(now())
    }

    /// Returns the CPU time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        now().saturating_sub(self.0)
    }
}

fn now() -> Duration {
    // Never negative, because the clock starts at 0 with the thread.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_takes_no_cpu_time() {
        let (watch, pause) = (Stopwatch::start(), Duration::from_millis(50));
        std::thread::sleep(pause);
        assert!(watch.elapsed() < pause);
    }
}
