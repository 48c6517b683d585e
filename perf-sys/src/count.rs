use core::fmt;

use perf_abi::ReadFormat;
use perf_decode::{ReadValues, Scaled};

use crate::count_row::{Columns, write_row};
use crate::{Error, Event, Label, Result};

/// What one event has counted, read at one moment.
///
/// Printing it gives one line: the value, with `~` if it is an estimate and `-` if the event never ran;
/// the label; then what the event's [`ReadFormat`] adds.
///
/// ```
/// # let attr = perf_abi::Attr::hardware(perf_abi::Hardware::CPU_CYCLES);
/// use perf_decode::Scaled;
/// use perf_sys::{Count, Label};
///
/// let count = Count {
///     label: Label::of(&attr),
///     value: 1000,
///     time_enabled: Some(80),
///     time_running: Some(40),
///     id: None,
///     lost: None,
/// };
/// assert_eq!(count.scaled(), Scaled::Estimate(2000));
/// assert_eq!(count.to_string(), "~2000  CPU_CYCLES  ran  50.0 %");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What was counted.
    pub label: Label,
    /// How much of it, in the event's unit, while the event had the hardware.
    pub value: u64,
    /// ns that the event was enabled, with [`ReadFormat::TOTAL_TIME_ENABLED`].
    pub time_enabled: Option<u64>,
    /// ns that the event had the hardware, with [`ReadFormat::TOTAL_TIME_RUNNING`].
    pub time_running: Option<u64>,
    /// [`Event::id`], with [`ReadFormat::ID`].
    pub id: Option<u64>,
    /// Samples of the event that were lost, with [`ReadFormat::LOST`] (since Linux 6.0).
    pub lost: Option<u64>,
}

impl Count {
    /// One entry of a block of counts.
    pub(crate) fn of(label: Label, values: &ReadValues<'_>, entry: perf_decode::ReadEntry) -> Self {
        let (time_enabled, time_running) = (values.time_enabled(), values.time_running());
        Self { label, value: entry.value, time_enabled, time_running, id: entry.id, lost: entry.lost }
    }

    /// The value as it would be, had the event had the hardware all the time it was enabled. Without
    /// both times in the [`ReadFormat`]: the value as it is.
    #[must_use]
    pub fn scaled(&self) -> Scaled {
        match (self.time_enabled, self.time_running) {
            (Some(enabled), Some(running)) => Scaled::new(self.value, enabled, running),
            _ => Scaled::Unscaled(self.value),
        }
    }

    /// The confidence of [`scaled`](Self::scaled): the part of its time that the event was really
    /// counting, from 0 to 1. At 1 the value is exact; an estimate supposes that the other part was like
    /// this one.
    ///
    /// `None` without both times, or if the event was never enabled.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a ratio: the lost bits are below what it can say
    pub fn coverage(&self) -> Option<f64> {
        let (enabled, running) = self.time_enabled.zip(self.time_running)?;
        (enabled != 0).then(|| (running as f64 / enabled as f64).min(1.0))
    }

    /// Returns the difference of two counts of one event: what it counted from `before` to `self`.
    ///
    /// Times and losses are in the difference only if both counts have them. A count by
    /// [`UserCounter::try_read`](crate::UserCounter::try_read) and one by [`Event::read`] may differ in
    /// that.
    ///
    /// Unlike a [`reset`](Event::reset), a difference covers the times, the losses, and the counts of
    /// inherited copies that have exited.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let difference = |now: Option<u64>, before: Option<u64>| Some(now?.wrapping_sub(before?));
        Self {
            label: self.label,
            value: self.value.wrapping_sub(before.value),
            time_enabled: difference(self.time_enabled, before.time_enabled),
            time_running: difference(self.time_running, before.time_running),
            id: self.id,
            lost: difference(self.lost, before.lost),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_row(f, self, &Columns::default())
    }
}

/// Counting: one system call each.
impl Event {
    /// `read(fd, buf, len)`—Reads the event's count, with all that its [`ReadFormat`] adds.
    ///
    /// # Errors
    ///
    /// [`Error::GroupFormat`] if the format has [`GROUP`](ReadFormat::GROUP), and as
    /// [`read_values`](Self::read_values).
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "Reading results".
    #[doc(alias = "ReadCount")]
    pub fn read(&self) -> Result<Count> {
        let attr = self.attr();
        if attr.read_format.contains(ReadFormat::GROUP) {
            return Err(Error::GroupFormat);
        }
        let mut words = [0; MAX_WORDS];
        let values = self.read_values(&mut words)?;
        let entry = values.iter().next().ok_or(Error::ReadLength { needed: 8, found: 0 })?;
        Ok(Count::of(Label::of(attr), &values, entry))
    }

    /// `read(fd, buf, 8 * n)`—Reads the count of the event, or with [`GROUP`](ReadFormat::GROUP) those
    /// of its whole group, leader first, whichever member this is. `buf` must have room for all.
    ///
    /// # Errors
    ///
    /// [`Error::PinnedFailed`] of a pinned event that could not be placed, [`Error::ReadLength`] if the
    /// answer has not the length of the format, and [`Error::System`]: `ENOSPC` if `buf` is shorter.
    #[doc(alias = "ReadGroupCount")]
    pub fn read_values<'b>(&self, buf: &'b mut [u64]) -> Result<ReadValues<'b>> {
        let len = self.read_raw(buf)?;
        let words = buf.get(..len).unwrap_or(&[]);
        values_of(words, self.attr().read_format)
    }
}

/// Words of the longest count of one event: its value, two times, id and losses.
const MAX_WORDS: usize = 5;

/// What the kernel answered with `words`.
fn values_of(words: &[u64], format: ReadFormat) -> Result<ReadValues<'_>> {
    use perf_decode::Error::{TrailingBytes, Truncated};
    let found = words.len() as u64 * 8;
    match ReadValues::parse(words, format) {
        Ok(values) => Ok(values),
        // Nothing at all is how the kernel says it; less than a format needs it never says.
        Err(_) if found == 0 => Err(Error::PinnedFailed),
        Err(Truncated { needed, .. }) => Err(Error::ReadLength { needed: u64::from(needed), found }),
        Err(TrailingBytes { found: trailing, .. }) => {
            Err(Error::ReadLength { needed: found - trailing, found })
        }
        Err(_) => Err(Error::ReadLength { needed: 0, found }),
    }
}

#[cfg(test)]
mod tests;
