//! The tables of threads and CPUs.

use std::io::{self, Write};

use perf_profile::Durations;
use perf_profile::read::ReadSched;
use perf_session::text_width;

use super::row::Row;
use crate::out::message::{count, milliseconds, shown};

/// Titles of the columns. Those of [`durations`] are there twice.
const TITLES: [&str; 14] = [
    "Thread", "Running", "Runs", "Waits", "Total", "Avg", "p99", "Max", "Sleeps", "Total", "Avg", "p99",
    "Max", "Migr",
];

/// Columns of the waits and of the sleeps.
const GROUPS: [(&str, std::ops::Range<usize>); 2] = [("waits for a CPU", 3..8), ("sleeps", 8..13)];

/// Prints the threads, and the CPUs if they are known.
pub(super) fn print(out: &mut dyn Write, read: &ReadSched, rows: &[Row<'_>]) -> io::Result<()> {
    let summary = &read.summary;
    let seconds = milliseconds(summary.duration() / 1000);
    writeln!(out, "# {}, {seconds} s; times in ms", count(rows.len() as u64, "thread"))?;
    let rows: Vec<_> = rows.iter().map(cells).collect();
    let mut widths = TITLES.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(text_width(cell));
        }
    }
    writeln!(out, "#{}", groups(&widths))?;
    writeln!(out, "#{}", line(&TITLES.map(str::to_owned), &widths))?;
    for row in &rows {
        writeln!(out, " {}", line(row, &widths))?;
    }
    if summary.cpus().next().is_some() {
        writeln!(out, "#\n#{:>4} {:>11} {:>11} {:>7} {:>9}", "CPU", "Busy", "Idle", "Busy %", "Switches")?;
    }
    for (number, cpu) in summary.cpus() {
        let share = share(cpu.busy, cpu.busy.saturating_add(cpu.idle));
        let (busy, idle) = (milliseconds(cpu.busy), milliseconds(cpu.idle));
        writeln!(out, " {number:>4} {busy:>11} {idle:>11} {share:>6.1}% {:>9}", cpu.switches)?;
    }
    Ok(())
}

fn cells(row: &Row<'_>) -> [String; 14] {
    let thread = row.thread;
    let name = format!("{} {}", shown(&row.name), row.tid);
    let [waits, total, avg, p99, max] = durations(&thread.waits);
    let [sleeps, asleep, sleep, sleep_p99, longest] = durations(&thread.sleeps);
    let (running, runs) = (milliseconds(thread.runtime), thread.runs.to_string());
    let moved = thread.migrations.to_string();
    [name, running, runs, waits, total, avg, p99, max, sleeps, asleep, sleep, sleep_p99, longest, moved]
}

/// Returns the line with the titles of the groups of columns.
fn groups(widths: &[usize; 14]) -> String {
    let mut text = String::new();
    for (title, columns) in GROUPS {
        let end = |column: usize| widths.iter().take(column).map(|width| width + 1).sum::<usize>();
        text.push_str(&" ".repeat(end(columns.start) - text_width(&text)));
        let cells = end(columns.end) - end(columns.start) - 1;
        let title = format!(" {title} ");
        let centered = format!("{title:-^cells$}");
        text.push_str(&centered);
    }
    text
}

/// Returns a row with its numbers on the right of each column.
fn line(row: &[String; 14], widths: &[usize; 14]) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let blanks = " ".repeat(width.saturating_sub(text_width(cell)));
        match index {
            0 => text.extend([cell, &*blanks]),
            _ => text.extend([" ", &*blanks, cell]),
        }
    }
    text
}

/// Returns the number, the sum, the average, the 99th percentile and the maximum.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average has no sign")]
fn durations(durations: &Durations) -> [String; 5] {
    let text = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), milliseconds);
    let avg = text(durations.mean().map(|mean| mean.round() as u64));
    let max = text((durations.count() > 0).then_some(durations.max()));
    let [count, total] = [durations.count().to_string(), milliseconds(durations.total())];
    [count, total, avg, text(durations.quantile(0.99)), max]
}

#[allow(clippy::cast_precision_loss)] // printed with one decimal
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
}
