//! The sums of the intervals, of which the last ones may wait for names.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use perf_profile::LiveProfile;

use super::reader::Interval;
use super::screen::Moment;

/// The time that a table waits for names, at most: those of the first one need the symbols of all programs that run.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Adds up intervals in their order.
#[derive(Debug)]
pub(super) struct Sums {
    /// Of the intervals with all names.
    live: LiveProfile,
    pending: VecDeque<Interval>,
    wait: Duration,
}

impl Sums {
    /// `delay` is the time between two tables.
    pub(super) fn new(live: LiveProfile, delay: Duration) -> Self {
        Self { live, pending: VecDeque::new(), wait: MAX_WAIT.min(delay / 2) }
    }

    /// Adds an interval. Returns the sums with the names that are there soon, after the last interval with all names.
    pub(super) fn add(&mut self, interval: Interval) -> Moment {
        let numbers = interval.numbers;
        let end = Instant::now() + self.wait;
        let is_last = interval.is_last;
        self.pending.push_back(interval);
        while self.pending.front_mut().is_some_and(|first| is_last || first.profile.wait_until(end)) {
            let Some(first) = self.pending.pop_front() else { break };
            self.live.add(&first.profile.wait());
        }
        let mut shown = self.live.clone();
        for interval in &self.pending {
            shown.add(&interval.profile.so_far());
        }
        let waiting = self.pending.iter().map(|interval| interval.profile.waiting()).sum();
        Moment { profile: shown.shared(), numbers, left_out: shown.left_out(), waiting }
    }
}
