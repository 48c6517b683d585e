//! The sums of the intervals, in which some addresses have no names yet.

use std::time::{Duration, Instant};

use perf_profile::LiveProfile;

use super::reader::Interval;
use super::screen::Moment;
use crate::out::interrupt::wait_for_names;

/// Maximum time that a table waits for names. The names of the first table need the symbols of all
/// running programs.
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

    /// Adds an interval. Returns the sums with the names that are found in time for the table;
    /// after the last interval with all names, unless an interrupt arrives.
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
