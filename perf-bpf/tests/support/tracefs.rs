use perf_bpf::sys::Attr;

use super::skip;

/// Returns the attr of an event that samples every hit of the tracepoint `task/task_rename`, which also
/// fires for 32-bit tasks. Prints the reason and returns `None` if tracefs cannot be read.
#[track_caller]
pub(crate) fn rename_tracepoint() -> Option<Attr> {
    let read = |root: &str| std::fs::read_to_string(format!("{root}/events/task/task_rename/id"));
    match read("/sys/kernel/tracing").or_else(|_| read("/sys/kernel/debug/tracing")) {
        Ok(id) => Some(Attr::tracepoint(id.trim().parse().unwrap()).with_period(1)),
        Err(error) => {
            skip(format_args!("tracepoint task/task_rename: {error}"));
            None
        }
    }
}
