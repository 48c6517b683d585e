//! Probes of the running kernel.

use std::process::Command;

use crate::prelude::*;

#[test]
fn types_that_the_kernel_has_are_found() {
    for map_type in [
        BpfMapType::HASH,
        BpfMapType::ARRAY,
        BpfMapType::PERCPU_HASH,
        BpfMapType::PERCPU_ARRAY,
        BpfMapType::PERF_EVENT_ARRAY,
        BpfMapType::LRU_HASH,
        BpfMapType::LPM_TRIE,
        BpfMapType::STACK_TRACE,
        BpfMapType::QUEUE,
        BpfMapType::RINGBUF,
    ] {
        let Some(found) = permitted(Features::map_type(map_type)) else { return };
        // All are older than Linux 5.8.
        assert!(found, "{map_type}");
        assert_eq!(Features::map_type_or_hash(map_type).unwrap(), map_type);
    }
    for prog_type in [BpfProgType::SOCKET_FILTER, BpfProgType::TRACEPOINT, BpfProgType::PERF_EVENT] {
        assert!(Features::prog_type(prog_type).unwrap(), "{prog_type}");
    }
}

#[test]
fn a_type_without_a_probe_is_no_answer() {
    let unknown = Features::map_type(BpfMapType(9999));
    if unknown.as_ref().is_err_and(|error| error.errno().is_some()) {
        return permitted(unknown).map_or((), drop);
    }
    let program = Features::prog_type(BpfProgType(9999));
    if program.as_ref().is_err_and(|error| error.errno().is_some()) {
        return permitted(program).map_or((), drop);
    }
    for error in [unknown.unwrap_err(), program.unwrap_err()] {
        assert!(matches!(error, Error::NoProbe { number: 9999, .. }), "{error}");
    }
}

/// A security module may refuse some types whatever the capabilities, such as those that change
/// other programs.
#[test]
fn type_that_is_refused_to_a_process_with_the_privileges_of_others_is_an_answer() {
    for privileged in [BpfProgType::PERF_EVENT, BpfProgType::SCHED_CLS] {
        if permitted(Features::prog_type(privileged)).is_none() {
            return;
        }
    }
    for &prog_type in BpfProgType::ALL.iter().filter(|&&prog_type| prog_type != BpfProgType::KPROBE) {
        Features::prog_type(prog_type).unwrap_or_else(|error| panic!("{prog_type}: {error}"));
    }
}

/// Returns `bpftool feature probe`, or the reason why it cannot be run.
fn bpftool() -> Result<String, String> {
    let output = Command::new("bpftool").args(["feature", "probe"]).output();
    let output = output.map_err(|error| format!("bpftool: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.contains("eBPF map_type hash is available") { Ok(text) } else { Err(format!("{output:?}")) }
}

#[test]
fn probes_answer_as_bpftool_does() {
    let text = match bpftool() {
        Ok(text) => text,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let line = |kind: &str, name: &str| {
        let start = format!("eBPF {kind} {} is ", name.to_lowercase());
        text.lines().find_map(|line| Some(line.strip_prefix(&start)? == "available"))
    };
    let mut compared = 0;
    for &map_type in BpfMapType::ALL {
        let Some(expected) = line("map_type", map_type.name().unwrap()) else { continue };
        assert_eq!(Features::map_type(map_type).unwrap(), expected, "{map_type}");
        compared += 1;
    }
    for &prog_type in BpfProgType::ALL {
        let Some(expected) = line("program_type", prog_type.name().unwrap()) else { continue };
        // For these types bpftool checks whether a program can be attached to the first type of the
        // kernel's BTF.
        let needs_btf = [BpfProgType::TRACING, BpfProgType::EXT, BpfProgType::LSM].contains(&prog_type);
        let found = Features::prog_type(prog_type).unwrap();
        assert!(found == expected || needs_btf && found, "{prog_type}");
        compared += 1;
    }
    assert!(compared > 40, "{text}");
}

#[test]
fn a_recent_kernel_has_names_batches_links_and_frozen_maps() {
    let Some(names) = permitted(Features::object_names()) else { return };
    assert!(names && Features::batches().unwrap() && Features::freeze().unwrap());
    assert!(Features::perf_event_links().unwrap());
}
