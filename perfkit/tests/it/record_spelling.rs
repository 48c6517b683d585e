//! Options of `perfkit record` have the meaning that the perf tool gives them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::recording::{Folder, perfkit, record};
use perf_abi::{Attr, AttrFlags, SampleType};
use perf_file::feature::FeatureData;
use perf_file::format::Feature;
use perf_file::{PerfData, Reader};

/// The options that cargo-flamegraph gives, in its order.
const CARGO_FLAMEGRAPH: &[&str] = &["-F", "997", "--call-graph", "dwarf,64000", "-g"];

/// Returns the attrs of a recording without those that only carry other records.
fn attrs(file: &Path) -> Vec<Attr> {
    let bytes = fs::read(file).unwrap();
    let attrs = PerfData::new(&bytes).unwrap().attrs().map(|attr| attr.unwrap().attr).collect::<Vec<_>>();
    attrs.into_iter().filter(|attr| (attr.kind.0, attr.config) != (1, 9)).collect()
}

/// Returns the fields of an attr that options decide about, as text.
fn meaning(attr: &Attr) -> String {
    // Ids are not options, and `perfkit` needs the times of all events at the same offset.
    let unstable = SampleType::IDENTIFIER | SampleType::ID | SampleType::CPU;
    // The perf tool records data addresses with copies of the stack, too.
    let of_stacks = SampleType::ADDR | SampleType::DATA_SRC;
    let mut fields = attr.sample_type - unstable;
    if fields.contains(SampleType::STACK_USER) {
        fields -= of_stacks;
    }
    let flags = AttrFlags::FREQ
        | AttrFlags::EXCLUDE_USER
        | AttrFlags::EXCLUDE_KERNEL
        | AttrFlags::EXCLUDE_CALLCHAIN_KERNEL
        | AttrFlags::EXCLUDE_CALLCHAIN_USER
        | AttrFlags::ENABLE_ON_EXEC;
    format!(
        "{:?} {} {} {fields:?} {:?} {} {:x}",
        attr.kind,
        attr.config,
        attr.sample_period,
        attr.flags & flags,
        attr.sample_stack_user,
        attr.sample_regs_user
    )
}

#[test]
fn options_have_the_meaning_that_the_perf_tool_gives_them() {
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let folder = Folder::new();
    let (ours, theirs) = (folder.path("ours.data"), folder.path("theirs.data"));
    let own = std::process::id().to_string();
    for options in [
        CARGO_FLAMEGRAPH,
        &["-gz=3", "-F99", "-C0"],
        &["-agF99"],
        &["-g", "--call-graph=dwarf,4090", "-z"],
        &["-g", "--user-callchains", "-m", "3"],
        &["--call-graph", "fp", "--kernel-callchains", "--all-user", "-z=1"],
        &["-c", "1000000", "-P", "-d"],
        &["-F", "99", "-F", "100", "--all-kernel", "-T", "-N", "-k", "mono", "--sample-cpu"],
        &["--phys-data", "--data-page-size", "--code-page-size", "-R", "-m", "64K"],
        &["-p", &own],
        &["-t", &own],
    ] {
        let common = ["-e", "cpu-clock"];
        let output = ["-o", ours.to_str().unwrap(), "true"];
        let Some(recorded) = record(&[&common[..], options, &output].concat()) else { return };
        assert!(recorded.status.success(), "{options:?}: {recorded:?}");
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-e", "cpu-clock"]).args(options).arg("-o").arg(&theirs).arg("true");
        let recorded = perf.env("HOME", folder.path("")).stdin(Stdio::null()).output().unwrap();
        if !recorded.status.success() {
            eprintln!("skipped {options:?}: {}", String::from_utf8_lossy(&recorded.stderr));
            continue;
        }
        let meanings = |file: &Path| attrs(file).iter().map(meaning).collect::<Vec<_>>();
        assert_eq!(meanings(&ours), meanings(&theirs), "{options:?}");
    }
}

#[test]
fn highest_frequency_is_the_limit_of_the_kernel() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let limit =
        || fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate").unwrap().trim().to_owned();
    let before = limit();
    let output = ["-o", file.to_str().unwrap(), "true"];
    if record(&[&["-e", "cpu-clock", "-F", "max"], &output[..]].concat()).is_none() || limit() != before {
        return;
    }
    assert_eq!(attrs(&file)[0].sample_period.to_string(), before);
}

