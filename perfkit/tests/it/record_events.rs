//! The events of a recording by `perfkit record`, as its header describes them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use crate::support::recording::{Folder, record};
use perf_bpf::{BpfInsn, BpfProgType, ProgramFd};
use perf_decode::Record;
use perf_file::feature::FeatureData;
use perf_file::format::Feature;
use perf_file::{PerfData, Reader};

/// Calls `note` with each record of the kernel.
fn for_each_record(file: &Path, mut note: impl FnMut(Record<'_>)) {
    let bytes = fs::read(file).unwrap();
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_some() {
            note(record.decode().unwrap());
        }
    }
}

#[test]
fn groups_have_the_names_that_the_user_gave() {
    let folder = Folder::new();
    let file = folder.path("groups.data");
    let events = ["-e", "faults{page-faults,task-clock}", "-e", "cpu-clock,{cpu-clock,page-faults}"];
    let arguments = ["-o", file.to_str().unwrap(), "--", "true"];
    if record(&[&events[..], &arguments].concat()).is_none() {
        return;
    }
    let bytes = fs::read(&file).unwrap();
    let section = PerfData::new(&bytes).unwrap().feature(Feature::GROUP_DESC).unwrap().unwrap();
    let FeatureData::Groups(groups) = section.data().unwrap() else { panic!("{section:?}") };
    let groups: Vec<_> = groups.iter().map(|group| (group.name, group.leader, group.members)).collect();
    assert_eq!(groups, [(&b"faults"[..], 0, 2), (b"{anon_group}", 3, 2)]);
}

#[test]
fn namespaces_and_cgroups_are_recorded_as_they_were_before() {
    let folder = Folder::new();
    let file = folder.path("namespaces.data");
    let options = ["-a", "-e", "task-clock", "--namespaces", "--all-cgroups"];
    let arguments = ["-o", file.to_str().unwrap(), "--", "true"];
    let Some(output) = record(&[&options[..], &arguments].concat()) else { return };
    let (mut own_namespaces, mut cgroups) = (0, Vec::new());
    for_each_record(&file, |record| match record {
        Record::Namespaces(task) if task.pid() == std::process::id() => {
            own_namespaces += 1;
            assert!(task.namespaces().iter().any(|link| link.inode != 0), "{task}");
        }
        Record::Cgroup(cgroup) => cgroups.push(cgroup.path().to_vec()),
        _ => {}
    });
    assert!(own_namespaces > 0);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    // The root cgroup, unless cgroups are not mounted.
    assert!(cgroups.contains(&b"/".to_vec()) || notes.contains("does not name the cgroups"), "{notes}");
}

#[test]
fn programs_that_were_loaded_before_are_recorded() {
    let code = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)]; // r0 = 0; exit
    let name = "pk_before".parse().unwrap();
    let program = match ProgramFd::load(BpfProgType::SOCKET_FILTER, &code, c"GPL", name) {
        Ok(program) => program,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let (info, functions) = (program.info().unwrap(), program.functions().unwrap());
    let folder = Folder::new();
    let file = folder.path("programs.data");
    let arguments = ["-e", "task-clock", "-o", file.to_str().unwrap(), "--", "true"];
    if record(&arguments).is_none() {
        return;
    }
    let (mut is_found, mut symbols) = (false, Vec::new());
    for_each_record(&file, |record| match record {
        Record::BpfEvent(event) if event.id() == info.id => is_found = event.tag() == info.tag,
        Record::Ksymbol(symbol) => symbols.push((symbol.addr(), symbol.len(), symbol.name().to_vec())),
        _ => {}
    });
    assert!(is_found);
    for function in functions {
        let found =
            symbols.iter().find(|(address, len, _)| (*address, *len) == (function.address, function.len));
        assert!(found.is_some_and(|(.., name)| name.ends_with(b"_pk_before")), "{symbols:x?}");
    }
}

/// A loop of a shell, which is interrupted by some ticks.
const BURN: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

/// `sched_stat_runtime` counts ns, not hits.
#[test]
fn hit_of_a_tracepoint_that_counts_is_one_sample() {
    for rate in [&[][..], &["-c", "1"]] {
        let folder = Folder::new();
        let file = folder.path("runtime.data");
        let events = ["-e", "sched:sched_stat_runtime", "-o", file.to_str().unwrap(), "--", "sh", "-c", BURN];
        if record(&[rate, &events[..]].concat()).is_none() {
            return;
        }
        let (mut times, mut throttled) = (Vec::new(), 0);
        for_each_record(&file, |record| match record {
            Record::Sample(sample) => {
                assert!(sample.period().is_some_and(|period| period > 1), "{sample}");
                times.push(sample.time().unwrap());
            }
            Record::Throttle(_) => throttled += 1,
            _ => {}
        });
        let samples = times.len();
        times.sort_unstable();
        times.dedup();
        assert_eq!((times.len(), throttled), (samples, 0));
        assert!(samples > 1, "{samples} samples");
    }
}

#[test]
fn each_hit_of_a_probe_is_recorded_in_a_command_that_forks() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let Some(libc) = maps.split_ascii_whitespace().find(|word| word.contains("/libc.so")) else {
        return eprintln!("skipped: no libc.so in this program");
    };
    let folder = Folder::new();
    let (file, event) = (folder.path("probe.data"), format!("uprobe:{libc}:malloc"));
    let arguments = ["-e", &event, "-o", file.to_str().unwrap(), "--", "sh", "-c", "ls / && ls /"];
    if record(&arguments).is_none() {
        return;
    }
    let mut samples = 0;
    for_each_record(&file, |record| samples += u32::from(matches!(record, Record::Sample(_))));
    assert!(samples > 100, "{samples}");
}
