//! The counts as text or JSON.

use std::io::{self, Write};

use perf_session::sys::decode::Scaled;
use perf_session::{Counts, EventCounts};

use super::Options;
use super::events::Events;
use super::row::{Reading, Row, Value};
use super::spread::Spread;
use super::table::table;
use crate::message::shown;

/// The readings of all runs, and the form in which they are printed.
#[derive(Debug)]
pub(super) struct Report {
    title: String,
    form: Form,
    split: Split,
    skips_zeros: bool,
    is_interval: bool,
    /// Whether the heading of the intervals was printed.
    has_heading: bool,
    wanted_runs: u32,
    /// Name, unit and one reading a run.
    readings: Vec<(String, String, Vec<Reading>)>,
    elapsed: Vec<f64>,
}

/// The parts of the target that have separate rows.
#[derive(Clone, Copy, Debug)]
enum Split {
    None,
    Cpus,
    Threads,
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
        let title = super::described(options).unwrap_or_else(|| format!("`{command}`"));
        let split = match (options.no_aggr, options.per_thread) {
            (true, _) => Split::Cpus,
            (false, true) => Split::Threads,
            (false, false) => Split::None,
        };
        let form = match &options.field_separator {
            Some(separator) => Form::Fields(separator.clone()),
            None if options.json => Form::Json,
            None => Form::Table,
        };
        Self {
            title,
            form,
            split,
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
        for (index, (name, unit, reading)) in readings(events, counts, self.split).into_iter().enumerate() {
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
        let readings = readings(events, counts, self.split).into_iter();
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
        for line in table(&rows).lines() {
            writeln!(out, "{seconds:>11.6}   {line}")?;
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
        writeln!(out, "\n Counts of {}{runs}:\n", self.title)?;
        for line in table(&rows).lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
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

/// Returns name, unit and reading of each event in the order of the user, for each CPU or thread if `split` says so. A
/// momentary value has a reading for each CPU, because it has no sum.
fn readings(events: &Events, counts: &Counts, split: Split) -> Vec<(String, String, Reading)> {
    let missing = Reading { value: Value::NotSupported, enabled: 0, running: 0 };
    let mut counted = counts.iter();
    let mut readings = Vec::new();
    for (name, is_open) in events.names() {
        let Some(event) = is_open.then(|| counted.next()).flatten() else {
            readings.push((name.to_owned(), String::new(), missing));
            continue;
        };
        let has_no_sum = event.is_snapshot() && event.scaled().is_none();
        let (part, counts) = match split {
            Split::Threads if !event.by_thread().is_empty() => ("thread", event.by_thread()),
            Split::Cpus => ("CPU", event.by_cpu()),
            _ if has_no_sum => ("CPU", event.by_cpu()),
            _ => ("", Vec::new()),
        };
        // Their names say so if they count user space only.
        let (name, unit) = (event.name(), event.unit());
        if counts.is_empty() {
            readings.push((name.to_string(), unit.to_owned(), total(event)));
        }
        readings.extend(counts.into_iter().map(|(id, count)| {
            let reading = reading(&count, Some(count.scaled()), event.scale());
            (format!("{name} ({part} {id})"), unit.to_owned(), reading)
        }));
    }
    readings
}

fn total(event: &EventCounts) -> Reading {
    reading(&event.total(), event.scaled(), event.scale())
}

#[allow(clippy::cast_precision_loss)] // printed with fewer digits
fn reading(count: &perf_session::sys::Count, scaled: Option<Scaled>, scale: f64) -> Reading {
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
