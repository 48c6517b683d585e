//! The events of a recording by `perfkit record`, as its header describes them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::fs;

use perf_file::PerfData;
use perf_file::feature::FeatureData;
use perf_file::format::Feature;
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
