use perf_sys::{Call, Errno};

use super::*;
use crate::demo::plan::Scope;

/// All plans for `event`, each failed with an errno.
fn failed(event: Option<Source>, errno: impl Fn(Plan) -> Errno) -> Vec<(Plan, Error)> {
    let fail = |plan| (plan, Error::System { call: Call::PerfEventOpen, errno: errno(plan) });
    Plan::ladder(event).into_iter().map(fail).collect()
}

fn labels(errno: impl Fn(Plan) -> Errno) -> Vec<String> {
    attempts(failed(None, errno).iter()).into_iter().map(|attempt| attempt.label).collect()
}

/// Returns the text for plans that failed, on a machine without files.
fn text(plans: Vec<(Plan, Error)>) -> String {
    let mut out = Vec::new();
    explain(&mut out, &Failure::Plans(plans), &System::at("/nonexistent")).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn event_that_fails_equally_in_every_scope_is_one_attempt() {
    assert_eq!(labels(|_| Errno::EACCES), ["cycles", "cpu-clock"]);
}

#[test]
fn scopes_that_fail_differently_are_listed_separately() {
    let errno = |plan: Plan| if plan.scope == Scope::UserOnly { Errno::ENOENT } else { Errno::EACCES };
    let labels = labels(errno);
    assert_eq!(labels.len(), 4);
    assert_eq!(labels[0], "cycles, user and kernel");
}

#[test]
fn every_event_is_listed_once_with_errno_cause_and_remedy() {
    let text = text(failed(None, |_| Errno::EMFILE));
    for start in ["  failed  ", "  cause  ", "  found  ", "  try  "] {
        assert_eq!(text.matches(start).count(), 2, "{start:?} in {text}");
    }
    assert!(text.contains("failed   cpu-clock: perf_event_open: Too many open files"), "{text}");
    assert!(text.contains("RLIMIT_NOFILE"), "{text}");
}

#[test]
fn missing_pmu_has_the_clock_as_remedy() {
    let text = text(failed(Some(Source::Cycles), |_| Errno::ENOENT));
    // There is no /sys to show that the machine has no PMU.
    assert!(text.contains("cause    unknown: sysfs, which lists the PMUs, is not mounted"), "{text}");
    assert!(text.contains("try      perfkit demo --event cpu-clock"), "{text}");
}

#[test]
fn ring_above_the_limit_of_locked_memory_has_the_limit_as_remedy() {
    let mut failed = failed(None, |_| Errno::EMFILE);
    failed.last_mut().unwrap().1 = Error::System { call: Call::Mmap, errno: Errno::EPERM };
    let text = text(failed);
    assert!(text.contains("failed   cpu-clock, user space only: mmap: "), "{text}");
    assert!(text.contains("raise kernel.perf_event_mlock_kb"), "{text}");
}

#[test]
fn list_has_one_cause_for_each_attempt() {
    let failed = failed(None, |_| Errno::EMFILE);
    let mut out = Vec::new();
    list(&mut out, failed.iter(), &System::at("/nonexistent")).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!((text.matches("  failed ").count(), text.matches("  cause ").count()), (2, 2), "{text}");
}

#[test]
fn unreadable_level_is_printed_as_such() {
    assert!(kernel_scope(&System::at("/nonexistent")).contains("(now unreadable)"));
}
