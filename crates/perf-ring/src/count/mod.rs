//! Counts: of one event or of a group, by `read(2)` or by `rdpmc`.

use core::fmt;

use perf_abi::ReadFormat;
use perf_decode::{ReadEntry, ReadValues, Scaled};
use perf_sys::Event;

use crate::error::{Error, Result};

mod group;
mod rdpmc_counter;

pub use group::{Group, GroupCount};
pub use rdpmc_counter::RdpmcCounter;

/// The count of one event at one moment.
///
/// Prints one line: the value, with `~` if it is an estimate and `-` if the event never ran; then
/// the fields of the event's [`ReadFormat`]. A width aligns the value: `{count:>12}`. The name of
/// the event is printed by the [`Event`] and by the [`GroupCount`].
///
/// ```
/// use perf_decode::Scaled;
/// use perf_ring::Count;
///
/// let mut count = Count::new(1000);
/// (count.time_enabled, count.time_running) = (Some(80), Some(40));
/// assert_eq!(count.scaled(), Scaled::Estimate(2000));
/// assert_eq!(count.to_string(), "~2000  ran 50.0 %");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The number of events, or ns of a clock, counted while the event ran. Not scaled.
    pub value: u64,
    /// Time enabled in ns, with [`ReadFormat::TOTAL_TIME_ENABLED`].
    pub time_enabled: Option<u64>,
    /// Time running in ns, with [`ReadFormat::TOTAL_TIME_RUNNING`]. Less than the time enabled if
    /// the event was multiplexed.
    pub time_running: Option<u64>,
    /// [`Event::id`], with [`ReadFormat::ID`].
    pub id: Option<u64>,
    /// The number of lost samples of the event, with [`ReadFormat::LOST`] (since Linux 6.0).
    pub lost: Option<u64>,
}

impl Count {
    /// Returns a count of `value` whose other fields are unknown.
    pub const fn new(value: u64) -> Self {
        Self { value, time_enabled: None, time_running: None, id: None, lost: None }
    }

    /// Returns the count of one entry of `values`, which [`read_values`](crate::read_values)
    /// returns.
    pub fn from_entry(values: &ReadValues<'_>, entry: ReadEntry) -> Self {
        let (time_enabled, time_running) = (values.time_enabled(), values.time_running());
        Self { value: entry.value, time_enabled, time_running, id: entry.id, lost: entry.lost }
    }

    /// Returns the value extrapolated to the full time enabled (multiplexing correction). Without
    /// both times, returns the value unscaled.
    pub fn scaled(&self) -> Scaled {
        match (self.time_enabled, self.time_running) {
            (Some(enabled), Some(running)) => Scaled::new(self.value, enabled, running),
            _ => Scaled::Unscaled(self.value),
        }
    }

    /// Returns time running divided by time enabled, from 0 to 1. At 1 the value is exact. Below 1,
    /// [`scaled`](Self::scaled) assumes the same rate of events in the rest of the time.
    ///
    /// Returns `None` without both times, or if the event was never enabled.
    #[allow(clippy::cast_precision_loss)] // a ratio does not need more than 53 bits
    pub fn coverage(&self) -> Option<f64> {
        let (enabled, running) = self.time_enabled.zip(self.time_running)?;
        (enabled != 0).then(|| (running as f64 / enabled as f64).min(1.0))
    }

    /// Returns the difference of two counts of one event, the count from `before` to `self`.
    ///
    /// Times and losses are in the difference only if both counts have them. A count by
    /// [`RdpmcCounter::try_read`](crate::RdpmcCounter::try_read) and one by [`read`](Self::read)
    /// may differ in that.
    ///
    /// Unlike a [`reset`](Event::reset), a difference covers the times, the losses, and the counts
    /// of inherited copies that have exited.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let difference = |now: Option<u64>, before: Option<u64>| Some(now?.wrapping_sub(before?));
        Self {
            value: self.value.wrapping_sub(before.value),
            time_enabled: difference(self.time_enabled, before.time_enabled),
            time_running: difference(self.time_running, before.time_running),
            id: self.id,
            lost: difference(self.lost, before.lost),
        }
    }
}

