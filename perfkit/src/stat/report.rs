//! The counts as text or JSON.

use std::collections::BTreeSet;
use std::io::{self, Write};

use perf_session::Counts;
use serde_json::Value as Json;

use super::Options;
use super::cpu_times::CpuTimes;
use super::events::Events;
use super::row::{Row, Value, table};
use super::split::Splitter;
use super::totals::Totals;
use crate::out::destination;
use crate::out::message::{self, shown};

/// The counts of all runs, the form in which they are printed, and the output.
pub(super) struct Report {
    title: String,
    form: Form,
    splitter: Splitter,
    skips_zeros: bool,
    is_interval: bool,
    has_summary: bool,
    /// Whether the heading of the intervals was printed.
    has_heading: bool,
    wanted_runs: u32,
    totals: Totals,
    out: Box<dyn Write>,
}

#[derive(Debug)]
enum Form {
    Table,
    Json,
    /// Fields with this separator.
    Fields(String),
}

impl Report {
    /// Opens the output.
    pub(super) fn new(options: &Options) -> io::Result<Self> {
        let command = options.command.iter().map(shown).collect::<Vec<_>>().join(" ");
        let form = match &options.field_separator {
            Some(separator) => Form::Fields(separator.clone()),
            None if options.json => Form::Json,
            None => Form::Table,
        };
        let has_command = !options.command.is_empty();
        let out = destination::open(options.output.as_deref(), has_command, options.append)?;
        Ok(Self {
            title: super::described(options).unwrap_or_else(|| format!("`{command}`")),
            form,
            splitter: Splitter::new(options.split()),
            skips_zeros: options.no_zero,
            is_interval: options.interval.is_some(),
            has_summary: options.interval.is_none() || options.summary,
            has_heading: false,
            wanted_runs: options.repeat,
            totals: Totals::new(options.split()),
            out,
        })
    }

    /// Notes the CPUs and threads of the first reading, while their names can be read.
    pub(super) fn start(&mut self, counts: &Counts) -> io::Result<()> {
        self.splitter.note(counts)
    }

    /// Adds the counts of one run.
    pub(super) fn add(&mut self, counts: Counts, elapsed: f64, cpu_times: Option<CpuTimes>) {
        self.totals.add(self.splitter.parts(counts), elapsed, cpu_times);
    }

    /// Prints the counts of an interval that ended at `seconds`.
    pub(super) fn interval(
        &mut self,
        events: &Events,
        seconds: f64,
        length: f64,
        counts: Counts,
    ) -> io::Result<()> {
        // Reads the names of CPUs that came online.
        self.splitter.note(&counts)?;
        let mut totals = Totals::new(self.splitter.split);
        totals.add(self.splitter.parts(counts), length, None);
        let rows = self.without_zeros(totals.rows(events, false));
        let lines = match &self.form {
            Form::Table => self.interval_table(rows, seconds),
            _ => self.lines(&rows, Some(seconds)),
        };
        self.write(&lines)
    }

    /// Prints the counts of all runs.
    pub(super) fn print(&mut self, events: &Events) -> io::Result<()> {
        if !self.has_summary {
            return Ok(());
        }
        let has_spread = self.wanted_runs != 1;
        let mut rows = self.without_zeros(self.totals.rows(events, has_spread));
        let lines = match &self.form {
            Form::Table => self.total_table(&rows),
            Form::Json => {
                rows.extend(self.totals.times(has_spread));
                self.lines(&rows, None)
            }
            Form::Fields(_) => self.lines(&rows, None),
        };
        self.write(&lines)
    }

    /// Returns the counts of all runs as objects of JSON.
    pub(super) fn objects(&self, events: &Events) -> Vec<Json> {
        self.totals.rows(events, self.wanted_runs != 1).iter().map(|row| row.json(None)).collect()
    }

    fn interval_table(&mut self, mut rows: Vec<Row>, seconds: f64) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.has_heading {
            self.has_heading = true;
            lines.push(format!("# {}: counts of each interval", self.title));
            let missing = rows.iter().filter(|row| row.value == Value::NotSupported);
            let missing: BTreeSet<&str> = missing.map(|row| row.event.as_str()).collect();
            if !missing.is_empty() {
                let missing: Vec<&str> = missing.into_iter().collect();
                lines.push(format!("# not supported: {}", missing.join(", ")));
            }
            lines.push("#   seconds  counts and events".to_owned());
        }
        rows.retain(|row| row.value != Value::NotSupported);
        lines.extend(table(&rows).iter().map(|line| format!("{seconds:>11.6}   {line}")));
        lines
    }

    fn total_table(&self, rows: &[Row]) -> Vec<String> {
        let runs = match (self.totals.runs, self.wanted_runs) {
            (_, 1) => String::new(),
            (runs, wanted) if runs < wanted => format!(" ({runs} of {wanted} runs)"),
            (runs, _) => format!(" ({runs} runs)"),
        };
        let mut lines = vec![String::new(), format!(" Counts of {}{runs}:", self.title), String::new()];
        lines.extend(table(rows).iter().map(|line| format!("  {line}")));
        lines.push(String::new());
        let Totals { elapsed, user, system, runs, .. } = &self.totals;
        for (seconds, name) in [(elapsed, "elapsed"), (user, "user"), (system, "sys")] {
            let Some(mean) = seconds.mean() else { continue };
            let spread = match runs {
                1 => String::new(),
                _ => format!("  +- {:.2} %", seconds.percent()),
            };
            lines.push(format!("  {mean:.6} seconds {name}{spread}"));
        }
        lines.push(String::new());
        lines
    }

    fn without_zeros(&self, mut rows: Vec<Row>) -> Vec<Row> {
        rows.retain(|row| !self.skips_zeros || !row.is_zero());
        rows
    }

    /// Returns one line for each event, for programs.
    fn lines(&self, rows: &[Row], seconds: Option<f64>) -> Vec<String> {
        let interval = match seconds {
            Some(seconds) => Some(format!("{seconds:.9}")),
            None => self.is_interval.then(|| "summary".to_owned()),
        };
        let line = |row: &Row| match &self.form {
            Form::Fields(separator) => row.fields(separator, interval.as_deref()),
            Form::Table | Form::Json => message::json(&row.json(seconds)),
        };
        rows.iter().map(line).collect()
    }

    fn write(&mut self, lines: &[String]) -> io::Result<()> {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}
