//! Lines as JSON, as `docs/trace-json.md` describes them.

use std::io::{self, Write};

use perf_tracepoint::{Syscall, SyscallEnd, SyscallStats};
use serde_json::{Value, json};

use super::entry::{Entry, Task};
use crate::dump::{of_tracepoint, tracepoint};
use crate::out::message;

/// Writes a line.
pub(super) fn write(out: &mut dyn Write, entry: &Entry<'_>, task: Option<Task<'_>>) -> io::Result<()> {
    let mut object = match entry {
        Entry::Call { call, name, args, texts } => {
            let texts = args.map(|args| {
                let used = args.texts().into_iter().map(|(arg, value, text)| {
                    (arg.name().to_owned(), texts.of(arg, &value).unwrap_or(text).into())
                });
                Value::Object(used.collect())
            });
            let args = args.map(|args| {
                let args = args.iter().map(|(arg, value)| (arg.name().to_owned(), of_tracepoint(&value)));
                Value::Object(args.collect())
            });
            json!({
                "type": "syscall",
                "time": entry.time(),
                "syscall": name,
                "number": call.number,
                "args": args,
                "texts": texts,
                "state": state(call),
                "duration": call.duration(),
                "result": call.result(),
                "error": call.error().and_then(perf_tracepoint::SyscallError::name),
            })
        }
        Entry::Hit { time, name, format, raw, .. } => {
            json!({ "type": "tracepoint", "time": time, "event": name, "fields": tracepoint(format, raw) })
        }
        Entry::Signal { time, signal, code } => {
            json!({ "type": "signal", "time": time, "signal": signal.to_string(), "number": signal.0, "code": code })
        }
        Entry::Exit { time, status } => json!({ "type": "exit", "time": time, "status": status }),
        Entry::Lost { time, records, place } => {
            json!({ "type": "lost", "time": time, "records": records, "place": place })
        }
    };
    if let (Some(task), Value::Object(object)) = (task, &mut object) {
        object.insert("comm".to_owned(), task.comm.into());
        object.insert("pid".to_owned(), task.pid.cast_signed().into());
        object.insert("tid".to_owned(), task.tid.cast_signed().into());
        object.insert("cpu".to_owned(), task.cpu.into());
    }
    writeln!(out, "{}", message::json(&object))
}

/// Writes a row of the statistics. Without a thread, the row is for all threads, or for the threads
/// without rows.
pub(super) fn write_row(
    out: &mut dyn Write,
    thread: Option<(u32, &str)>,
    call: (i64, &str),
    stats: &SyscallStats,
) -> io::Result<()> {
    let row = json!({
        "type": "summary",
        "tid": thread.map(|(tid, _)| tid),
        "comm": thread.map(|(_, comm)| comm),
        "syscall": call.1,
        "number": call.0,
        "calls": stats.calls,
        "errors": stats.errors,
        "timed": stats.timed,
        "total": stats.total,
        "min": stats.min,
        "avg": stats.mean(),
        "max": stats.max,
        "stddev": stats.deviation(),
    });
    writeln!(out, "{}", message::json(&row))
}

fn state(call: &Syscall) -> &'static str {
    match (call.enter, call.end) {
        (Some(_), SyscallEnd::Returned { .. }) => "returned",
        (None, SyscallEnd::Returned { .. }) => "resumed",
        (_, SyscallEnd::Exited { .. }) => "exited",
        (_, SyscallEnd::Lost) => "lost",
        (_, SyscallEnd::NotSeen) => "not seen",
        _ => "unfinished",
    }
}
