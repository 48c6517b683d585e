//! Errors midway leave no descriptor open. A separate test binary with one test, because
//! descriptors and their limit belong to the process.

#![allow(clippy::unwrap_used)] // a failure here fails the test

mod support;

use std::fs;

use perf_session::ring::{Attr, AttrFlags, Errno, EventType};
use perf_session::{EventSetOptions, EventSetTarget, EventSpec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::set::{descriptors, open_or_skip, refused, sideband, switches};

/// Returns options with events that open, and rings.
fn options() -> EventSetOptions {
    let events = (0..8).map(|_| sideband(AttrFlags::TASK));
    EventSetOptions::new().event(switches()).events(events).ring_pages(8)
}

#[test]
fn every_descriptor_is_closed_after_an_error() {
    let before = descriptors();
    let Some(set) = open_or_skip(options()) else { return };
    let opened = descriptors() - before;
    assert_eq!(
        opened,
        (9 + 1) * set.cpus().len() + 1,
        "one an event and CPU, a watch a CPU, and one to wait"
    );
    drop(set);
    assert_eq!(descriptors(), before);

    // The last event of each CPU has a number that no kernel has.
    let missing = EventSpec::new(Attr::new(EventType::SOFTWARE, 1 << 40));
    let error = refused(options().event(missing.clone()));
    let event = error.event().unwrap();
    assert_eq!((event.error.errno(), event.is_member), (Some(Errno::ENOENT), false), "{error}");
    assert!(event.scope.cpu_id().is_some(), "{error}");
    assert_eq!(descriptors(), before, "{error}");

    // The last member of a group.
    let error = refused(options().group([switches(), missing]).target(EventSetTarget::calling_thread()));
    let event = error.event().unwrap();
    assert_eq!((event.error.errno(), event.is_member), (Some(Errno::ENOENT), true), "{error}");
    assert_eq!(event.scope.thread_id(), Some(support::set::tid()));
    assert_eq!(descriptors(), before, "{error}");

    // Too few descriptors for all events, and some for files.
    let limit = getrlimit(Resource::Nofile);
    let most = Some((before + opened - 5) as u64);
    let largest = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().file_name());
    let largest = largest.map(|name| name.to_str().unwrap().parse::<u64>().unwrap()).max();
    if largest >= most {
        return eprintln!("skipped: descriptor {largest:?} is open, so that a limit does not count them");
    }
    setrlimit(Resource::Nofile, Rlimit { current: most, ..limit }).unwrap();
    let error = refused(options());
    setrlimit(Resource::Nofile, limit).unwrap();
    assert_eq!(error.call().and_then(perf_session::ring::Error::errno), Some(Errno::EMFILE), "{error}");
    assert_eq!(descriptors(), before, "{error}");
}