impl Count {
    /// The value as it is printed.
    fn value_text(&self) -> String {
        match self.scaled() {
            Scaled::Exact(value) | Scaled::Unscaled(value) => value.to_string(),
            Scaled::Estimate(value) => format!("~{value}"),
            Scaled::NeverRan => "-".to_owned(),
        }
    }

    /// Prints the fields of the read format other than the value.
    fn fmt_fields(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.time_enabled.and(self.time_running), self.coverage()) {
            (Some(_), Some(coverage)) => write!(f, "  ran {:.1} %", coverage * 100.0)?,
            (Some(_), None) => f.write_str("  ran - %")?, // never enabled
            (None, _) => {}
        }
        for (name, value) in [("id", self.id), ("lost", self.lost)] {
            value.map_or(Ok(()), |value| write!(f, "  {name} {value}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>1$}", self.value_text(), f.width().unwrap_or(0))?;
        self.fmt_fields(f)
    }
}

/// Reading.
impl Count {
    /// `read(fd, buf, len)`—Reads the count of `event`, with all fields of its [`ReadFormat`]. Does
    /// not allocate.
    ///
    /// # Errors
    ///
    /// [`Error::GroupFormat`] if the format has [`GROUP`](ReadFormat::GROUP), and the errors of
    /// [`read_values`].
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "Reading results".
    #[doc(alias = "ReadCount")]
    pub fn read(event: &Event) -> Result<Self> {
        if event.attr().read_format.contains(ReadFormat::GROUP) {
            return Err(Error::GroupFormat);
        }
        let mut words = [0; MAX_WORDS];
        let values = read_values(event, &mut words)?;
        let entry = values.iter().next().ok_or(Error::ReadLength { needed: 8, found: 0 })?;
        Ok(Self::from_entry(&values, entry))
    }

    /// Enables `event`, runs `work`, disables the event, and returns the result of `work` and the
    /// count.
    ///
    /// Open the event with [`DISABLED`](perf_abi::AttrFlags::DISABLED). The count is a difference,
    /// so an event can measure many times, and value, times and losses are of `work` alone. If
    /// `work` panics, the event stays enabled.
    ///
    /// ```
    /// use perf_ring::{Attr, AttrFlags, Count, Event, Software, Target};
    ///
    /// # fn main() -> perf_ring::Result<()> {
    /// let faults = Attr::software(Software::PAGE_FAULTS)
    ///     .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    /// # if Event::open(&faults, Target::calling_thread()).is_err() {
    /// #     return Ok(()); // not permitted here
    /// # }
    /// let event = Event::open(&faults, Target::calling_thread())?;
    /// let (memory, count) = Count::measure(&event, || vec![1_u8; 1 << 20])?;
    /// println!("{count}  {event}"); // 256  PAGE_FAULTS
    /// # drop(memory);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read) and of [`Event::enable`].
    #[doc(alias = "Measure")]
    pub fn measure<R>(event: &Event, work: impl FnOnce() -> R) -> Result<(R, Self)> {
        let before = Self::read(event)?;
        event.enable()?;
        let result = work();
        event.disable()?;
        Ok((result, Self::read(event)?.since(&before)))
    }
}

/// `read(fd, buf, 8 * n)`—Reads the count of `event`. With [`GROUP`](ReadFormat::GROUP), reads the
/// counts of its whole group, the group leader first, through any of the group's events. `buf` must
/// hold them all.
///
/// # Errors
///
/// [`Error::PinnedFailed`] for a pinned event that could not be scheduled, [`Error::ReadLength`] if
/// the kernel returns a length that contradicts the format, and `ENOSPC` if `buf` is shorter.
#[doc(alias = "ReadGroupCount")]
pub fn read_values<'b>(event: &Event, buf: &'b mut [u64]) -> Result<ReadValues<'b>> {
    let len = event.read_raw(buf)?;
    let words = buf.get(..len).unwrap_or(&[]);
    values_of(words, event.attr().read_format)
}

/// Length in words of the longest count of one event: value, two times, id and losses.
const MAX_WORDS: usize = 5;

