//! Constants and bit fields against the newest uapi headers.

use super::constants::{constants, with_prefix};
use super::published::Bindings;
use crate::bpf::{BpfMapType, BpfProgType};
use std::vec::Vec;

#[test]
fn constants_have_the_values_of_the_newest_header() {
    let newest = Bindings::newest();
    for (name, value) in with_prefix(&["PERF_", "BPF_"]) {
        // Registers are in headers of their architecture.
        if !name.starts_with("PERF_REG_") {
            assert_eq!(newest.constants.get(name), Some(&value), "{name}");
        }
    }
}

#[test]
fn every_perf_constant_of_the_newest_header_is_declared() {
    let (newest, ours) = (Bindings::newest(), constants());
    let theirs = newest.constants.keys().filter(|name| name.starts_with("PERF_") && !is_bookkeeping(name));
    let missing: Vec<_> = theirs.filter(|name| !ours.contains_key(name.as_str())).collect();
    assert!(missing.is_empty(), "not declared: {missing:?}");
}

#[test]
fn every_type_of_bpf_of_the_newest_header_is_declared() {
    let (newest, ours) = (Bindings::newest(), constants());
    for prefix in ["BPF_MAP_TYPE_", "BPF_PROG_TYPE_", "BPF_LINK_TYPE_"] {
        let theirs = newest.constants.keys().filter(|name| name.starts_with(prefix));
        // No type, and a second name of a type.
        let theirs = theirs.filter(|name| !name.ends_with("_UNSPEC") && !name.ends_with("_DEPRECATED"));
        let missing: Vec<_> = theirs.clone().filter(|name| !ours.contains_key(name.as_str())).collect();
        assert!(missing.is_empty(), "not declared: {missing:?}");
        assert!(theirs.count() >= 14, "{prefix}");
    }
}

#[test]
fn types_of_bpf_are_named_as_in_c() {
    let maps = BpfMapType::ALL.iter().map(|found| ("BPF_MAP_TYPE_", found.name(), found.0));
    let programs = BpfProgType::ALL.iter().map(|found| ("BPF_PROG_TYPE_", found.name(), found.0));
    for (prefix, name, value) in maps.chain(programs) {
        let c_name = std::format!("{prefix}{}", name.unwrap());
        assert_eq!(constants().get(c_name.as_str()), Some(&value.into()), "{c_name}");
    }
}

/// Returns whether a name is a count or a shift of the header, which this crate expresses by types.
fn is_bookkeeping(name: &str) -> bool {
    let is_declared = name == "PERF_CONTEXT_MAX" || name == "PERF_PMU_TYPE_SHIFT";
    !is_declared && (name.ends_with("_MAX") || name.ends_with("_SHIFT"))
}
