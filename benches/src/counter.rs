//! What a piece of work costs, by perf-sys' own counters; instructions by Valgrind where the machine counts none.

use std::process::Command;

use perf_abi::{Attr, AttrFlags, Hardware, Software};
use perf_sys::{Event, Target};

use crate::{Case, Consumer, cases};

/// Argument of a run for Valgrind, followed by passes, bytes, shape, workload, touch and consumer.
const ONE: &str = "--one";

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

/// Returns whether Valgrind can be run.
pub fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the instructions of one pass of a consumer, counted by Valgrind in two runs of this program that differ
/// in the number of passes; `None` without Valgrind. The program's `main` must call [`run_one`].
pub fn by_valgrind(bytes: usize, case: &Case, consumer: &Consumer) -> Option<u64> {
    let run = |passes: u64| {
        let program = std::env::current_exe().ok()?;
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(program)
            .args([ONE, &passes.to_string(), &bytes.to_string()])
            .args([case.shape, case.workload, case.touch, consumer.name])
            .output()
            .ok()?;
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let count = report.lines().find_map(|line| line.split_once("Collected : "))?.1;
        count.trim().parse::<u64>().ok()
    };
    let (few, more) = (run(1)?, run(5)?);
    Some(more.saturating_sub(few) / 4)
}

/// Runs one consumer alone if these are the arguments of [`by_valgrind`]; returns whether they are.
pub fn run_one(arguments: &[String]) -> bool {
    let [first, passes, bytes, shape, workload, touch, consumer] = arguments else { return false };
    let (Ok(passes), Ok(bytes)) = (passes.parse::<u64>(), bytes.parse()) else { return false };
    let same = |case: &Case| (case.shape, case.workload, case.touch) == (shape, workload, touch);
    let Some(case) = cases().into_iter().find(same).filter(|_| first == ONE) else { return false };
    let Some(consumer) = case.consumers.iter().find(|one| one.name == consumer) else { return false };
    let mut input = (case.input)(bytes);
    for _ in 0..passes {
        std::hint::black_box((consumer.run)(&mut input));
    }
    true
}
