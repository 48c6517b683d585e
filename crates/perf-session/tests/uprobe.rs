//! Probes at functions of the test program, which count exactly the calls of a thread.

#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::thread;

use perf_session::ring::{Attr, Count, Event, Record, Ring, SampleLayout, SampleType, Target};
use perf_session::{EventSpec, PmuError, Probe, ProbeError, ProbeHit, System, TracefsError};

mod support;

use support::event::open_or_skip;
use support::{skip, skip_in_any_case};

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Defines functions that are found by their names. Each has another body, so that no two are
/// merged.
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
    perf_session_probed_entry: 3, perf_session_probed_return: 5, perf_session_probed_offset: 7,
    perf_session_probed_listed: 11, perf_session_probed_counter: 13, perf_session_probed_sampled: 17
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
    let before = Count::read(event).unwrap().value;
    work();
    Count::read(event).unwrap().value - before
}

/// Checks that the event of the calling thread counts only that thread's calls.
fn check_calls(event: &Event, function: extern "C" fn(u64) -> u64) {
    assert_eq!(count_during(event, || call(function, 7)), 7);
    assert_eq!(count_during(event, || thread::spawn(move || call(function, 5)).join().unwrap()), 0);
    assert_eq!(count_during(event, || call(perf_session_probed_offset, 3)), 0);
}

#[test]
fn entries_of_a_function_are_counted_exactly() {
    let probe = Probe::file_function(program(), "perf_session_probed_entry").unwrap();
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    check_calls(&event, perf_session_probed_entry);
}

#[test]
fn returns_of_a_function_are_counted_exactly() {
    let probe = Probe::file_function(program(), "perf_session_probed_return").unwrap().on_return();
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    check_calls(&event, perf_session_probed_return);
    let label = spec.label().to_string();
    assert!(label.starts_with("uretprobe:/") && label.ends_with(":perf_session_probed_return"), "{label}");
}

#[test]
fn calls_of_a_shared_library_are_counted_exactly() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
    let Some(library) = paths.into_iter().find(|path| path.ends_with("/libc.so.6")) else {
        return skip_in_any_case("the test is not linked with a shared C library");
    };
    let probe = match Probe::file_function(library, "getppid") {
        Ok(probe) => probe,
        Err(error @ ProbeError::File(_)) => return skip_in_any_case(error), // on a file system of another machine
        Err(error) => panic!("{error}"),
    };
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    let call = |_| {
        // SAFETY: the function has no arguments and always succeeds.
        unsafe { libc::getppid() }
    };
    assert_eq!(count_during(&event, || (0..9).map(call).for_each(|parent| assert!(parent >= 0))), 9);
}

/// Samples three calls and returns the addresses in their payloads.
fn hits(probe: &Probe, function: extern "C" fn(u64) -> u64) -> Option<Vec<ProbeHit>> {
    let sampled = |attr: Attr| attr.with_period(1).with_sample_type(SampleType::RAW);
    let event = open_or_skip(&spec(probe)?.map_attr(sampled), Target::calling_thread())?;
    let mut ring = Ring::map(event, 8).unwrap();
    call(function, 3);
    let layout = SampleLayout::new(ring.event().attr());
    let mut hits = Vec::new();
    for record in ring.batch().unwrap().records() {
        let Record::Sample(sample) = record.unwrap().decode(&layout).unwrap() else { continue };
        hits.push(probe.hit(sample.raw().unwrap()).unwrap());
    }
    Some(hits)
}

#[test]
fn samples_have_the_address_of_the_function() {
    let address = perf_session_probed_sampled as *const () as u64;
    let probe = Probe::file_function(program(), "perf_session_probed_sampled").unwrap();
    let Some(entries) = hits(&probe, perf_session_probed_sampled) else { return };
    assert_eq!(entries, [ProbeHit { address, return_to: None }; 3]);
    let Some(returns) = hits(&probe.on_return(), perf_session_probed_sampled) else { return };
    assert_eq!(returns.len(), 3);
    assert!(returns.iter().all(|hit| hit.address == address && hit.return_to.is_some_and(|to| to != 0)));
}

#[test]
fn counter_of_the_program_is_raised_while_the_probe_is_there() {
    let probe = Probe::file_function(program(), "perf_session_probed_counter").unwrap();
    let probe = probe.with_ref_counter_symbol("PERF_EVENTS_PROBED").unwrap();
    let Some(spec) = spec(&probe) else { return };
    let Some(event) = open_or_skip(&spec, Target::calling_thread()) else { return };
    assert_eq!(PERF_EVENTS_PROBED.load(Ordering::SeqCst), 0x101);
    check_calls(&event, perf_session_probed_counter);
    drop(event);
    assert_eq!(PERF_EVENTS_PROBED.load(Ordering::SeqCst), 0x100);
}

#[test]
fn probe_in_tracefs_counts_the_same_and_is_removed() {
    let probe = Probe::file_function(program(), "perf_session_probed_listed").unwrap();
    let listed = match probe.tracefs_event(&System::new()) {
        Ok(event) => event,
        Err(error @ (ProbeError::Unsupported { .. } | ProbeError::Tracefs(TracefsError::NotMounted))) => {
            return skip_in_any_case(error);
        }
        Err(error) => return skip(error),
    };
    assert!(listed.is_in_tracefs());
    let Some(event) = open_or_skip(listed.spec(), Target::calling_thread()) else { return };
    check_calls(&event, perf_session_probed_listed);

    // A name is used once.
    let second = probe.tracefs_event(&System::new()).unwrap();
    assert_ne!(second.spec().attr().config, listed.spec().attr().config);
    second.remove().unwrap();

    // The kernel keeps a probe while one of its events is open.
    let lines = || std::fs::read_to_string("/sys/kernel/tracing/uprobe_events").unwrap_or_default();
    let category = format!("perf_session_{}/", std::process::id());
    drop(event);
    listed.remove().unwrap();
    assert!(!lines().contains(&category));
}

#[test]
fn wrong_file_or_counter_is_an_error_of_the_kernel() {
    let probe = Probe::file_offset("/nonexistent/program", 0).unwrap();
    let Some(spec) = spec(&probe) else { return };
    let error = Event::open(&spec.attr(), Target::calling_thread()).unwrap_err();
    if matches!(error.errno(), Some(perf_session::ring::Errno::EACCES | perf_session::ring::Errno::EPERM)) {
        return skip(error);
    }
    assert_eq!(error.errno(), Some(perf_session::ring::Errno::ENOENT));
}
