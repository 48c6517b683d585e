//! Tests of joining, against a naive search of the whole trace, and of names and arguments.

use crate::payload::Format;
use proptest::prelude::*;

use super::args::Call;
use super::numbers::{EXECVE, NEW_TASK, RT_SIGRETURN};
use super::*;

const CLONE: i64 = NEW_TASK[0];

fn enter(pid: u32, tid: u32, time: u64, number: i64) -> SyscallHit {
    SyscallHit { pid, tid, time, number, step: SyscallStep::Enter { args: [time; 6] } }
}

fn exit(pid: u32, tid: u32, time: u64, number: i64) -> SyscallHit {
    SyscallHit { pid, tid, time, number, step: SyscallStep::Exit { result: 0 } }
}

/// Adds hits, and returns the ended calls: thread, number, time of the start, and the end.
fn joined(hits: &[SyscallHit]) -> Vec<(u32, i64, Option<u64>, SyscallEnd)> {
    let (mut joiner, mut calls) = (SyscallJoiner::new(), Vec::new());
    for hit in hits {
        joiner.add(*hit, &mut |call| calls.push(call));
    }
    calls.iter().map(|call| (call.tid, call.number, call.enter.map(|enter| enter.time), call.end)).collect()
}

fn returned(time: u64) -> SyscallEnd {
    SyscallEnd::Returned { time, result: 0 }
}

#[test]
fn clone_is_one_call_though_the_new_task_returns_from_it_too() {
    for &number in NEW_TASK {
        // The child may return first, on another CPU.
        let mut clone = [enter(1, 1, 10, number), exit(2, 2, 20, number), exit(1, 1, 30, number)];
        let SyscallStep::Exit { result } = &mut clone[2].step else { unreachable!() };
        *result = 2;
        let returned = SyscallEnd::Returned { time: 30, result: 2 };
        assert_eq!(joined(&clone), [(1, number, Some(10), returned)]);
        // A new thread reuses the id of a thread whose exit was lost.
        let reused = [enter(2, 2, 10, 202), exit(2, 2, 20, number), exit(2, 2, 30, 202)];
        let expected = [(2, 202, Some(10), SyscallEnd::NotSeen), (2, 202, None, self::returned(30))];
        assert_eq!(joined(&reused), expected);
    }
    // The start of the call was before the trace.
    let hit = SyscallHit { step: SyscallStep::Exit { result: 2 }, ..exit(1, 1, 10, CLONE) };
    assert_eq!(joined(&[hit]), [(1, CLONE, None, SyscallEnd::Returned { time: 10, result: 2 })]);
}

#[test]
fn return_without_a_number_is_of_the_call_in_progress() {
    let calls = joined(&[enter(1, 1, 10, 15), exit(1, 1, 20, -1), exit(1, 1, 30, -1)]);
    assert_eq!(calls, [(1, 15, Some(10), returned(20)), (1, -1, None, returned(30))]);
}

#[test]
fn late_hit_is_not_of_the_call_in_progress() {
    // The first two hits are in another ring, and arrive after the third.
    let hits = [enter(1, 1, 30, 39), enter(1, 1, 10, 39), exit(1, 1, 20, 39), exit(1, 1, 40, 39)];
    let expected = [
        (1, 39, Some(10), SyscallEnd::NotSeen),
        (1, 39, None, returned(20)),
        (1, 39, Some(30), returned(40)),
    ];
    assert_eq!(joined(&hits), expected);
}

#[test]
fn execve_of_another_thread_returns_in_the_first() {
    let hits = [enter(1, 1, 10, 202), enter(1, 5, 20, EXECVE), exit(1, 1, 30, EXECVE), exit(1, 1, 40, 0)];
    let expected = [
        (1, 202, Some(10), SyscallEnd::Exited { time: 30 }),
        (1, EXECVE, Some(20), returned(30)),
        (1, 0, None, returned(40)),
    ];
    assert_eq!(joined(&hits), expected);
}

#[test]
fn execve_of_one_of_several_threads_is_not_guessed() {
    let hits = [enter(1, 5, 10, EXECVE), enter(1, 6, 20, EXECVE), exit(1, 1, 30, EXECVE)];
    assert_eq!(joined(&hits), [(1, EXECVE, None, returned(30))]);
}

#[test]
fn older_half_of_too_many_calls_ends() {
    let (mut joiner, mut calls) = (SyscallJoiner::with_capacity(4), Vec::new());
    for tid in 1..=5 {
        joiner.add(enter(tid, tid, 10 - u64::from(tid), 0), &mut |call| calls.push((call.tid, call.end)));
    }
    assert_eq!(calls, [(5, SyscallEnd::InProgress), (4, SyscallEnd::InProgress)]);
    assert_eq!(joiner.pending(), 3);
}

#[test]
fn values_are_as_wide_as_their_types() {
    let format = "name: sys_enter_x\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n\
        \tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n\
        \tfield:size_t count;\toffset:48;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int fd;\toffset:56;\tsize:8;\tsigned:0;\n";
    let format = Format::parse(format).unwrap();
    let args = format.fields.iter().map(|field| SyscallArg::new("x", &field)).collect();
    let call = Call { name: "x".into(), args };
    let words =
        [0xdead_ffff_ff9c, 0x7ffe_1234, 0xffff_ffff_8008_0000, 0xffff_01a4, u64::MAX, 0xffff_ffff_0000_0003];
    let text = SyscallArgs { call: Some(&call), words }.to_string();
    let expected = format!(
        "dfd: AT_FDCWD, filename: 0x7ffe1234, flags: 0x80080000, mode: 0644, count: {}, fd: 3",
        usize::MAX
    );
    assert_eq!(text, expected);
}

