//! The attempt to open an event.

use perf_session::{EventSet, EventSetError, EventSetOptions, EventSetTarget, System};

use crate::out::message::first_line;

/// Opens the event of this name for the calling thread, or on all its CPUs if its PMU counts for
/// CPUs only, and closes it again. Falls back to user space, like `stat` and `record`.
///
/// # Errors
///
/// The reason in one line.
pub(super) fn check(name: &str, system: &System) -> Result<Scope, String> {
    let event = perf_session::parse_event(name, system).map_err(first_line)?;
    let is_cpu_only = event.specs().iter().any(perf_session::EventSpec::is_cpu_only);
    let target = if is_cpu_only { EventSetTarget::all_cpus() } else { EventSetTarget::calling_thread() };
    let set = EventSetOptions::new().event(event).target(target).user_only_if_refused().open();
    let opened = set.and_then(|set| {
        let scope = if set.is_user_only() { Scope::UserOnly } else { Scope::All };
        EventSet::close(set).map(|_| scope)
    });
    opened.map_err(|error| reason(&error, system))
}

/// The scope in which an event opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The requested privilege levels.
    All,
    /// User space only, because the kernel is not permitted.
    UserOnly,
}

/// Returns the cause if known, or the error of the call.
fn reason(error: &EventSetError, system: &System) -> String {
    match error.explain(system) {
        Some(explanation) => explanation.text.clone(),
        None => first_line(error),
    }
}
