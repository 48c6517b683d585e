//! What a piece of work costs, by perf-sys' own counters; instructions by Valgrind where the machine counts none.

use std::process::Command;

use perf_abi::{Attr, AttrFlags, Hardware, Software};
use perf_sys::{Event, Target};

/// The argument by which `ratios` runs one consumer for Valgrind: then passes, bytes, workload, touch, consumer.
pub const ONE: &str = "--one";

/// A counter of what this thread does.
pub struct Counter(Event);

impl Counter {
    /// Instructions in user space; `None` where there is no such hardware or no permission.
    pub fn instructions() -> Option<Self> {
        Self::open(user_side(Attr::hardware(Hardware::INSTRUCTIONS)))
    }

    /// Nanoseconds on a CPU: unlike a clock it stands still while another thread has the CPU.
    pub fn nanoseconds() -> Option<Self> {
        Self::open(user_side(Attr::software(Software::TASK_CLOCK)))
    }

    /// System calls, of which the last read of the counter is one; `None` without tracefs or permission.
    pub fn system_calls() -> Option<Self> {
        let id = std::fs::read_to_string("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id").ok()?;
        Self::open(Attr::tracepoint(id.trim().parse().ok()?))
    }

    fn open(attr: Attr) -> Option<Self> {
        Event::open(&attr, Target::calling_thread()).ok().map(Self)
    }

    /// What `work` takes, the two reads of the counter included.
    pub fn count<R>(&self, work: impl FnOnce() -> R) -> Option<u64> {
        let before = self.read()?;
        std::hint::black_box(work());
        Some(self.read()? - before)
    }

    fn read(&self) -> Option<u64> {
        let mut count = [0];
        self.0.read_raw(&mut count).ok().filter(|&words| words == 1)?;
        Some(count[0])
    }
}

fn user_side(attr: Attr) -> Attr {
    attr.with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

/// Instructions of one pass of a consumer, counted by Valgrind in two runs of this program that differ in the
/// number of passes; `None` without Valgrind.
pub fn by_valgrind(bytes: usize, workload: &str, touch: &str, consumer: &str) -> Option<u64> {
    let run = |passes: u64| {
        let program = std::env::current_exe().ok()?;
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(program)
            .args([ONE, &passes.to_string(), &bytes.to_string(), workload, touch, consumer])
            .output()
            .ok()?;
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let count = report.lines().find_map(|line| line.split_once("Collected : "))?.1;
        count.trim().parse::<u64>().ok()
    };
    let (few, more) = (run(1)?, run(5)?);
    Some(more.saturating_sub(few) / 4)
}
