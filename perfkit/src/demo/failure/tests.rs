use super::*;
use crate::demo::plan::Scope;

const OPEN: Settings = Settings { paranoid: Some(2), is_filtered: false };

/// All plans for `event`, each failed with an errno.
fn failed(event: Option<Source>, errno: impl Fn(Plan) -> Errno) -> Vec<(Plan, Error)> {
    let fail = |plan| (plan, Error::System { call: Call::PerfEventOpen, errno: errno(plan) });
    Plan::ladder(event).into_iter().map(fail).collect()
}

fn labels(errno: impl Fn(Plan) -> Errno) -> Vec<String> {
    attempts(failed(None, errno).iter()).into_iter().map(|(label, _)| label).collect()
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
fn paranoid_level_has_its_sysctl_as_remedy() {
    let failed = failed(None, |_| Errno::EACCES);
    let remedies = remedies(&failed, Settings { paranoid: Some(3), is_filtered: false });
    assert!(remedies[0].starts_with("sysctl kernel.perf_event_paranoid="), "{remedies:?}");
}

#[test]
fn filter_has_a_container_profile_as_remedy() {
    let filtered = Settings { paranoid: Some(2), is_filtered: true };
    for errno in [Errno::EPERM, Errno::ENOSYS] {
        let failed = failed(None, |_| errno);
        assert!(remedies(&failed, filtered)[0].contains("profile"), "{errno}");
        assert!(!remedies(&failed, OPEN)[0].contains("profile"), "{errno}");
    }
}

#[test]
fn kernel_without_perf_events_has_a_kernel_as_remedy() {
    let remedies = remedies(&failed(None, |_| Errno::ENOSYS), Settings::default());
    assert_eq!(remedies, ["a kernel with CONFIG_PERF_EVENTS=y"]);
}

#[test]
fn missing_pmu_has_the_clock_as_remedy() {
    let remedies = remedies(&failed(Some(Source::Cycles), |_| Errno::ENOENT), OPEN);
    assert_eq!(remedies, ["perfkit demo --event cpu-clock, which needs no hardware counter"]);
}

#[test]
fn ring_above_the_limit_of_locked_memory_has_the_limit_as_remedy() {
    let mut failed = failed(None, |_| Errno::EACCES);
    failed.last_mut().unwrap().1 = Error::System { call: Call::Mmap, errno: Errno::EPERM };
    let remedies = remedies(&failed, OPEN);
    assert!(remedies.len() == 1 && remedies[0].contains("perf_event_mlock_kb"), "{remedies:?}");
}

#[test]
fn only_mode_2_of_seccomp_is_a_filter() {
    assert!(has_filter("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
    assert!(!has_filter("Seccomp:\t0\nSeccomp_filters:\t2\n"));
    assert!(!has_filter(""));
}

#[test]
fn every_event_is_listed_once_with_its_errno() {
    let failure = Failure::Plans(failed(None, |_| Errno::EACCES));
    let mut out = Vec::new();
    explain(&mut out, &failure, OPEN).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("  failed  ").count(), 2, "{text}");
    assert!(text.contains("failed   cpu-clock: perf_event_open: Permission denied"), "{text}");
    assert!(text.contains("  here     perf_event_paranoid is 2, no seccomp filter"), "{text}");
    assert!(text.contains("  try  "), "{text}");
}
