use std::os::fd::AsFd;

use super::*;

const fn threads(pid: i32, cpu: i32) -> TargetArguments {
    TargetArguments { pid, cpu, is_cgroup: false }
}

#[test]
fn the_calling_thread_is_pid_0_on_any_cpu() {
    assert_eq!(Target::calling_thread().arguments(), Ok(threads(0, -1)));
}

#[test]
fn a_thread_can_be_restricted_to_a_cpu() {
    assert_eq!(Target::thread(42).on_cpu(3).arguments(), Ok(threads(42, 3)));
}

#[test]
fn a_cpu_can_be_replaced_by_another() {
    assert_eq!(Target::cpu(0).on_cpu(5).arguments(), Ok(threads(-1, 5)));
}

#[test]
fn a_huge_cpu_number_is_not_any_cpu() {
    assert_eq!(Target::cpu(u32::MAX).arguments(), Ok(threads(-1, i32::MAX)));
}

#[test]
fn a_thread_id_is_never_the_caller_or_all_tasks() {
    for tid in [0, 1 << 31, u32::MAX] {
        let found = Target::thread(tid).on_cpu(0).arguments();
        assert_eq!(found, Err(Error::ThreadId { found: tid }));
    }
    let highest = Target::thread(u32::MAX >> 1).arguments();
    assert_eq!(highest, Ok(threads(i32::MAX, -1)));
}

#[test]
fn raw_pairs_follow_the_c_convention() {
    let pairs = [
        ((0, -1), Target::calling_thread()),
        ((0, 2), Target::calling_thread().on_cpu(2)),
        ((7, -1), Target::thread(7)),
        ((7, 2), Target::thread(7).on_cpu(2)),
        ((-1, 0), Target::cpu(0)),
        ((i32::MAX, i32::MAX), Target::thread(u32::MAX >> 1).on_cpu(u32::MAX >> 1)),
    ];
    for ((pid, cpu), target) in pairs {
        assert_eq!(Target::from_raw(pid, cpu), Ok(target));
        assert_eq!(target.arguments(), Ok(threads(pid, cpu)));
    }
}

#[test]
fn error_of_an_invalid_raw_pair_names_the_valid_ones() {
    for (pid, cpu) in [(-1, -1), (-2, 0), (0, -2), (1, i32::MIN), (i32::MIN, -1)] {
        let error = Target::from_raw(pid, cpu).unwrap_err();
        assert_eq!(error, Error::Target { pid, cpu });
        let text = error.to_string();
        assert!(text.contains("pid -1 with a CPU") && text.contains(&pid.to_string()), "{text}");
    }
}

#[test]
fn targets_differ_by_tasks_and_by_cpu() {
    let (one, other) = (std::io::stdin(), std::io::stdout());
    let targets = [
        Target::calling_thread(),
        Target::calling_thread().on_cpu(0),
        Target::thread(1),
        Target::thread(2),
        Target::cpu(0),
        Target::cpu(1),
        Target::cgroup(one.as_fd(), 0),
        Target::cgroup(other.as_fd(), 0),
    ];
    for (at, target) in targets.iter().enumerate() {
        assert_eq!(targets.iter().position(|other| other == target), Some(at));
    }
}

#[test]
fn parts_of_a_target_can_be_read() {
    let dir = std::io::stdin();
    let parts = |target: Target<'_>| (target.is_thread(), target.tid(), target.is_cgroup(), target.cpu_id());
    assert_eq!(parts(Target::calling_thread()), (true, None, false, None));
    assert_eq!(parts(Target::thread(7).on_cpu(3)), (true, Some(7), false, Some(3)));
    assert_eq!(parts(Target::cpu(2)), (false, None, false, Some(2)));
    assert_eq!(parts(Target::cgroup(dir.as_fd(), 1)), (false, None, true, Some(1)));
}
