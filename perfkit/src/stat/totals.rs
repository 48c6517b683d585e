//! The counts of all runs, for each part and event.

use std::time::Duration;

use perf_session::ring::decode::Scaled;
use perf_session::{Counts, EventCounts};

use super::cpu_times::CpuTimes;
use super::events::Events;
use super::row::{Row, Value};
use super::split::{Part, Split, cpus_of, has_no_sum};
use super::spread::Spread;
use crate::out::message::shown;

/// The readings of one run or several.
#[derive(Debug)]
pub(super) struct Totals {
    split: Split,
    parts: Vec<PartTotals>,
    /// Seconds of each run.
    pub(super) elapsed: Spread,
    /// Seconds of CPU time of the command in each run, without a value if other tasks are counted.
    pub(super) user: Spread,
    pub(super) system: Spread,
    pub(super) runs: u32,
}

#[derive(Debug)]
struct PartTotals {
    part: Part,
    /// The counts of the last run.
    counts: Counts,
    /// Totals of each event, in the order of `counts`.
    events: Vec<EventTotals>,
}

#[derive(Clone, Debug, Default)]
struct EventTotals {
    /// The counts, corrected for multiplexing, before they are scaled to a unit.
    values: Spread,
    is_estimate: bool,
    /// Time enabled in ns, summed over the runs.
    enabled: f64,
    /// Time running in ns, summed over the runs.
    running: f64,
}

impl Totals {
    pub(super) fn new(split: Split) -> Self {
        let [elapsed, user, system] = [Spread::default(); 3];
        Self { split, parts: Vec::new(), elapsed, user, system, runs: 0 }
    }

    /// Adds the counts of one run, its time in seconds, and the CPU time of the command.
    pub(super) fn add(&mut self, parts: Vec<(Part, Counts)>, elapsed: f64, cpu_times: Option<CpuTimes>) {
        self.runs += 1;
        self.elapsed.add(elapsed);
        if let Some(CpuTimes { user, system }) = cpu_times {
            self.user.add(user.as_secs_f64());
            self.system.add(system.as_secs_f64());
        }
        for (part, counts) in parts {
            let index = self.parts.iter().position(|other| other.part == part).unwrap_or_else(|| {
                let events = vec![EventTotals::default(); counts.iter().len()];
                self.parts.push(PartTotals { part, counts: counts.clone(), events });
                self.parts.len() - 1
            });
            let Some(part) = self.parts.get_mut(index) else { continue };
            part.events.iter_mut().zip(counts.iter()).for_each(|(totals, event)| totals.add(event));
            part.counts = counts;
        }
    }

