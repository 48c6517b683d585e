//! The summary of a run as text.

use std::io::{self, Write};

use perf_abi::{CpuMode, RecordType};

use super::chart::{bar, bytes, percent, quotient};
use super::tally::{Spot, Tally};

/// Length of the longest bar, in columns.
const BAR: usize = 30;

/// Rows of the thread chart; the other threads share one row.
const THREADS: usize = 16;

/// Rows of the hottest instructions.
const SPOTS: usize = 10;

/// Prints the summary.
pub(crate) fn print(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    kinds(out, tally)?;
    cpus(out, tally)?;
    threads(out, tally)?;
    spots(out, tally)?;
    cost(out, tally)
}

fn kinds(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    writeln!(out, "\nRecords")?;
    let mut kinds: Vec<_> = tally.kinds.iter().map(|(kind, &seen)| (kind.to_string(), seen)).collect();
    kinds.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.records));
    kinds.push(("all".to_owned(), tally.total()));
    for (name, seen) in kinds {
        writeln!(out, "  {name:<18} {:>9} {:>12}", seen.records, bytes(seen.bytes))?;
    }
    Ok(())
}

fn cpus(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    // The event does not record the CPU.
    if tally.cpus.keys().all(Option::is_none) {
        return Ok(());
    }
    let label = |cpu: Option<u32>| cpu.map_or("(samples without CPU)".to_owned(), |cpu| format!("CPU {cpu}"));
    chart(out, "Samples per CPU", tally.cpus.iter().map(|(&cpu, &samples)| (label(cpu), samples)).collect())
}

fn threads(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let mut rows = tally.threads.rows();
    let rest = rows.split_off(rows.len().min(THREADS));
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|row| match row.id {
            Some((pid, tid)) => (format!("{:<16} {pid}/{tid}", row.name), row.samples),
            None => (row.name, row.samples),
        })
        .collect();
    if !rest.is_empty() {
        rows.push((format!("({} other threads)", rest.len()), rest.iter().map(|row| row.samples).sum()));
    }
    chart(out, "Samples per thread (name, process id/thread id)", rows)
}

/// Prints one bar per row, all on one scale.
fn chart(out: &mut dyn Write, title: &str, rows: Vec<(String, u64)>) -> io::Result<()> {
    let (mut width, mut max, mut sum) = (0, 0, 0);
    for (label, samples) in &rows {
        (width, max, sum) = (width.max(label.chars().count()), max.max(*samples), sum + samples);
    }
    if sum == 0 {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for (label, samples) in rows {
        let share = percent(samples, sum);
        writeln!(out, "  {label:<width$} {samples:>7} {share:>6}  {}", bar(samples, max, BAR))?;
    }
    Ok(())
}

fn spots(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let spots = tally.spots();
    let sum: u64 = spots.iter().map(|(_, samples)| samples).sum();
    if sum == 0 {
        return Ok(());
    }
    writeln!(out, "\nHottest instructions (samples, share, offset in the mapped file)")?;
    for (spot, samples) in spots.iter().take(SPOTS) {
        let share = percent(*samples, sum);
        let (offset, file) = match spot {
            Spot::Mapped(place) => (place.offset, &*place.file),
            Spot::Unmapped(ip) => (*ip, "(address in no recorded mapping)"),
            Spot::Other(CpuMode::KERNEL, ip) => (*ip, "[kernel] (address)"),
            Spot::Other(_, ip) => (*ip, "(address outside user space and kernel)"),
        };
        writeln!(out, "  {samples:>7} {share:>6}  {offset:>#18x}  {file}")?;
    }
    if let Some(more @ 1..) = spots.len().checked_sub(SPOTS) {
        writeln!(out, "  ... and {more} others")?;
    }
    Ok(())
}

fn cost(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let all = tally.total();
    writeln!(out)?;
    if let Some((count, unit)) = &tally.count {
        writeln!(out, "Count   {count}  {unit}")?;
        writeln!(out, "Order   {} of {} records out of time order", tally.late, all.records)?;
    }
    writeln!(out, "Lost    {}", lost(tally))?;
    if let Some(error) = tally.first_damage {
        writeln!(out, "Damaged {} records, the first: {error}", tally.damaged)?;
    }
    if tally.skipped_bytes > 0 {
        writeln!(out, "Skipped {}, which are no records", bytes(tally.skipped_bytes))?;
    }
    if tally.frames > 0 {
        let samples = tally.records(RecordType::SAMPLE);
        writeln!(out, "Chains  {} frames per sample", quotient(tally.frames, samples))?;
    }
    // Only records of rings are copied, and only rings have counts.
    let steps = if tally.count.is_some() { "read, decode, count and copy" } else { "read, decode and count" };
    let each = tally.spent.as_nanos() / u128::from(all.records.max(1));
    let debug = if cfg!(debug_assertions) { " (a debug build: not optimized)" } else { "" };
    writeln!(out, "Cost    {each} ns of CPU time per record, to {steps} it{debug}")
}

fn lost(tally: &Tally) -> String {
    match tally.lost_by_count {
        Some(count) => format!("{} by LOST records, {count} by the events' counts", tally.lost),
        None => format!("{} by LOST records", tally.lost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(tally: &Tally) -> String {
        let mut out = Vec::new();
        print(&mut out, tally).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn losses_and_damage_are_printed() {
        let mut tally = Tally { lost: 7, lost_by_count: Some(9), skipped_bytes: 24, ..Tally::default() };
        tally.damage(perf_decode::Error::UnknownId { id: 5 });
        let text = summary(&tally);
        assert!(text.contains("Lost    7 by LOST records, 9 by the events' counts\n"), "{text}");
        assert!(text.contains("Damaged 1 records, the first: id: expected"), "{text}");
        assert!(text.contains("Skipped 24 B, which are no records\n"), "{text}");
    }

    #[test]
    fn undamaged_run_prints_no_damage() {
        let text = summary(&Tally::default());
        assert!(!text.contains("Damaged") && !text.contains("Skipped"), "{text}");
        assert!(text.contains("Lost    0 by LOST records\n"), "{text}");
    }
}
