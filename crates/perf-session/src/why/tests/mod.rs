//! Explanations on made-up machines.

use std::cell::RefCell;

use perf_ring::sys::Error as SysError;
use perf_ring::{
    Attr, AttrFlags, BranchSampleType, Call, Errno, Error, EventType, Hardware, SampleType, Software, Target,
};

use super::*;
use crate::system::Privileges;
use crate::system::tree::Tree;

mod check;
mod errnos;
mod map;
mod permissions;
mod table;
mod trials;

const CLOCK: Attr = Attr::software(Software::CPU_CLOCK).with_flags(AttrFlags::EXCLUDE_KERNEL);
const CYCLES: Attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(AttrFlags::EXCLUDE_KERNEL);

/// A machine with CPUs 0 to 3 and a user without capabilities. CPU 2 is offline.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("/proc/sys/kernel/perf_event_paranoid", "2\n");
    tree.file("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
    tree.file("/proc/sys/kernel/perf_event_max_stack", "127\n");
    tree.file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
    tree.file("/proc/self/uid_map", "0 0 4294967295\n");
    tree.file("/sys/devices/system/cpu/possible", "0-3\n");
    tree.file("/sys/devices/system/cpu/online", "0-1,3\n");
    tree.pmu("software", &[("type", "1\n")]);
    tree.pmu("tracepoint", &[("type", "2\n")]);
    status(&tree, 0, 0);
    tree
}

/// Sets the effective capabilities and the seccomp mode.
fn status(tree: &Tree, capabilities: u64, seccomp: u32) {
    let text = format!("Pid:\t7\nUid:\t1000\nCapEff:\t{capabilities:016x}\nSeccomp:\t{seccomp}\n");
    tree.file("/proc/thread-self/status", &text);
    tree.file("/proc/self/status", &text);
}

fn failed(errno: Errno) -> Error {
    Error::Sys(SysError::System { call: Call::PerfEventOpen, errno })
}

/// Asserts the cause, and that words are in the three lines.
#[track_caller]
fn assert_is(explanation: &Diagnosis, cause: Cause, words: &[&str]) {
    assert_eq!(explanation.cause, cause, "{explanation}");
    let text = explanation.to_string();
    assert_eq!(text.lines().count(), 3, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
    // The text is for users, who see no flags of an attr. An argument is the programmer's.
    if cause == Cause::Argument || cause == Cause::State {
        return;
    }
    let advice = explanation.line();
    for name in ["AttrFlags", "SampleType", "Target", "set_output", "EXCLUDE_"] {
        assert!(!advice.contains(name), "{name} is in:\n{advice}");
    }
}

fn me() -> Target<'static> {
    Target::calling_thread()
}

/// Explains an errno on a tree.
fn at(tree: &Tree, errno: Errno, attr: &Attr, target: Target<'_>) -> Diagnosis {
    explain(tree.system(), failed(errno), attr, target)
}

/// Explains an errno of the calling thread's event on a tree.
fn of(tree: &Tree, errno: Errno, attr: &Attr) -> Diagnosis {
    at(tree, errno, attr, me())
}

/// Asserts the cause of an errno of the calling thread's event, and that words are in the three
/// lines.
#[track_caller]
fn assert_of(tree: &Tree, errno: Errno, attr: &Attr, cause: Cause, words: &[&str]) {
    assert_is(&of(tree, errno, attr), cause, words);
}
