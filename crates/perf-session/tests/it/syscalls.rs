//! System calls of this thread, from the tracepoints of all calls.

use std::os::unix::process::parent_id;

use perf_session::ring::{Errno, Record};
use perf_session::tracepoint::{Syscall, SyscallJoiner, SyscallSummary, SyscallTable};
use perf_session::{EventSetOptions, EventSetTarget, SyscallTracepoints, System, Tracefs, TracefsError};

use crate::support::set::{open_or_skip, skip_tracepoint};

/// Returns the tracepoints and the table, or prints the reason and returns `None`.
fn find() -> Option<(SyscallTracepoints, SyscallTable)> {
    let find = || {
        let tracefs = Tracefs::find(&System::new())?;
        Ok::<_, TracefsError>((SyscallTracepoints::find(&tracefs)?, tracefs.syscall_table()?))
    };
    find().inspect_err(skip_tracepoint).ok()
}

/// Runs `work` in this thread, and returns its calls of the numbers.
fn trace(points: &SyscallTracepoints, numbers: &[i64], work: impl FnOnce()) -> Option<Vec<Syscall>> {
    let options = EventSetOptions::new().events(points.event_specs()).ring_pages(256);
    let mut set = open_or_skip(options.target(EventSetTarget::calling_thread()))?;
    let filter = std::ffi::CString::new(SyscallTable::filter(numbers)).unwrap();
    set.events().for_each(|open| open.event.set_filter(&filter).unwrap());
    set.enable().unwrap();
    work();
    set.disable().unwrap();
    let (mut joiner, mut calls) = (SyscallJoiner::new(), Vec::new());
    set.flush_sorted(|record| {
        if let Ok(Record::Sample(sample)) = record.decode() {
            joiner.add(points.read(&sample).unwrap(), &mut |call| calls.push(call));
        }
    })
    .unwrap();
    joiner.finish(&mut |call| calls.push(call));
    set.losses().unwrap().nothing_lost().unwrap();
    Some(calls)
}

#[test]
fn each_call_of_a_thread_is_joined_with_its_result() {
    let Some((points, table)) = find() else { return };
    let numbers = table.matching(|name| name == "getppid");
    let work = || (0..1000).for_each(|_| _ = parent_id());
    let Some(calls) = trace(&points, &numbers, work) else { return };
    assert_eq!(calls.len(), 1000);
    let mut summary = SyscallSummary::new();
    for call in &calls {
        assert_eq!((table.name(call.number).as_ref(), call.result()), ("getppid", Some(parent_id().into())));
        assert!(call.duration().is_some());
        summary.add(call);
    }
    assert!(calls.windows(2).all(|calls| calls[0].enter.unwrap().time <= calls[1].enter.unwrap().time));
    assert_eq!(summary.total()[0].1.timed, 1000);
}

#[test]
fn arguments_and_errors_have_names() {
    let Some((points, table)) = find() else { return };
    let work = || assert!(std::fs::File::open("/nonexistent/file").is_err());
    let Some(calls) = trace(&points, &table.matching(|name| name.starts_with("open")), work) else { return };
    let [call] = calls[..] else { panic!("{calls:?}") };
    let error = call.error().unwrap();
    assert_eq!((error.number(), error.name()), (Errno::ENOENT.raw_os_error(), Some("ENOENT")));
    // A kernel without the category `syscalls` does not describe the arguments.
    if !table.args(call.number).is_empty() {
        let text = table.with_values(call.number, call.enter.unwrap().args).to_string();
        assert!(text.contains("filename: 0x") && text.ends_with("flags: O_RDONLY|O_CLOEXEC"), "{text}");
    }
}

#[test]
fn calls_whose_functions_have_other_names_have_arguments() {
    let Some((_, table)) = find() else { return };
    let has_any = table.names().any(|name| !table.args(table.matching(|known| known == name)[0]).is_empty());
    // x86-64 has them all.
    for name in ["fstat", "uname", "sendfile", "umount2", "read"]
        .iter()
        .filter(|_| has_any && cfg!(target_arch = "x86_64"))
    {
        assert!(!table.args(table.matching(|known| known == *name)[0]).is_empty(), "{name}");
    }
}
