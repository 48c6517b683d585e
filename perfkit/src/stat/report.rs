//! The counts as text or JSON.

use std::io::{self, Write};

use perf_events::sys::decode::Scaled;
use perf_events::{Counts, EventCounts};

use super::Options;
use super::events::Events;
use super::row::{Reading, Row, Value};
use super::spread::Spread;
use super::table::Table;
use crate::message::shown;

/// The readings of all runs, and the form in which they are printed.
#[derive(Debug)]
pub(super) struct Report {
    title: String,
    form: Form,
    skips_zeros: bool,
    is_interval: bool,
    /// Whether the heading of the intervals was printed.
    has_heading: bool,
    wanted_runs: u32,
    /// Name, unit and one reading a run.
    readings: Vec<(String, String, Vec<Reading>)>,
    elapsed: Vec<f64>,
}

#[derive(Debug)]
enum Form {
    Table,
    Json,
    /// One event a line, with this text between its fields.
    Fields(String),
}

impl Report {
    pub(super) fn new(options: &Options) -> Self {
        let command = options.command.iter().map(shown).collect::<Vec<_>>().join(" ");
        let title = match options.target.describe() {
            Some(target) => target,
            None if command.is_empty() => "all CPUs".to_owned(),
            None => format!("`{command}`"),
        };
        let form = match &options.field_separator {
            Some(separator) => Form::Fields(separator.clone()),
            None if options.json => Form::Json,
            None => Form::Table,
        };
        Self {
            title,
            form,
            skips_zeros: options.no_zero,
            is_interval: options.interval.is_some(),
            has_heading: false,
            wanted_runs: options.repeat.get(),
            readings: Vec::new(),
            elapsed: Vec::new(),
        }
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
        &mut self,
        out: &mut dyn Write,
        events: &Events,
        seconds: f64,
        counts: &Counts,
    ) -> io::Result<()> {
        let readings = readings(events, counts).into_iter();
        let rows = readings.map(|(name, unit, reading)| Row::new(&name, &unit, &[reading]));
        let mut rows = self.without_zeros(rows.collect());
        if !matches!(self.form, Form::Table) {
            return self.lines(out, &rows, Some(seconds));
        }
        if !self.has_heading {
            self.has_heading = true;
            writeln!(out, "# {}: counts of each interval", self.title)?;
            let missing: Vec<&str> = rows
                .iter()
                .filter(|row| row.value == Value::NotSupported)
                .map(|row| row.event.as_str())
                .collect();
            if !missing.is_empty() {
                writeln!(out, "# not supported: {}", missing.join(", "))?;
            }
            writeln!(out, "#   seconds  counts and events")?;
        }
        rows.retain(|row| row.value != Value::NotSupported);
        for line in Table(&rows).to_string().lines() {
            writeln!(out, "{seconds:>11.6} {line}")?;
        }
        out.flush()
    }

    /// Prints the counts of all runs.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_interval {
            return Ok(());
        }
        let rows = self.readings.iter().map(|(name, unit, readings)| Row::new(name, unit, readings));
        let rows = self.without_zeros(rows.collect());
        if !matches!(self.form, Form::Table) {
            return self.lines(out, &rows, None);
        }
        let runs = match (self.elapsed.len(), self.wanted_runs) {
            (_, 1) => String::new(),
            (runs, wanted) if runs < wanted as usize => format!(" ({runs} of {wanted} runs)"),
            (runs, _) => format!(" ({runs} runs)"),
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

    fn without_zeros(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let is_zero = |row: &Row| matches!(row.value, Value::Counted { value, .. } if value == 0.0);
        rows.retain(|row| !self.skips_zeros || !is_zero(row));
        rows
    }

    /// Prints one line for each event, for programs.
    fn lines(&self, out: &mut dyn Write, rows: &[Row], seconds: Option<f64>) -> io::Result<()> {
        for row in rows {
            match &self.form {
                Form::Fields(separator) => writeln!(out, "{}", row.fields(separator, seconds))?,
                Form::Table | Form::Json => writeln!(out, "{}", row.json(seconds))?,
            }
        }
        out.flush()
    }
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