/// Parses the words that the kernel returned.
fn values_of(words: &[u64], format: ReadFormat) -> Result<ReadValues<'_>> {
    use perf_decode::Error::{TrailingBytes, Truncated};
    let found = words.len() as u64 * 8;
    match ReadValues::parse(words, format) {
        Ok(values) => Ok(values),
        // The kernel returns 0 bytes for it (`perf_read_hw`, PERF_EVENT_STATE_ERROR).
        Err(_) if found == 0 => Err(Error::PinnedFailed),
        Err(Truncated { needed, .. }) => Err(Error::ReadLength { needed: u64::from(needed), found }),
        Err(TrailingBytes { found: trailing, .. }) => {
            Err(Error::ReadLength { needed: found - trailing, found })
        }
        Err(_) => Err(Error::ReadLength { needed: 0, found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

    fn cycles(value: u64, times: Option<(u64, u64)>) -> Count {
        let (time_enabled, time_running) = times.unzip();
        Count { value, time_enabled, time_running, ..Count::default() }
    }

    #[test]
    fn read_of_another_length_is_an_error_with_both_and_an_empty_one_a_failed_pinned_event() {
        for (words, format, expected) in [
            (&[][..], ReadFormat::empty(), Error::PinnedFailed),
            (&[], ReadFormat::GROUP, Error::PinnedFailed),
            (&[1, 2], TIMES, Error::ReadLength { needed: 24, found: 16 }),
            (&[1, 2, 3, 4], TIMES, Error::ReadLength { needed: 24, found: 32 }),
            (&[3, 1, 1], ReadFormat::GROUP, Error::ReadLength { needed: 32, found: 24 }),
        ] {
            assert_eq!(values_of(words, format), Err(expected));
        }
    }

    #[test]
    fn coverage_is_the_ratio_of_time_running_to_time_enabled() {
        let times = [None, Some((0, 0)), Some((80, 0)), Some((80, 40)), Some((80, 81))];
        let coverage = times.map(|times| cycles(1, times).coverage());
        assert_eq!(coverage, [None, None, Some(0.0), Some(0.5), Some(1.0)]);
        assert_eq!(cycles(7, None).scaled(), Scaled::Unscaled(7));
    }

    #[test]
    fn difference_covers_times_and_losses_but_not_the_id() {
        let before = Count { id: Some(21), lost: Some(2), ..cycles(100, Some((50, 50))) };
        let now = Count { id: Some(21), lost: Some(5), ..cycles(300, Some((150, 75))) };
        let found = now.since(&before);
        assert_eq!(found, Count { id: Some(21), lost: Some(3), ..cycles(200, Some((100, 25))) });
        assert_eq!(found.scaled(), Scaled::Estimate(800));
    }

    #[test]
    fn difference_has_only_the_times_that_both_counts_have() {
        let with_times = |value| Count { lost: Some(1), ..cycles(value, Some((1_000, 500))) };
        for (now, before) in [(with_times(200), cycles(100, None)), (cycles(200, None), with_times(100))] {
            let found = now.since(&before);
            assert_eq!(found, cycles(100, None));
            assert_eq!((found.scaled(), found.coverage()), (Scaled::Unscaled(100), None));
        }
        let enabled_only = Count { time_running: None, ..with_times(100) };
        let found = with_times(200).since(&enabled_only);
        assert_eq!((found.time_enabled, found.time_running, found.lost), (Some(0), None, Some(0)));
    }

    #[test]
    fn line_marks_estimates_and_unknown_values() {
        assert_eq!(cycles(7, None).to_string(), "7");
        assert_eq!(cycles(7, Some((80, 80))).to_string(), "7  ran 100.0 %");
        assert_eq!(cycles(0, Some((80, 0))).to_string(), "-  ran 0.0 %");
        assert_eq!(cycles(0, Some((0, 0))).to_string(), "-  ran - %");
        let all = Count { id: Some(9), lost: Some(0), ..cycles(1000, Some((80, 40))) };
        assert_eq!(format!("{all:>6}"), " ~2000  ran 50.0 %  id 9  lost 0");
    }
}
