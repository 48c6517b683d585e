//! What a user without rights may count, and what the refusals say.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;
mod work;

use perf_abi::{Attr, SampleType, Software};
use perf_sys::{Errno, Event, Target};
use support::{as_nobody, open_or_skip, tracepoint};
use work::{Waiting, faults, touch, user_side};

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
        assert_eq!(error.errno(), Some(Errno::EACCES));
        assert!(error.to_string().contains("EXCLUDE_KERNEL"), "{error}");
    });
}

#[test]
fn a_whole_cpu_is_refused_with_its_cause() {
    as_nobody(|level| {
        if level < 1 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let error = Event::open(&faults(), Target::cpu(0)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EACCES));
        assert!(error.to_string().contains("perf_event_paranoid"), "{error}");
    });
}

#[test]
fn another_users_task_is_refused_with_its_cause() {
    let child = Waiting::spawn();
    let pid = child.pid();
    as_nobody(move |_| {
        let error = Event::open(&faults(), Target::thread(pid)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EACCES));
        assert!(error.to_string().contains("another user's task"), "{error}");
    });
    assert!(child.go().success());
}

#[test]
fn the_data_of_tracepoints_are_refused_with_their_cause() {
    let Some(attr) = tracepoint("sched/sched_switch") else { return };
    as_nobody(move |level| {
        if level < 0 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let attr = user_side(attr.with_sample_type(SampleType::RAW));
        let error = Event::open(&attr, Target::calling_thread()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EPERM));
        assert!(error.to_string().contains("raw tracepoint data"), "{error}");
    });
}