#[test]
fn callchains_of_stacks_stay_those_of_stacks_with_another_option() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let (mode, also) = (["--call-graph", "dwarf,64000"], ["-g"]);
    for options in [[&mode[..], &also].concat(), [&also[..], &mode].concat()] {
        let output = ["-e", "cpu-clock", "-o", file.to_str().unwrap(), "true"];
        let Some(output) = record(&[options, output.to_vec()].concat()) else { return };
        assert!(!String::from_utf8_lossy(&output.stderr).contains("in place of"), "{output:?}");
        assert_eq!(attrs(&file)[0].sample_stack_user, 64000);
    }
}

#[test]
fn sizes_that_the_kernel_does_not_take_are_rounded_up_with_a_line() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    for (options, line) in [
        (
            ["--call-graph", "dwarf,64001"],
            "perfkit: 64008 bytes of each stack in place of 64001: a multiple of 8",
        ),
        (["-m", "3"], "perfkit: rings of 4 data pages in place of 3: a power of two"),
    ] {
        let output = ["-e", "cpu-clock", "-o", file.to_str().unwrap(), "true"];
        let Some(output) = record(&[&options[..], &output].concat()) else { return };
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && errors.lines().any(|text| text == line), "{errors}");
    }
    for (options, most) in [(["--call-graph", "dwarf,65529"], "65528 bytes"), (["-z=23", "-g"], "1 to 22")] {
        let output = perfkit().arg("record").args(options).arg("true").output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && errors.contains(most), "{errors}");
    }
}

#[test]
fn level_of_the_compression_is_in_the_recording() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    for (option, level) in
        [("-z", 1), ("-z=9", 9), ("--compression-level=22", 22), ("--compression-level", 1)]
    {
        let output = ["-e", "cpu-clock", "-o", file.to_str().unwrap(), option, "true"];
        let Some(output) = record(&output) else { return };
        assert!(output.status.success(), "{option}: {output:?}");
        let bytes = fs::read(&file).unwrap();
        let section = PerfData::new(&bytes).unwrap().feature(Feature::COMPRESSED).unwrap().unwrap();
        let FeatureData::Compression(compression) = section.data().unwrap() else { panic!("{section:?}") };
        assert_eq!(compression.level, level, "{option}");
        let mut reader = Reader::from_bytes(&bytes).unwrap();
        while reader.next().unwrap().is_some() {}
    }
}

#[test]
fn branches_without_hardware_are_refused_in_a_clear_line() {
    for options in [&["-b"][..], &["-j", "any_call,u"], &["--call-graph", "lbr"]] {
        let mut recorder = perfkit();
        recorder.args(["record", "-o", "/dev/null"]).args(options).args(["-e", "cpu-clock", "true"]);
        let output = recorder.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("does not record branches") && errors.contains("\nremedy "), "{errors}");
    }
    let output = perfkit().args(["record", "-b", "-o", "/dev/null", "true"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let is_clear = errors.contains("needs a hardware event: ") || errors.contains("record branches");
    assert!(output.status.success() || is_clear, "{errors}");
}

#[test]
fn frequency_above_the_limit_is_lowered_with_a_line_or_refused() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let output = ["-F", "99999999", "-e", "cpu-clock", "-o", file.to_str().unwrap(), "true"];
    let Some(lowered) = record(&output) else { return };
    let errors = String::from_utf8(lowered.stderr).unwrap();
    assert!(lowered.status.success() && errors.contains(" in place of 99999999: limit of "), "{errors}");
    let refused = record(&[&["--strict-freq"], &output[..]].concat()).unwrap();
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert_eq!((refused.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
    assert!(errors.contains("99999999 samples per second are more than "), "{errors}");
}

#[test]
fn last_of_two_equal_options_counts() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let output = ["-o", "/nonexistent/file", "-o", file.to_str().unwrap(), "-g", "-g", "true"];
    let Some(output) = record(&[&["-e", "cpu-clock", "-e", "page-faults"], &output[..]].concat()) else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(attrs(&file).len(), 2);
}

#[test]
fn samples_of_tracepoints_have_the_cpu() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let output = ["-e", "sched:sched_switch,cpu-clock", "-o", file.to_str().unwrap(), "true"];
    if record(&output).is_none() {
        return;
    }
    // All events have the field, so that the time is at the same offset in all records.
    let bytes = fs::read(&file).unwrap();
    let data = PerfData::new(&bytes).unwrap();
    assert!(data.attrs().all(|attr| attr.unwrap().attr.sample_type.contains(SampleType::CPU)));
}
