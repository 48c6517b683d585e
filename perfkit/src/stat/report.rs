//! The counts as text or JSON.

use std::io::{self, Write};

use perf_events::sys::decode::Scaled;
use perf_events::{Counts, EventCounts};

use super::Options;
use super::events::Events;
use super::row::{Reading, Row, Value};
use super::spread::Spread;
use super::table::Table;

/// The readings of all runs, and the form in which they are printed.
#[derive(Debug)]
pub(super) struct Report {
    title: String,
    is_json: bool,
    is_interval: bool,
    /// Name, unit and one reading a run.
    readings: Vec<(String, String, Vec<Reading>)>,
    elapsed: Vec<f64>,
}

impl Report {
    pub(super) fn new(options: &Options) -> Self {
        let words = options.command.iter().map(|word| word.to_string_lossy());
        let command = words.collect::<Vec<_>>().join(" ");
        let title = match (&options.cpus, options.pid) {
            _ if !command.is_empty() => format!("`{command}`"),
            (Some(cpus), _) => format!("CPUs {cpus}"),
            (None, Some(pid)) => format!("process {pid}"),
            (None, None) => "all CPUs".to_owned(),
        };
        let (is_json, is_interval) = (options.json, options.interval.is_some());
        Self { title, is_json, is_interval, readings: Vec::new(), elapsed: Vec::new() }
    }

    /// Adds the counts of one run.
    pub(super) fn add(&mut self, events: &Events, counts: &Counts, elapsed: f64) {
        self.elapsed.push(elapsed);
        for (index, (name, unit, reading)) in readings(events, counts).into_iter().enumerate() {
            match self.readings.get_mut(index) {
                Some((.., all)) => all.push(reading),
                None => self.readings.push((name, unit, vec![reading])),
            }
        }
    }

    /// Prints the counts of an interval that ended at `seconds`.
    pub(super) fn interval(
        &self,
        out: &mut dyn Write,
        events: &Events,
        seconds: f64,
        counts: &Counts,
    ) -> io::Result<()> {
        let rows: Vec<Row> = readings(events, counts)
            .into_iter()
            .map(|(name, unit, reading)| Row::new(&name, &unit, &[reading]))
            .collect();
        if self.is_json {
            return json(out, &rows, Some(seconds));
        }
        for line in Table(&rows).to_string().lines() {
            writeln!(out, "{seconds:>12.6} {line}")?;
        }
        out.flush()
    }

    /// Prints the counts of all runs.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_interval {
            return Ok(());
        }
        let rows: Vec<Row> =
            self.readings.iter().map(|(name, unit, readings)| Row::new(name, unit, readings)).collect();
        if self.is_json {
            return json(out, &rows, None);
        }
        let runs = match self.elapsed.len() {
            0 | 1 => String::new(),
            runs => format!(" ({runs} runs)"),
        };
        writeln!(out, "\n Counts of {}{runs}:\n\n{}", self.title, Table(&rows))?;
        if let Some(spread) = Spread::of(&self.elapsed) {
            write!(out, "  {:.6} seconds elapsed", spread.mean)?;
            if self.elapsed.len() > 1 {
                write!(out, "  +- {:.2} %", spread.percent())?;
            }
            writeln!(out, "\n")?;
        }
        out.flush()
    }
}

fn json(out: &mut dyn Write, rows: &[Row], seconds: Option<f64>) -> io::Result<()> {
    rows.iter().try_for_each(|row| writeln!(out, "{}", row.json(seconds)))?;
    out.flush()
}

/// Returns name, unit and reading of each event in the order of the user. A momentary value has a
/// reading for each CPU, because it has no sum.
fn readings(events: &Events, counts: &Counts) -> Vec<(String, String, Reading)> {
    let missing = Reading { value: Value::NotSupported, enabled: 0, running: 0 };
    let mut counted = counts.iter();
    let mut readings = Vec::new();
    for (name, is_open) in events.names() {
        match is_open.then(|| counted.next()).flatten() {
            None => readings.push((name.to_owned(), String::new(), missing)),
            // Their names say so if they count user space only.
            Some(event) if event.is_snapshot() && event.scaled().is_none() => {
                readings.extend(event.by_cpu().into_iter().map(|(cpu, count)| {
                    let reading = reading(&count, Some(count.scaled()), event.scale());
                    (format!("{} (CPU {cpu})", event.name()), event.unit().to_owned(), reading)
                }));
            }
            Some(event) => readings.push((event.name().to_string(), event.unit().to_owned(), total(event))),
        }
    }
    readings
}

fn total(event: &EventCounts) -> Reading {
    reading(&event.total(), event.scaled(), event.scale())
}

#[allow(clippy::cast_precision_loss)] // printed with fewer digits
fn reading(count: &perf_events::sys::Count, scaled: Option<Scaled>, scale: f64) -> Reading {
    let value = match scaled {
        Some(Scaled::Exact(value) | Scaled::Unscaled(value)) => {
            Value::Counted { value: value as f64 * scale, is_estimate: false }
        }
        Some(Scaled::Estimate(value)) => Value::Counted { value: value as f64 * scale, is_estimate: true },
        Some(Scaled::NeverRan) | None => Value::NotCounted,
    };
    let times = (count.time_enabled.unwrap_or(0), count.time_running.unwrap_or(0));
    Reading { value, enabled: times.0, running: times.1 }
}
