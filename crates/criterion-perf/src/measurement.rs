//! A perf event as a measurement of criterion.

use std::cell::Cell;
use std::sync::Arc;

use criterion::measurement::{Measurement, ValueFormatter};
use perf_session::EventSet;
use perf_session::ring::decode::Scaled;
use perf_session::ring::{self, Count, Event};

use crate::formatter::EventFormatter;
use crate::text::note;
use crate::{Error, PerfMeasurementOptions};

/// Relative difference that is added between samples with the same count, which page faults and
/// system calls often have. With a variance of 0, criterion's `kde::sweep_and_estimate` gets an
/// empty sample of t values, and its `sample[0]` panics.
const SPREAD: f64 = 1e-9;

/// A measurement for criterion that counts a perf event.
///
/// Counts the thread that created it; criterion runs all benchmarks in the same thread.
///
/// ```
/// use criterion::measurement::Measurement;
/// use criterion_perf::PerfMeasurement;
///
/// # if PerfMeasurement::new("page-faults").is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let faults = PerfMeasurement::new("page-faults")?; // an error has cause, evidence and remedy
/// // As criterion does it, with `Criterion::default().with_measurement(faults)`:
/// let start = faults.start();
/// let memory = vec![1_u8; 64 << 20];
/// let value = faults.to_f64(&faults.end(start));
/// println!("{}", faults.formatter().format_value(value)); // 16.385 K page-faults:u
/// # drop(memory);
/// # Ok::<(), criterion_perf::Error>(())
/// ```
///
/// # Values
///
/// A value is the count between `start` and `end`. It is `None` if the event could not be read, or
/// never ran because other events used its counter. Criterion gets 0 for it, prints
/// `At least one measurement of benchmark ... took zero time`, and reports no result. A line on
/// standard error has the true reason.
///
/// If other events used the counter for a part of the time, the value is scaled to the whole time,
/// as in [`Count::scaled`]. A line on standard error reports once that there are such estimates.
///
/// Every second value is increased by a part in 10⁹, because criterion 0.8 panics when it draws the
/// comparison of samples that are all equal.
#[derive(Debug)]
pub struct PerfMeasurement {
    event: Arc<str>,
    formatter: EventFormatter,
    scale: f64,
    /// Alternates between 0 and [`SPREAD`].
    spread: Cell<f64>,
    refused: Option<Error>,
    /// One event for each PMU that has it, several on a hybrid machine. Dropped before the set,
    /// which removes probes.
    opened: Vec<Arc<Event>>,
    _set: EventSet,
}

impl PerfMeasurement {
    /// Creates a measurement of an event by its name, for the calling thread in user space. See
    /// [`PerfMeasurementOptions`] for other choices.
    ///
    /// # Errors
    ///
    /// - [`Error::Name`]: no event has the name, or several do.
    /// - [`Error::Open`]: the machine lacks the event, or the user may not count it.
    /// - [`Error::CpuOnly`]: the event cannot count threads.
    pub fn new(event: impl Into<String>) -> Result<Self, Error> {
        PerfMeasurementOptions::new(event).open()
    }

    /// Creates a measurement of the only event of an enabled set.
    pub(crate) fn from_set(set: EventSet) -> Self {
        let event = set.names().first().map_or_else(|| "".into(), Arc::clone);
        let (scale, unit) =
            set.events().next().map_or((1.0, ""), |event| (event.spec.scale(), event.spec.unit()));
        let formatter = EventFormatter::new(&event, unit);
        let opened = set.events().map(|event| Arc::clone(event.event)).collect();
        Self { event, formatter, scale, spread: Cell::new(0.0), refused: None, opened, _set: set }
    }

    pub(crate) fn instead_of(self, refused: Error) -> Self {
        Self { refused: Some(refused), ..self }
    }

    /// Returns the name of the measured event, as values show it: `instructions:u`.
    pub fn event(&self) -> &str {
        &self.event
    }

    /// Returns the error of the requested event if the clock is measured instead, with
    /// [`PerfMeasurementOptions::clock_if_refused`].
    pub fn refused(&self) -> Option<&Error> {
        self.refused.as_ref()
    }