#[test]
fn words_of_unknown_arguments_are_printed() {
    let args = SyscallArgs { call: None, words: [1, 0, 255, 0, 0, u64::MAX] };
    assert_eq!(args.to_string(), "0x1, 0x0, 0xff, 0x0, 0x0, 0xffffffffffffffff");
    assert_eq!(args.iter().count(), 0);
}

#[test]
fn filter_has_ranges_of_numbers() {
    assert_eq!(
        SyscallTable::filter(&[3, 1, 2, 7, 9, 10]),
        "(id >= 1 && id <= 3) || id == 7 || (id >= 9 && id <= 10)"
    );
    // The return of `rt_sigreturn` has no number.
    assert_eq!(SyscallTable::filter(&[RT_SIGRETURN]), format!("id == -1 || id == {RT_SIGRETURN}"));
    assert_eq!(SyscallTable::filter(&[]), "id == -2");
}

/// An entry of a trace.
#[derive(Clone, Copy, Debug)]
enum Step {
    Hit(SyscallHit),
    End { tid: u32 },
    Lose,
}

/// Returns the start that is the last entry of a trace about a thread, by reading the trace
/// backwards.
fn open_call(before: &[(u64, Step)], tid: u32) -> Option<SyscallHit> {
    let last = before.iter().rev().find(|(_, step)| match step {
        Step::Hit(hit) => hit.tid == tid,
        Step::End { tid: ended } => *ended == tid,
        Step::Lose => true,
    });
    match last {
        Some((_, Step::Hit(hit @ SyscallHit { step: SyscallStep::Enter { .. }, .. }))) => Some(*hit),
        _ => None,
    }
}

/// The calls of a trace, by the definition of each end: quadratic, without state.
fn naive(trace: &[(u64, Step)]) -> Vec<Syscall> {
    let of = |hit: SyscallHit, end| match hit.step {
        SyscallStep::Enter { args } => {
            let enter = Some(SyscallEnter { time: hit.time, args });
            Syscall { pid: hit.pid, tid: hit.tid, number: hit.number, enter, end }
        }
        SyscallStep::Exit { .. } => {
            Syscall { pid: hit.pid, tid: hit.tid, number: hit.number, enter: None, end }
        }
    };
    let all_open = |before: &[(u64, Step)], end| {
        let mut open: Vec<_> = (0..8).filter_map(|tid| open_call(before, tid)).collect();
        open.sort_by_key(|hit| (hit.time, hit.tid));
        open.into_iter().map(|hit| of(hit, end)).collect::<Vec<_>>()
    };
    let mut calls = Vec::new();
    for (at, (time, step)) in trace.iter().enumerate() {
        let before = &trace[..at];
        match *step {
            Step::Lose => calls.extend(all_open(before, SyscallEnd::Lost)),
            Step::End { tid } => {
                calls.extend(open_call(before, tid).map(|hit| of(hit, SyscallEnd::Exited { time: *time })));
            }
            Step::Hit(hit) => match (hit.step, open_call(before, hit.tid)) {
                (SyscallStep::Enter { .. }, open) => {
                    calls.extend(open.map(|open| of(open, SyscallEnd::NotSeen)));
                }
                (SyscallStep::Exit { result }, Some(open))
                    if hit.number == -1 || hit.number == open.number =>
                {
                    calls.push(of(open, SyscallEnd::Returned { time: *time, result }));
                }
                (SyscallStep::Exit { result }, open) => {
                    calls.extend(open.map(|open| of(open, SyscallEnd::NotSeen)));
                    if !(NEW_TASK.contains(&hit.number) && result == 0) {
                        calls.push(of(hit, SyscallEnd::Returned { time: *time, result }));
                    }
                }
            },
        }
    }
    calls.extend(all_open(trace, SyscallEnd::InProgress));
    calls
}

fn step() -> impl Strategy<Value = Step> {
    let number = prop_oneof![3 => -1_i64..3, 1 => Just(CLONE)];
    let hit = (0_u32..8, number, any::<bool>(), -3_i64..3).prop_map(|(tid, number, is_enter, result)| {
        let step = if is_enter { SyscallStep::Enter { args: [9; 6] } } else { SyscallStep::Exit { result } };
        Step::Hit(SyscallHit { pid: tid / 2, tid, time: 0, number, step })
    });
    prop_oneof![20 => hit, 2 => (0_u32..8).prop_map(|tid| Step::End { tid }), 1 => Just(Step::Lose)]
}

proptest! {
    #[test]
    fn calls_are_those_of_the_naive_model(steps in proptest::collection::vec(step(), 0..200)) {
        let trace: Vec<(u64, Step)> = steps.into_iter().zip(0..).map(|(step, time)| match step {
            Step::Hit(hit) => (time, Step::Hit(SyscallHit { time, ..hit })),
            other => (time, other),
        }).collect();
        let (mut joiner, mut calls) = (SyscallJoiner::new(), Vec::new());
        for (time, step) in &trace {
            let done = &mut |call| calls.push(call);
            match step {
                Step::Hit(hit) => joiner.add(*hit, done),
                Step::End { tid } => joiner.end_thread(*tid, *time, done),
                Step::Lose => joiner.lose(done),
            }
        }
        joiner.finish(&mut |call| calls.push(call));
        prop_assert_eq!(joiner.pending(), 0);
        prop_assert_eq!(calls, naive(&trace));
    }
}
