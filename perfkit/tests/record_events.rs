//! The events of a recording by `perfkit record`, as its header describes them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::fs;

use perf_decode::Record;
use perf_file::feature::FeatureData;
use perf_file::format::Feature;
use perf_file::{PerfData, Reader};
use support::recording::{Folder, record};

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
    let bytes = fs::read(&file).unwrap();
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        match record.decode().unwrap() {
            Record::Namespaces(task) if task.pid() == std::process::id() => {
                own_namespaces += 1;
                assert!(task.namespaces().iter().any(|link| link.inode != 0), "{task}");
            }
            Record::Cgroup(cgroup) => cgroups.push(cgroup.path().to_vec()),
            _ => {}
        }
    }
    assert!(own_namespaces > 0);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    // The root, unless there is no hierarchy.
    assert!(cgroups.contains(&b"/".to_vec()) || notes.contains("does not name the cgroups"), "{notes}");
}