    /// Returns a row for each event and part, in the order of the perf tool: for CPUs and threads
    /// by event, for others by part.
    pub(super) fn rows(&self, events: &Events, has_spread: bool) -> Vec<Row> {
        let mut rows: Vec<(usize, Row)> = Vec::new();
        let elapsed = self.elapsed.mean().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        for part in &self.parts {
            let means: Vec<Option<f64>> = part.events.iter().map(|totals| totals.values.mean()).collect();
            let metrics = part.counts.metrics_of(&means, elapsed.unwrap_or_default());
            let cpus = part.counts.iter().map(|event| cpus_of(event).len()).max().unwrap_or(0);
            let mut open = part.counts.iter().zip(&part.events).enumerate();
            for (position, name) in events.names().enumerate() {
                let cgroup = name.cgroup.map(str::to_owned);
                let Some((index, (event, totals))) = name.is_open.then(|| open.next()).flatten() else {
                    if self.split != Split::Whole || part.part == Part::Whole {
                        let row = Row::not_supported(self.column(part), cpus, &shown(name.name), has_spread);
                        rows.push((position, Row { cgroup, ..row }));
                    }
                    continue;
                };
                if !self.is_shown(part, index, event) {
                    continue;
                }
                let mut row = totals.row(event, self.runs, has_spread);
                if self.split == Split::Whole {
                    // Rows of the whole have no column for a part, so the name of the event has it.
                    row.event.extend(part.part.label().map(|label| format!(" ({label})")));
                }
                row.part = self.column(part);
                row.cgroup = cgroup;
                row.metrics = metrics.iter().filter(|metric| metric.event == index).copied().collect();
                rows.push((position, row));
            }
        }
        if matches!(self.split, Split::Cpus | Split::Threads | Split::Whole) {
            rows.sort_by_key(|(position, _)| *position);
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Returns the times as rows, like the events of the perf tool for them.
    pub(super) fn times(&self, has_spread: bool) -> Vec<Row> {
        let times = [("duration_time", self.elapsed), ("user_time", self.user), ("system_time", self.system)];
        let row = |(event, seconds): (&str, Spread)| {
            let ns = seconds.mean()? * 1e9;
            let value = Value::Counted { value: ns.round(), is_estimate: false };
            let spread = has_spread.then(|| seconds.percent());
            let row = Row::not_supported(Part::Whole, 0, event, has_spread);
            Some(Row { unit: "ns".to_owned(), value, running: ns, spread, ..row })
        };
        times.into_iter().filter_map(row).collect()
    }

    fn column(&self, part: &PartTotals) -> Part {
        if self.split == Split::Whole { Part::Whole } else { part.part.clone() }
    }

    /// Returns whether an event counts in a part. In the whole, an event without a sum is shown for
    /// each CPU.
    fn is_shown(&self, part: &PartTotals, index: usize, event: &EventCounts) -> bool {
        if self.split != Split::Whole {
            return !event.scopes.is_empty();
        }
        let whole = self.parts.first().and_then(|whole| whole.counts.get(index));
        whole.is_some_and(has_no_sum) != (part.part == Part::Whole)
    }
}

impl EventTotals {
    #[allow(clippy::cast_precision_loss)] // printed with fewer digits
    fn add(&mut self, event: &EventCounts) {
        let scaled = event.scaled();
        if let Some(value) = scaled.and_then(Scaled::value) {
            self.values.add(value as f64);
        }
        self.is_estimate |= matches!(scaled, Some(Scaled::Estimate(_)));
        let total = event.total();
        self.enabled += total.time_enabled.unwrap_or(0) as f64;
        self.running += total.time_running.unwrap_or(0) as f64;
    }

    fn row(&self, event: &EventCounts, runs: u32, has_spread: bool) -> Row {
        let value = self.values.mean().map_or(Value::NotCounted, |mean| Value::Counted {
            value: mean * event.scale,
            is_estimate: self.is_estimate,
        });
        Row {
            part: Part::Whole,
            cpus: cpus_of(event).len(),
            // The name has a modifier if only user space is counted.
            event: shown(&*event.name),
            cgroup: None,
            unit: event.unit.to_string(),
            value,
            running: self.running / f64::from(runs.max(1)),
            // 100 as in the perf tool, because nothing is corrected then.
            percent_running: if self.enabled == 0.0 { 100.0 } else { 100.0 * self.running / self.enabled },
            spread: has_spread.then(|| self.values.percent()),
            metrics: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_several_runs_are_the_mean_and_the_spread() {
        let mut totals = EventTotals::default();
        totals.values.add(10.0);
        totals.values.add(14.0);
        totals = EventTotals { is_estimate: true, enabled: 200.0, running: 150.0, ..totals };
        let clock = perf_session::parse_event("task-clock", &perf_session::System::new()).unwrap();
        let counts = Counts::from_values([(clock, 0)]);
        let row = totals.row(counts.get(0).unwrap(), 2, true);
        assert_eq!(row.value, Value::Counted { value: 12.0, is_estimate: true });
        assert_eq!((row.running, row.percent_running), (75.0, 75.0));
        assert!((row.spread.unwrap() - 100.0 * 2.0 / 12.0).abs() < 1e-9);
        let never = EventTotals { enabled: 100.0, ..EventTotals::default() };
        let row = never.row(counts.get(0).unwrap(), 1, false);
        assert_eq!((row.value, row.percent_running, row.spread), (Value::NotCounted, 0.0, None));
    }
}
