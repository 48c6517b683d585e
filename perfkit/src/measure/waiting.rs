//! Threads that wait during the whole measurement. They write no record, and show where a program
//! hangs.

use perf_session::{System, ThreadState};

use crate::out::message::{count, shown};

/// Threads that are named, at most.
const MAX_NAMED: usize = 8;

/// The states of threads at the start.
#[derive(Debug)]
pub(crate) struct Waiting {
    system: System,
    before: Vec<ThreadState>,
}

impl Waiting {
    /// Reads the states of threads, without exited threads.
    pub(crate) fn begin(system: &System, tids: &[u32]) -> Self {
        let before = tids.iter().filter_map(|&tid| ThreadState::read(system, tid).ok()).collect();
        Self { system: system.clone(), before }
    }

    /// Reads the states of all threads of processes, and of threads.
    pub(crate) fn begin_tasks(system: &System, pids: &[u32], tids: &[u32]) -> Self {
        let threads = pids.iter().flat_map(|&pid| system.task(pid).threads().unwrap_or_default());
        Self::begin(system, &threads.chain(tids.iter().copied()).collect::<Vec<_>>())
    }

    /// Returns as text which threads have waited since, and where; `None` if each has run. `done`
    /// is the verb for the other threads: "recorded" or "traced".
    pub(crate) fn describe(&self, done: &str) -> Option<String> {
        self.text(|them| format!(", so that nothing of {them} is {done}"))
    }

    /// Returns the same text about threads whose waits are recorded, because their states were.
    pub(crate) fn describe_recorded(&self) -> Option<String> {
        self.text(|_| String::new())
    }

    fn text(&self, consequence: impl FnOnce(&str) -> String) -> Option<String> {
        let has_waited = |before: &&ThreadState| {
            ThreadState::read(&self.system, before.tid).is_ok_and(|now| now.has_waited_since(before))
        };
        let threads: Vec<_> = self.before.iter().filter(has_waited).collect();
        if threads.is_empty() {
            return None;
        }
        let line = |thread: &&ThreadState| shown(thread.wait_line(&self.system));
        let mut named: Vec<_> = threads.iter().take(MAX_NAMED).map(line).collect();
        if threads.len() > MAX_NAMED {
            named.push(format!("and {} others", threads.len() - MAX_NAMED));
        }
        let them = if threads.len() == 1 { "it" } else { "them" };
        // Several threads have a line each.
        let start = if let [_] = named[..] { " " } else { "\n  " };
        let named = named.join(start);
        let threads = count(threads.len() as u64, "thread");
        Some(format!("{threads} waited all the time{}:{start}{named}", consequence(them)))
    }
}
