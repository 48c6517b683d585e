//! Statistics of system calls, in the form of `perf trace -s`.

use std::io::{self, Write};

use perf_tracepoint::{SyscallStats, SyscallSummary, SyscallTable};

use super::json;
use super::names::Names;
use super::options::SummaryMode;
use super::text::milliseconds;
use crate::out::message::count;

/// Writes the statistics of each thread, or of all.
pub(super) fn write(
    out: &mut dyn Write,
    summary: &SyscallSummary,
    mode: SummaryMode,
    table: &SyscallTable,
    names: &mut Names,
    is_json: bool,
) -> io::Result<()> {
    let threads = match mode {
        SummaryMode::Total => vec![(None, summary.total())],
        SummaryMode::Thread => {
            summary.threads().into_iter().map(|(tid, _)| (tid, summary.of_thread(tid))).collect()
        }
    };
    if is_json {
        for (tid, rows) in &threads {
            let thread = tid.map(|tid| (tid, names.get(tid)));
            for (number, stats) in rows {
                json::write_row(out, thread, (*number, &table.name(*number)), stats)?;
            }
        }
        return Ok(());
    }
    writeln!(out, "\n Summary of events:")?;
    for (tid, rows) in &threads {
        let calls = count(rows.iter().map(|(_, stats)| stats.calls).sum(), "call");
        match (tid, mode) {
            (Some(tid), _) => writeln!(out, "\n {} ({tid}), {calls}\n", names.get(*tid))?,
            (None, SummaryMode::Total) => writeln!(out, "\n total, {calls}\n")?,
            (None, SummaryMode::Thread) => writeln!(out, "\n other threads, {calls}\n")?,
        }
        write_table(out, rows, table)?;
    }
    if summary.unfinished() > 0 {
        let calls = count(summary.unfinished(), "call");
        writeln!(out, "\n {calls} without a return in the trace")?;
    }
    Ok(())
}

fn write_table(out: &mut dyn Write, rows: &[(i64, SyscallStats)], table: &SyscallTable) -> io::Result<()> {
    writeln!(out, "   syscall            calls  errors  total       min       avg       max       stddev")?;
    writeln!(out, "                                     (msec)    (msec)    (msec)    (msec)        (%)")?;
    writeln!(out, "   --------------- --------  ------ -------- --------- --------- ---------     ------")?;
    for (number, stats) in rows {
        let [total, min, max] = [stats.total, stats.min, stats.max].map(milliseconds);
        let avg = stats.mean() / 1e6;
        writeln!(
            out,
            "   {:<15} {:>8} {:>6} {total:>9.3} {min:>9.3} {avg:>9.3} {max:>9.3} {:>9.2}%",
            table.name(*number),
            stats.calls,
            stats.errors,
            stats.error_percent()
        )?;
    }
    Ok(())
}
