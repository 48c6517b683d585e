//! Probes at functions of the test program, which count exactly the calls of a thread.

#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::thread;

use perf_events::sys::{Event, Target};
use perf_events::{EventSpec, PmuError, Probe, ProbeError, System, TracefsError};

mod support;

use support::{open_or_skip, skip, skip_in_any_case};

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Defines functions that are found by their names. Each has another body, so that no two are merged.
macro_rules! probed {
    ($($name:ident: $number:literal),*) => {
        $(
            #[unsafe(no_mangle)]
            #[inline(never)]
            extern "C" fn $name(value: u64) -> u64 {
                CALLS.fetch_add(1, Ordering::Relaxed);
                black_box(value).wrapping_mul($number)
            }
        )*
    };
}

probed! {
    perf_events_probed_entry: 3, perf_events_probed_return: 5, perf_events_probed_offset: 7,
    perf_events_probed_listed: 11, perf_events_probed_counter: 13
}

/// The 16-bit counter that the kernel increments. Not 0 at first, so that the file has its bytes.
#[unsafe(no_mangle)]
static PERF_EVENTS_PROBED: AtomicU16 = AtomicU16::new(0x100);

/// Calls a function without inlining it.
fn call(function: extern "C" fn(u64) -> u64, times: u64) {
    for number in 0..times {
        black_box(black_box(function)(number));
    }
}

fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Returns the event by the PMU, or prints the reason and returns `None`.
fn spec(probe: &Probe) -> Option<EventSpec> {
    match probe.event_spec(&System::new()) {
        Ok(spec) => Some(spec),
        Err(ProbeError::Pmu(error @ PmuError::NotFound { .. })) => {
            skip_in_any_case(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns the count of the event while `work` runs.
fn count_during(event: &Event, work: impl FnOnce()) -> u64 {
    let before = event.read().unwrap().value;
    work();
    event.read().unwrap().value - before
}

/// Checks that the event of the calling thread counts its calls and not those of another thread.
fn check_calls(event: &Event, function: extern "C" fn(u64) -> u64) {
    assert_eq!(count_during(event, || call(function, 7)), 7);
    assert_eq!(count_during(event, || thread::spawn(move || call(function, 5)).join().unwrap()), 0);
    assert_eq!(count_during(event, || call(perf_events_probed_offset, 3)), 0);
}

#[test]
fn entries_of_a_function_are_counted_exactly() {
    let probe = Probe::file_function(program(), "perf_events_probed_entry").unwrap();
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    check_calls(&event, perf_events_probed_entry);
}

#[test]
fn returns_of_a_function_are_counted_exactly() {
    let probe = Probe::file_function(program(), "perf_events_probed_return").unwrap().on_return();
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    check_calls(&event, perf_events_probed_return);
    let label = spec.label().to_string();
    assert!(label.starts_with("uretprobe:/") && label.ends_with(":perf_events_probed_return"), "{label}");
}

#[test]
fn counter_of_the_program_is_raised_while_the_probe_is_there() {
    let probe = Probe::file_function(program(), "perf_events_probed_counter").unwrap();
    let probe = probe.with_ref_counter_symbol("PERF_EVENTS_PROBED").unwrap();
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    assert_eq!(PERF_EVENTS_PROBED.load(Ordering::SeqCst), 0x101);
    check_calls(&event, perf_events_probed_counter);
    drop(event);
    assert_eq!(PERF_EVENTS_PROBED.load(Ordering::SeqCst), 0x100);
}

#[test]
fn probe_in_tracefs_counts_the_same_and_is_removed() {
    let probe = Probe::file_function(program(), "perf_events_probed_listed").unwrap();
    let listed = match probe.tracefs_event(&System::new()) {
        Ok(event) => event,
        Err(error @ (ProbeError::Unsupported { .. } | ProbeError::Tracefs(TracefsError::NotMounted))) => {
            return skip_in_any_case(error);
        }
        Err(error) => return skip(error),
    };
    assert!(listed.is_in_tracefs());
    let Some(event) = open_or_skip(listed.spec(), Target::calling_thread()) else { return };
    check_calls(&event, perf_events_probed_listed);

    // A name is used once.
    let second = probe.tracefs_event(&System::new()).unwrap();
    assert_ne!(second.spec().attr().config, listed.spec().attr().config);
    second.remove().unwrap();

    // The kernel keeps a probe while an event of it is open.
    let lines = || std::fs::read_to_string("/sys/kernel/tracing/uprobe_events").unwrap_or_default();
    let category = format!("perf_events_{}/", std::process::id());
    drop(event);
    listed.remove().unwrap();
    assert!(!lines().contains(&category));
}

#[test]
fn wrong_file_or_counter_is_an_error_of_the_kernel() {
    let probe = Probe::file_offset("/nonexistent/program", 0).unwrap();
    let Some(spec) = spec(&probe) else { return };
    let error = Event::open(&spec.attr(), Target::calling_thread()).unwrap_err();
    if matches!(error.errno(), Some(perf_events::sys::Errno::EACCES | perf_events::sys::Errno::EPERM)) {
        return skip(error);
    }
    assert_eq!(error.errno(), Some(perf_events::sys::Errno::ENOENT));
}
