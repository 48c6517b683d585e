//! The levels of `perf_event_paranoid`, as an unprivileged user. A separate test binary with one
//! test, because it changes the level of the machine.

#![allow(clippy::unwrap_used, clippy::panic)] // also in shared functions

mod support;

use std::fs;
use std::process::{Child, Command, Stdio};

use perf_session::ring::{Attr, AttrFlags, Errno, Event, SampleType, Software, Target};
use perf_session::{Cause, Pmu, Privileges, System, Tracefs};
use support::explain::{OWN, as_nobody, assert_refused};

/// The level of the machine, which is restored when this is dropped.
struct Level(String);

impl Level {
    fn save() -> Self {
        Self(fs::read_to_string(Privileges::PARANOID).unwrap())
    }

    fn set(&self, level: i32) -> bool {
        let done = fs::write(Privileges::PARANOID, level.to_string());
        if let Err(error) = &done {
            eprintln!("skipped: level {level} after {}: {error}", self.0.trim());
        }
        done.is_ok()
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        fs::write(Privileges::PARANOID, self.0.trim()).unwrap();
    }
}

/// A process of this test's user, which runs until this is dropped.
struct Other(Child);

impl Other {
    fn spawn() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

fn me() -> Target<'static> {
    Target::calling_thread()
}

fn opens(attr: &Attr, target: Target<'_>) {
    if let Err(error) = Event::open(attr, target) {
        panic!("{error}");
    }
}

/// Asserts that an unprivileged user may open events at `level`, or the cause why not.
fn check(level: i32, other: u32, tracepoint: Option<Attr>, uprobe: Option<Attr>) {
    let now = format!("not {level}");
    opens(&OWN, me());
    let kernel = Attr::software(Software::PAGE_FAULTS);
    let physical = OWN.with_period(1).with_sample_type(SampleType::PHYS_ADDR);
    if level >= 2 {
        let words = ["events in the kernel", &now, "exclude the kernel (`:u`", "perf_event_paranoid=1"];
        assert_refused(&kernel, me(), Errno::EACCES, Cause::Paranoid, &words);
        assert_refused(&physical, me(), Errno::EACCES, Cause::Paranoid, &["physical addresses", &now]);
    } else {
        opens(&kernel, me());
        opens(&physical, me());
    }
    if level >= 1 {
        let words = ["the tasks of all users", &now, "perf_event_paranoid=0", "CapEff"];
        assert_refused(&OWN, Target::cpu(0), Errno::EACCES, Cause::Paranoid, &words);
    } else {
        opens(&OWN, Target::cpu(0));
    }
    let namespaces = OWN.with_flags(AttrFlags::NAMESPACES);
    assert_refused(&namespaces, me(), Errno::EACCES, Cause::Capability, &["NAMESPACES", "CAP_PERFMON"]);
    let words = ["belongs to another user", "Uid of /proc/", ": 0"];
    assert_refused(&OWN, Target::thread(other), Errno::EACCES, Cause::OtherUser, &words);
    if let Some(attr) = tracepoint {
        opens(&attr.with_sample_type(SampleType::IP), me());
        let raw = attr.with_sample_type(SampleType::RAW);
        let words = ["raw tracepoint data", "at most -1"];
        assert_refused(&raw, me(), Errno::EPERM, Cause::Paranoid, &words);
    }
    if let Some(attr) = uprobe {
        assert_refused(&attr, me(), Errno::EACCES, Cause::Capability, &["uprobe", "CAP_SYS_ADMIN"]);
    }
}

#[test]
fn each_level_explains_what_it_forbids() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody and set the level");
    }
    let system = System::new();
    // Only root can read tracefs.
    let tracepoint = Tracefs::find(&system).and_then(|tracefs| tracefs.tracepoint("sched", "sched_switch"));
    let tracepoint = tracepoint.map(|tracepoint| {
        Attr::tracepoint(tracepoint.id().into()).with_period(1).with_flags(AttrFlags::EXCLUDE_KERNEL)
    });
    let tracepoint = tracepoint.map_err(|error| eprintln!("skipped: {error}")).ok();
    let uprobe = Pmu::named(&system, "uprobe").ok();
    let uprobe = uprobe.map(|uprobe| Attr::new(uprobe.kind(), 0).with_flags(AttrFlags::EXCLUDE_KERNEL));
    let other = Other::spawn();
    let level = Level::save();
    for value in [2, 1, 0] {
        if level.set(value) {
            as_nobody(|| check(value, other.0.id(), tracepoint, uprobe));
        }
    }
    drop(level);
}
