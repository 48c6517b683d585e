//! The states of the threads that are there when a recording begins.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use perf_file::FeatureData;
use perf_file::feature::{RunTimes, ThreadAtStart, ThreadStates};
use perf_file::format::Feature;
use perf_file::writer::Features;
use perf_session::{ObservedTasks, System, ThreadState, WaitPlace};

use super::described::monotonic_time;

/// The threads that are there when a recording begins.
#[derive(Debug)]
pub(super) struct Threads {
    /// In ns of `CLOCK_MONOTONIC`.
    start: u64,
    /// In ns of `CLOCK_MONOTONIC`; 0 until the recording ends.
    end: u64,
    list: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    pid: u32,
    tid: u32,
    state: char,
    name: OsString,
    syscall: String,
    place: String,
    functions: String,
    /// Time on a CPU, and time without one, since the start of the thread, in ns; `None` if the
    /// thread has exited.
    times: Option<(u64, u64)>,
    /// The same times within the recording.
    recorded: Option<RunTimes>,
}

impl Threads {
    /// Reads the states of the observed threads; of all threads of the machine without tasks.
    /// Threads that exit meanwhile are left out.
    pub(super) fn read(system: &System, tasks: Option<&ObservedTasks>) -> Self {
        let ids = tasks.map_or_else(|| all(system), ObservedTasks::threads);
        let threads = ids.into_iter().filter_map(|(pid, tid)| Thread::read(system, pid, tid));
        let mut read = Self { start: 0, end: 0, list: threads.collect() };
        read.begin(system);
        read
    }

    /// Begins the times of the threads.
    pub(super) fn begin(&mut self, system: &System) {
        for thread in &mut self.list {
            thread.times = system.task(thread.tid).run_times().ok();
        }
        self.start = monotonic_time();
    }

    /// Ends the times of the threads, before the recording is completed.
    pub(super) fn end(&mut self, system: &System) {
        self.end = monotonic_time();
        for thread in &mut self.list {
            thread.recorded = thread.times_until_now(system);
        }
    }

    /// Adds the section about the threads.
    pub(super) fn describe(&self, features: &mut Features) {
        let threads = self.list.iter().map(|thread| ThreadAtStart {
            pid: thread.pid,
            tid: thread.tid,
            state: thread.state.into(),
            name: thread.name.as_bytes(),
            syscall: thread.syscall.as_bytes(),
            place: thread.place.as_bytes(),
            functions: thread.functions.as_bytes(),
            times: thread.recorded.as_slice().into(),
        });
        let threads: Vec<_> = threads.collect();
        let states = ThreadStates { start: self.start, end: self.end, threads: threads.as_slice().into() };
        features.set(Feature::THREAD_STATES, &FeatureData::ThreadStates(states));
    }
}

impl Thread {
    fn read(system: &System, pid: u32, tid: u32) -> Option<Self> {
        let state = ThreadState::read(system, tid).ok()?;
        let place = WaitPlace::read(system, tid);
        let functions = if place.functions.is_empty() {
            place.function.clone().unwrap_or_default()
        } else {
            place.functions.join("\n")
        };
        Some(Self {
            pid,
            tid,
            state: state.state,
            name: state.name,
            syscall: place.syscall_name().unwrap_or_default(),
            place: place.describe(system, tid).unwrap_or_default(),
            functions,
            times: None,
            recorded: None,
        })
    }

    /// Returns the times since the state was read; `None` if the thread has exited.
    fn times_until_now(&self, system: &System) -> Option<RunTimes> {
        let (running, ready) = self.times?;
        let now = system.task(self.tid).run_times().ok()?;
        // A thread that reuses the id has run for a shorter time.
        Some(RunTimes { running: now.0.checked_sub(running)?, ready: now.1.checked_sub(ready)? })
    }
}

/// Returns process and thread id of all threads of the machine.
fn all(system: &System) -> Vec<(u32, u32)> {
    let processes = system.processes().unwrap_or_default();
    let threads = |pid: u32| system.task(pid).threads().unwrap_or_default();
    processes.into_iter().flat_map(|pid| threads(pid).into_iter().map(move |tid| (pid, tid))).collect()
}
