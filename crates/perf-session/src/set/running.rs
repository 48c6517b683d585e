//! Whether events count, by their times and the clock of their CPU.

/// The most ns between the ends of two events that stop when their CPU goes offline, and a tick of
/// the slowest clock that perf uses.
const TOLERANCE: u64 = 11_000_000;

/// The times of a unit and of the watch of its CPU, read one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Number of calls of `EventSet::enable` and `EventSet::disable` before.
    pub(super) turns: u32,
    /// Time enabled of the leader, in ns.
    pub(super) time: u64,
    /// Time of the watch, in ns.
    pub(super) watch: u64,
    /// The most ns between the two reads.
    pub(super) slack: u64,
}

/// Whether a unit is enabled, which the kernel does not report: it is disabled if the clock of its
/// CPU's watch advances and its time enabled does not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    last: Option<Look>,
    /// Whether it was enabled between the last two looks, `None` if that is not known.
    pub(super) was_on: Option<bool>,
}

impl Running {
    /// Compares the times with the last ones.
    pub(super) fn look(&mut self, now: Look) {
        // The interval has a call of `enable` or `disable` in it: start a new one.
        let Some(last) = self.last.filter(|last| last.turns == now.turns) else {
            *self = Self { last: Some(now), was_on: None };
            return;
        };
        let (watched, own) = (now.watch.saturating_sub(last.watch), now.time.saturating_sub(last.time));
        // The two clocks are read one after the other, at both ends of the interval.
        let slack = last.slack.saturating_add(now.slack);
        let tolerance = slack.saturating_add(TOLERANCE);
        let was_off = watched.saturating_sub(own) > tolerance;
        if !was_off && watched <= tolerance {
            return; // too short an interval: the next look extends it
        }
        *self = Self { last: Some(now), was_on: Some(!was_off) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Observes events that were opened at 0: `(time, watch)` in ms. Returns the result after each
    /// observation.
    fn looks(looks: &[(u64, u64)]) -> Vec<Option<bool>> {
        let mut running = Running::default();
        let look = |&(time, watch): &(u64, u64)| {
            running.look(Look { turns: 1, time: time * MS, watch: watch * MS, slack: MS / 100 });
            running.was_on
        };
        looks.iter().map(look).collect()
    }

    #[test]
    fn event_whose_time_advances_like_that_of_the_watch_is_on() {
        assert_eq!(looks(&[(0, 5), (100, 105), (200, 206)]), [None, Some(true), Some(true)]);
    }

    #[test]
    fn event_that_stopped_since_the_last_look_is_off() {
        assert_eq!(looks(&[(0, 5), (100, 105), (150, 205)]), [None, Some(true), Some(false)]);
        assert_eq!(
            looks(&[(0, 5), (0, 105), (80, 205), (180, 305)])[1..],
            [Some(false), Some(false), Some(true)]
        );
    }

    #[test]
    fn looks_in_quick_succession_are_one() {
        // Each interval alone is too short.
        let on = [(10, 10), (16, 16), (22, 22)];
        assert_eq!(looks(&on)[1..], [None, Some(true)]);
        let off = [(10, 10), (10, 16), (10, 22)];
        assert_eq!(looks(&off)[1..], [None, Some(false)]);
    }

    #[test]
    fn looks_before_the_last_call_are_forgotten() {
        let mut running = Running::default();
        let mut look = |turns, time, watch| {
            running.look(Look { turns, time, watch, slack: 0 });
            running.was_on
        };
        assert_eq!([look(1, 0, 0), look(1, 0, 19 * MS)], [None, Some(false)]);
        assert_eq!([look(2, 0, 20 * MS), look(2, 19 * MS, 39 * MS)], [None, Some(true)]);
    }
}
