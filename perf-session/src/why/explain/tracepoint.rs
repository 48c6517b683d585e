//! Tracepoints: their ids in tracefs.

use std::fs;

use perf_sys::Attr;

use crate::names::{Tracefs, TracefsError};
use crate::system::System;
use crate::why::explain::{Cause, Evidence, Explanation};

/// Explains `EINVAL` for a tracepoint that does not exist, or has special rules.
pub(super) fn explain(system: &System, attr: &Attr) -> Option<Explanation> {
    match find(system, attr.config).ok()? {
        Some(name) => (name == "ftrace:function").then(|| function(attr.config)),
        None => Some(unknown(attr.config)),
    }
}

/// Explains `EINVAL` for a tracepoint whose id cannot be looked up, for which nothing else is known.
pub(super) fn not_found(system: &System, attr: &Attr) -> Option<Explanation> {
    find(system, attr.config).err().map(|error| no_tracefs(&error))
}

/// Explains `EPERM` for a tracepoint of a user who has the permission.
pub(super) fn forbidden(system: &System, attr: &Attr) -> Option<Explanation> {
    let name = find(system, attr.config).ok().flatten()?;
    if name == "ftrace:function" {
        return Some(function(attr.config));
    }
    // Its own interrupt would write the sample, and hit it again.
    (name == "irq_vectors:irq_work_exit" && attr.sample_period != 0).then(|| {
        let text = format!("the kernel forbids to sample {name}, which each sample would hit again");
        Explanation::new(Cause::Rule, text, "count it, or use another tracepoint")
            .with(Evidence::new("the tracepoint with this id", format_args!("{name}, {}", attr.config)))
    })
}

/// Returns the name of the tracepoint with this id.
fn find(system: &System, id: u64) -> Result<Option<String>, TracefsError> {
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

fn unknown(id: u64) -> Explanation {
    let remedy = "read the id from the tracepoint's file `id` at each start: it changes with the kernel";
    Explanation::new(Cause::NoSuchTracepoint, format!("no tracepoint has the id {id}"), remedy)
        .with(Evidence::new("the files events/*/*/id of tracefs", "other numbers"))
}

fn no_tracefs(error: &TracefsError) -> Explanation {
    let (text, remedy) = match error {
        TracefsError::NotMounted => (
            "probably no tracepoint has this id: tracefs, which has the ids, is not mounted",
            "mount -t tracefs nodev /sys/kernel/tracing",
        ),
        _ => (
            "probably no tracepoint has this id: tracefs, which has the ids, cannot be read",
            "run as root, or let users read it: mount -o remount,mode=755 /sys/kernel/tracing",
        ),
    };
    Explanation::new(Cause::Tracefs, text, remedy).with(Evidence::new("tracefs", error))
}

fn function(id: u64) -> Explanation {
    Explanation::new(
        Cause::FunctionTracepoint,
        "ftrace:function records kernel functions only, without callchains and stacks of user space, and needs the \
         function tracer, which kernel lockdown forbids",
        "sample no callchains and stacks of user space, and boot without lockdown; or use a kprobe",
    )
    .with(Evidence::new("the tracepoint with this id", format_args!("ftrace:function, {id}")))
}
