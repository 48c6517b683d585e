/// The result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitResult {
    /// There are records to read.
    Readable,
    /// The timeout expired. There may be unread records, fewer than the watermark.
    TimedOut,
    /// The tasks that the events watch have exited, with all copies that inherited them (since Linux
    /// 3.18), and no record is left.
    HungUp,
    /// An event has failed and no record is left: a pinned event that could not be scheduled on its
    /// PMU, or a PMU that was removed.
    Failed,
    /// The [`Waker`](crate::Waker) was used. There may be unread records; then the next
    /// wait returns [`Readable`](Self::Readable).
    Woken,
}

impl WaitResult {
    /// Returns whether another wait would return the same at once, until another event writes into
    /// a ring that hung up, or a failed event is enabled again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::HungUp | Self::Failed)
    }

    /// Returns `Failed` if one of the events has failed, `HungUp` if all have hung up, and `None`
    /// while one of them has done neither.
    pub(crate) fn of_all(mut ends: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        ends.try_fold(Self::HungUp, |all, end| end.map(|end| if all == Self::Failed { all } else { end }))
    }

    pub(crate) const fn new(readable: bool, error: bool, hung_up: bool) -> Self {
        match (readable, error, hung_up) {
            (true, _, _) => Self::Readable,
            (_, true, _) => Self::Failed,
            (_, _, true) => Self::HungUp,
            _ => Self::TimedOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readability_is_reported_before_a_hang_up() {
        assert_eq!(WaitResult::new(true, false, true), WaitResult::Readable);
    }

    #[test]
    fn failure_is_reported_before_a_hang_up() {
        assert_eq!(WaitResult::new(false, true, true), WaitResult::Failed);
    }

    #[test]
    fn one_failure_counts_more_than_hang_ups() {
        let (hung_up, failed) = (Some(WaitResult::HungUp), Some(WaitResult::Failed));
        assert_eq!(WaitResult::of_all([hung_up, failed, hung_up].into_iter()), failed);
        assert_eq!(WaitResult::of_all([failed, None].into_iter()), None);
        assert_eq!(WaitResult::of_all([].into_iter()), hung_up, "no events");
    }

    #[test]
    fn poll_that_finds_nothing_has_timed_out() {
        assert_eq!(WaitResult::new(false, false, false), WaitResult::TimedOut);
    }
}
