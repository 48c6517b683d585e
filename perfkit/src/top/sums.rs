//! The sums of the intervals, of which some addresses wait for names.

use std::time::{Duration, Instant};

use perf_profile::LiveProfile;

use super::reader::Interval;
use super::screen::Moment;
use crate::out::interrupt::wait_for_names;

/// The time that a table waits for names, at most: those of the first one need the symbols of all programs that run.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Adds up intervals in their order.
#[derive(Debug)]
pub(super) struct Sums {
    live: LiveProfile,
    wait: Duration,
}

impl Sums {
    /// `delay` is the time between two tables.
    pub(super) fn new(live: LiveProfile, delay: Duration) -> Self {
        Self { live, wait: MAX_WAIT.min(delay / 2) }
    }

    /// Adds an interval. Returns the sums with the names that are there soon; after the last interval with all names, unless an
    /// interrupt comes.
    pub(super) fn add(&mut self, interval: Interval) -> Moment {
        let Interval { profile, numbers, is_last, .. } = interval;
        let end = Instant::now() + self.wait;
        self.live.add_pending(profile);
        let live = &mut self.live;
        if is_last {
            wait_for_names(|until| live.name_until(until));
        } else {
            live.name_until(end);
        }
        Moment { profile: live.shared(), numbers, left_out: live.left_out(), waiting: live.waiting() }
    }
}
