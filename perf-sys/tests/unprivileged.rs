//! What a user without rights may count, and what the refusals say.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;
mod work;

use std::fs;

use perf_abi::{Attr, Software};
use perf_sys::{Errno, Event, Target};
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;
use support::open_or_skip;
use work::{faults, touch};

/// The user `nobody`.
const NOBODY: u32 = 65534;

/// Runs `test` on a thread of its own that gives up root for ever, with the level of
/// `perf_event_paranoid`; not if somebody else runs the tests, who may have a capability.
fn as_nobody(test: fn(i32)) {
    if !geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    let Ok(level) = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid") else {
        return eprintln!("skipped: a kernel without perf");
    };
    let level = level.trim().parse().unwrap();
    let thread = std::thread::spawn(move || {
        let nobody = Uid::from_raw(NOBODY);
        // For this thread alone: the system call, not the C library's function.
        set_thread_res_uid(nobody, nobody, nobody).unwrap();
        test(level);
    });
    thread.join().unwrap();
}

#[test]
fn the_own_user_side_can_be_counted() {
    as_nobody(|level| {
        if level > 2 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let Some(event) = open_or_skip(&faults(), Target::calling_thread()) else {
            return;
        };
        assert!(event.measure(|| touch(8)).unwrap().1.value >= 8);
    });
}

#[test]
fn the_kernel_side_is_refused_with_its_cause() {
    as_nobody(|level| {
        if level < 2 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let attr = Attr::software(Software::PAGE_FAULTS);
        let error = Event::open(&attr, Target::calling_thread()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ACCESS));
        assert!(error.to_string().contains("exclude_kernel"), "{error}");
    });
}

#[test]
fn a_whole_cpu_is_refused_with_its_cause() {
    as_nobody(|level| {
        if level < 1 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let error = Event::open(&faults(), Target::cpu(0)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ACCESS));
        assert!(error.to_string().contains("perf_event_paranoid"), "{error}");
    });
}
