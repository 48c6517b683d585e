//! The threads and CPUs as one JSON object, as `docs/sched-json.md` describes it.

use perf_profile::read::ReadSched;
use perf_profile::{Durations, ThreadState};
use serde_json::{Value, json};

use super::row::Row;
use crate::report::json::recording;

/// Version of the schema.
const VERSION: u32 = 1;

pub(super) fn sched(read: &ReadSched, rows: &[Row<'_>]) -> Value {
    let summary = &read.summary;
    json!({
        "version": VERSION,
        "recording": recording(&read.metadata),
        "start": summary.start(),
        "duration": summary.duration(),
        "wakeups": read.has_wakeups,
        "lost_records": summary.lost(),
        "lost_wakeups": summary.lost_wakeups(),
        "late_records": read.late,
        "unpaired": summary.unpaired(),
        "threads": rows.iter().map(thread).collect::<Vec<_>>(),
        "cpus": summary.cpus().map(|(number, cpu)| json!({
            "cpu": number,
            "busy": cpu.busy,
            "idle": cpu.idle,
            "unknown": cpu.unknown,
            "switches": cpu.switches,
        })).collect::<Vec<_>>(),
    })
}

fn thread(row: &Row<'_>) -> Value {
    let thread = row.thread;
    let (state, since) = match thread.state {
        ThreadState::Running(since) => (Some("running"), Some(since)),
        ThreadState::Ready(since) => (Some("ready"), Some(since)),
        ThreadState::Sleeping(since) => (Some("sleeping"), Some(since)),
        _ => (None, None),
    };
    json!({
        "comm": row.name,
        "pid": thread.pid,
        "tid": row.tid,
        "runs": thread.runs,
        "runtime": thread.runtime,
        "waits": durations(&thread.waits),
        "unknown_waits": thread.unknown_waits,
        "sleeps": durations(&thread.sleeps),
        "migrations": thread.migrations,
        "state": state,
        "since": since,
    })
}

/// Returns the number, the sum, the average, the 99th percentile and the maximum.
pub(crate) fn durations(durations: &Durations) -> Value {
    let is_known = durations.count() > 0;
    json!({
        "count": durations.count(),
        "total": durations.total(),
        "avg": durations.mean(),
        "p99": durations.quantile(0.99),
        "max": is_known.then(|| durations.max()),
        "max_end": is_known.then(|| durations.max_end()),
    })
}
