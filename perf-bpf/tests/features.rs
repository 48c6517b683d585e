//! Probes of the running kernel.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use perf_bpf::{BpfMapType, BpfProgType, Features};
use support::permitted;

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
fn types_that_no_kernel_has_are_missing() {
    let Some(found) = permitted(Features::map_type(BpfMapType(9999))) else { return };
    assert!(!found);
    assert!(!Features::prog_type(BpfProgType(9999)).unwrap());
}

#[test]
fn a_recent_kernel_has_names_batches_links_and_frozen_maps() {
    let Some(names) = permitted(Features::object_names()) else { return };
    assert!(names && Features::batches().unwrap() && Features::freeze().unwrap());
    assert!(Features::perf_event_links().unwrap());
}
