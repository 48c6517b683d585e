//! The memory of many rings. This test has its own process, whose memory it measures.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use std::fs;

use perf_sys::{Event, Ring, RingSet, Target};
use support::{open_or_skip, switch, switches};

/// Returns the resident memory of this process in KiB.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn thousand_rings_of_one_page_take_less_than_5_mib() {
    const RINGS: usize = 1000;
    if open_or_skip(&switches(), Target::calling_thread()).is_none() {
        return;
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if limit.current.is_some_and(|limit| limit < RINGS as u64 + 50) {
        return eprintln!("skipped: the limit of descriptors is {:?}", limit.current);
    }
    let before = resident();
    let mut set = RingSet::new().unwrap();
    for key in 0..RINGS {
        let event = Event::open(&switches(), Target::calling_thread()).unwrap();
        if let Err(refused) = Ring::map(event, 1).map(|ring| set.add(key, ring).unwrap()) {
            return eprintln!("skipped after {key} rings: {refused}");
        }
    }
    set.iter().for_each(|(_, ring)| ring.event().enable().unwrap());
    // 24 bytes each, so the page wraps after 170.
    for _ in 0..4 {
        switch(60);
        for (_, batch) in set.ready() {
            assert!(batch.unwrap().records().flatten().count() > 0);
        }
    }
    set.iter().for_each(|(_, ring)| ring.event().disable().unwrap());
    let grown = resident() - before;
    assert!(grown < 5 * 1024, "{grown} KiB");
    eprintln!("{RINGS} rings: {grown} KiB");
}
