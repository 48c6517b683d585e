//! Tracepoints: their ids in tracefs.

use std::fs;

use perf_ring::EventType;

use super::case::Case;
use super::{Cause, Diagnosis, Evidence};
use crate::names::{Tracefs, TracefsError};
use crate::system::{Mount, System};

/// Explains `EINVAL` for a tracepoint that does not exist, or has special rules.
pub(super) fn refused(case: &mut Case<'_>) -> Option<Diagnosis> {
    let id = case.attr.config;
    match find(case)?.ok()? {
        Some(name) => (name == "ftrace:function").then(|| function(id)),
        None => Some(unknown(id)),
    }
}

/// Explains `EINVAL` for a tracepoint whose id cannot be looked up, for which nothing else is
/// known.
pub(super) fn not_found(case: &mut Case<'_>) -> Option<Diagnosis> {
    find(case)?.err().map(|error| no_tracefs(&error))
}

/// Explains `EPERM` for a tracepoint of a user who has the permission.
pub(super) fn forbidden(case: &mut Case<'_>) -> Option<Diagnosis> {
    let name = find(case)?.ok()??;
    let id = case.attr.config;
    if name == "ftrace:function" {
        return Some(function(id));
    }
    // Its own interrupt would write the sample, and hit it again.
    (name == "irq_vectors:irq_work_exit" && case.is_sampling()).then(|| {
        let text = format!("the kernel forbids to sample {name}, which each sample would hit again");
        Diagnosis::new(Cause::Rule, text, "count it, or use another tracepoint")
            .with(Evidence::new("the tracepoint with this id", format_args!("{name}, {id}")))
    })
}

/// Looks up the name of the tracepoint; `None` for other events.
fn find(case: &Case<'_>) -> Option<Result<Option<String>, TracefsError>> {
    case.is(EventType::TRACEPOINT).then(|| name_of(case.system, case.attr.config))
}

/// Returns the name of the tracepoint with this id.
fn name_of(system: &System, id: u64) -> Result<Option<String>, TracefsError> {
    let tracefs = Tracefs::find(system)?;
    let events = tracefs.path().join("events");
    for category in tracefs.categories()? {
        // Tracepoints may be removed at any time, with the category.
        for name in tracefs.names(&category).unwrap_or_default() {
            let text = fs::read_to_string(events.join(&category).join(&name).join("id"));
            if text.is_ok_and(|text| text.trim().parse() == Ok(id)) {
                return Ok(Some(format!("{category}:{name}")));
            }
        }
    }
    Ok(None)
}

fn unknown(id: u64) -> Diagnosis {
    let remedy = "read the id from the tracepoint's file `id` at each start: it changes with the kernel";
    Diagnosis::new(Cause::NoSuchTracepoint, format!("no tracepoint has the id {id}"), remedy)
        .with(Evidence::new("the files events/*/*/id of tracefs", "other numbers"))
}

fn no_tracefs(error: &TracefsError) -> Diagnosis {
    let (text, remedy) = match error {
        TracefsError::NotMounted => (
            "probably no tracepoint has this id: tracefs, which has the ids, is not mounted",
            Mount::TRACEFS.to_string(),
        ),
        _ => (
            "probably no tracepoint has this id: tracefs, which has the ids, cannot be read",
            format!("run as root, or {}", TracefsError::LET_GROUP_READ),
        ),
    };
    Diagnosis::new(Cause::Tracefs, text, remedy).with(Evidence::new("tracefs", error))
}

fn function(id: u64) -> Diagnosis {
    Diagnosis::new(
        Cause::FunctionTracepoint,
        "ftrace:function records kernel functions only, without callchains and stacks of user space, and needs the \
         function tracer, which kernel lockdown forbids",
        "sample no callchains and stacks of user space, and boot without lockdown; or use a kprobe",
    )
    .with(Evidence::new("the tracepoint with this id", format_args!("ftrace:function, {id}")))
}
