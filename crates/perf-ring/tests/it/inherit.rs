//! Counting of other tasks: children, programs after an exec, cgroups.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::prelude::*;

fn value(event: &Event) -> u64 {
    Count::read(event).unwrap().value
}

fn enabled(flags: AttrFlags) -> Attr {
    faults().without_flags(AttrFlags::DISABLED).with_flags(flags)
}

#[test]
fn inherited_event_counts_children() {
    let Some(all) = own(&enabled(AttrFlags::INHERIT)) else { return };
    let own = Event::open(&enabled(AttrFlags::empty()), Target::calling_thread()).unwrap();
    std::thread::spawn(|| touch(512)).join().unwrap();
    let own = value(&own);
    let all = value(&all);
    assert!(all >= own + 512, "{all} of all, {own} of this thread");
}

#[test]
fn event_inherited_by_threads_does_not_count_child_processes() {
    let flags = AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD;
    let all = own(&enabled(AttrFlags::INHERIT));
    let threads = match Event::open(&enabled(flags), Target::calling_thread()) {
        Ok(threads) => threads,
        Err(error) => return eprintln!("skipped: before Linux 5.13: {error}"),
    };
    let Some(all) = all else { return };
    std::thread::spawn(|| touch(512)).join().unwrap();
    let before = (value(&threads), value(&all));
    assert!(before.0 >= 512);
    Command::new("true").status().unwrap();
    let after = (value(&threads), value(&all));
    assert!(after.1 - before.1 > after.0 - before.0, "{before:?} {after:?}");
}

#[test]
fn event_enabled_on_exec_counts_from_the_next_exec() {
    let child = Waiting::spawn();
    let attr = faults().with_flags(AttrFlags::ENABLE_ON_EXEC);
    let event = open_or_skip(&attr, Target::thread(child.pid()));
    let before = event.as_ref().map(value);
    assert!(child.go().success());
    let Some(event) = event else { return };
    assert_eq!(before, Some(0));
    assert!(value(&event) > 0);
}

#[test]
fn event_removed_on_exec_counts_until_the_next_exec() {
    let child = Waiting::spawn();
    let on = open_or_skip(&enabled(AttrFlags::empty()), Target::thread(child.pid()));
    let off = Event::open(&enabled(AttrFlags::REMOVE_ON_EXEC), Target::thread(child.pid()));
    assert!(child.go().success());
    let Some(on) = on else { return };
    match off {
        Ok(off) => assert!(value(&off) < value(&on), "{} {}", value(&off), value(&on)),
        Err(error) => eprintln!("skipped: before Linux 5.13: {error}"),
    }
}

#[test]
fn event_of_a_cgroup_counts_its_members() {
    let Some(root) = cgroup2() else { return eprintln!("skipped: no cgroup2 is mounted") };
    let place = root.join(format!("perf-ring-test-{}", std::process::id()));
    if let Err(error) = fs::create_dir(&place) {
        return eprintln!("skipped: {}: {error}", place.display());
    }
    let counted = count_a_member(&place);
    fs::remove_dir(&place).unwrap();
    assert_ne!(counted, Some(0));
}

/// Returns the page faults of one process in the cgroup, or `None` if they cannot be counted here.
fn count_a_member(place: &Path) -> Option<u64> {
    let dir = File::open(place).unwrap();
    let child = Waiting::spawn();
    let pid = child.pid().to_string();
    let moved = fs::write(place.join("cgroup.procs"), pid);
    let mut events = Vec::new();
    for cpu in 0.. {
        match Event::open(&enabled(AttrFlags::empty()), Target::cgroup(&dir, cpu)) {
            Ok(event) => events.push(event),
            Err(error) if error.errno() == Some(Errno::ENODEV) => {} // offline
            Err(error) => {
                println!("cpu {cpu}: {error}");
                break;
            }
        }
    }
    child.go();
    if events.is_empty() || moved.is_err() {
        eprintln!("skipped: {} events, {moved:?}", events.len());
        return None;
    }
    Some(events.iter().map(value).sum())
}
