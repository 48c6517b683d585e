//! Diagnoses of tracepoints that do not open, and of registers and counters that run out.

#![allow(clippy::unwrap_used, clippy::panic)] // also in shared functions

mod support;

use perf_session::ring::{
    Attr, AttrFlags, BreakpointLen, BreakpointType, Errno, Event, Hardware, OpenOptions, Target,
};
use perf_session::{Cause, FailedOpen, System, Tracefs, explain, trial_of};
use support::explain::{assert_explains, may_open, refused};

fn me() -> Target<'static> {
    Target::calling_thread()
}

#[test]
fn tracepoint_id_that_does_not_exist_is_named() {
    if !may_open() {
        return;
    }
    let Some((error, explanation)) = refused(&Attr::tracepoint(u64::from(u32::MAX)), me()) else {
        panic!("no kernel has that many tracepoints");
    };
    if error.errno() == Some(Errno::EACCES) {
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{error}");
        return eprintln!("skipped: {error}");
    }
    assert_eq!(error.errno(), Some(Errno::EINVAL), "{error}");
    match Tracefs::find(&System::new()) {
        Ok(_) => assert_explains(&explanation, Cause::NoSuchTracepoint, &["4294967295"]),
        Err(_) => assert_explains(&explanation, Cause::Tracefs, &["tracefs"]),
    }
}

#[test]
fn function_tracepoint_is_named() {
    let tracepoint =
        Tracefs::find(&System::new()).and_then(|tracefs| tracefs.tracepoint("ftrace", "function"));
    let tracepoint = match tracepoint {
        Ok(tracepoint) => tracepoint,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    match refused(&Attr::tracepoint(tracepoint.id().into()), me()) {
        Some((error, explanation)) if [Some(Errno::EINVAL), Some(Errno::EPERM)].contains(&error.errno()) => {
            assert_explains(&explanation, Cause::FunctionTracepoint, &["ftrace:function"]);
        }
        other => eprintln!("skipped: {other:?}"),
    }
}

#[test]
fn breakpoint_registers_run_out() {
    if !may_open() {
        return;
    }
    let words = [0_u64; 64];
    let mut events = Vec::new();
    for word in &words {
        let addr = std::ptr::from_ref(word) as u64;
        let attr = Attr::breakpoint(BreakpointType::WRITE, addr, BreakpointLen(4));
        let attr = attr.with_flags(AttrFlags::EXCLUDE_KERNEL);
        match Event::open(&attr, me()) {
            Ok(event) => events.push(event),
            Err(error) if error.errno() == Some(Errno::ENOSPC) => {
                let explanation = explain(&System::new(), error, &attr, me());
                let addr = format!("{addr:#x}");
                return assert_explains(&explanation, Cause::BreakpointSlots, &["the task", &addr]);
            }
            Err(error) => return eprintln!("skipped: no breakpoints here: {error}"),
        }
    }
    panic!("{} breakpoints", events.len());
}

#[test]
fn group_that_is_larger_than_the_pmu_is_named() {
    if !may_open() {
        return;
    }
    let attr = Attr::hardware(Hardware::INSTRUCTIONS).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let leader = match Event::open(&attr, me()) {
        Ok(leader) => leader,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let mut siblings = Vec::new();
    for _ in 0..64 {
        match OpenOptions::new().leader(&leader).open(&attr, me()) {
            Ok(sibling) => siblings.push(sibling),
            Err(error) => {
                let failed = FailedOpen::new(error, &attr, me()).in_group();
                let explanation = failed.explain_by_trial(&System::new(), trial_of(Some(&leader)));
                return assert_explains(&explanation, Cause::GroupSize, &["split the group"]);
            }
        }
    }
    panic!("a group of {} counters", siblings.len());
}