    /// Reads the count since the event was opened. Prints the error if it fails.
    fn read(&self) -> Option<Count> {
        sum(self.opened.iter().map(|event| Count::read(event)))
            .map_err(|error| note(format_args!("{}: {error}; the value is unknown", self.event)))
            .ok()
    }
}

impl Measurement for PerfMeasurement {
    type Intermediate = Option<Count>;
    type Value = Option<u64>;

    fn start(&self) -> Option<Count> {
        self.read()
    }

    fn end(&self, start: Option<Count>) -> Option<u64> {
        let end = self.read();
        value_of(&self.event, &end?.since(&start?))
    }

    fn add(&self, one: &Option<u64>, other: &Option<u64>) -> Option<u64> {
        Some(one.as_ref()?.saturating_add(*other.as_ref()?))
    }

    fn zero(&self) -> Option<u64> {
        Some(0)
    }

    /// Returns 0 for an unknown value, because criterion would print `NaN` as a result.
    #[allow(clippy::cast_precision_loss)] // statistics do not need more than 53 bits
    fn to_f64(&self, value: &Option<u64>) -> f64 {
        if *value == Some(0) {
            note(format_args!(
                "{}: a sample has the count 0, of which criterion makes no result (`zero time`)",
                self.event
            ));
        }
        let spread = self.spread.replace(SPREAD - self.spread.get());
        value.map_or(0.0, |value| value as f64 * self.scale * (1.0 + spread))
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &self.formatter
    }
}

/// Returns the sum of a thread's counts of one event on its PMUs. The thread runs on one PMU at a
/// time, while the time enabled of all advances.
fn sum(mut counts: impl Iterator<Item = ring::Result<Count>>) -> ring::Result<Count> {
    let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
    let first = counts.next().unwrap_or_else(|| Ok(Count::default()))?;
    counts.try_fold(first, |mut all, count| {
        let count = count?;
        all.value = all.value.wrapping_add(count.value);
        all.time_enabled = all.time_enabled.max(count.time_enabled);
        all.time_running = sum(all.time_running, count.time_running);
        Ok(all)
    })
}

/// Returns the scaled value of a count between two reads. Prints once if it is an estimate.
fn value_of(event: &str, count: &Count) -> Option<u64> {
    match count.scaled() {
        Scaled::Exact(value) | Scaled::Unscaled(value) => Some(value),
        Scaled::Estimate(value) => {
            note(format_args!(
                "{event}: other events had its counter part of the time: values are estimates"
            ));
            Some(value)
        }
        // Both reads came within one tick of a coarse clock.
        Scaled::NeverRan if count.time_enabled == Some(0) => Some(count.value),
        Scaled::NeverRan => {
            note(format_args!("{event}: other events had its counter all the time: the value is unknown"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(value: u64, enabled: u64, running: u64) -> Count {
        let mut count = Count::new(value);
        (count.time_enabled, count.time_running) = (Some(enabled), Some(running));
        count
    }

    #[test]
    fn multiplexed_counts_are_scaled_and_those_that_never_ran_are_unknown() {
        let value = |count| value_of("an event", &count);
        assert_eq!(value(count(7, 100, 100)), Some(7));
        assert_eq!(value(count(7, 100, 50)), Some(14));
        assert_eq!(value(count(0, 100, 0)), None);
        assert_eq!(value(count(7, 0, 0)), Some(7), "no time has passed");
    }

    #[test]
    fn thread_that_moves_between_two_pmus_is_counted_exactly() {
        let counts = [Ok(count(30, 100, 60)), Ok(count(5, 99, 40))];
        let sum = sum(counts.into_iter()).unwrap();
        assert_eq!(sum, count(35, 100, 100));
        assert_eq!(value_of("an event", &sum), Some(35));
    }

    #[test]
    fn one_failed_read_makes_the_sum_unknown() {
        assert!(sum([Ok(count(1, 1, 1)), Err(ring::Error::PinnedFailed)].into_iter()).is_err());
        assert!(sum([Err(ring::Error::PinnedFailed), Ok(count(1, 1, 1))].into_iter()).is_err());
    }
}
