//! The tasks and CPUs of a set.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use perf_ring::Target;

use super::Scope;
use super::open_tasks::own_tid;
use crate::system::CpuList;

/// The tasks and CPUs that an [`EventSet`](crate::EventSet) observes.
///
/// ```
/// use perf_session::EventSetTarget;
///
/// let everything = EventSetTarget::all_cpus();
/// let two = EventSetTarget::cpus([0, 5].into_iter().collect());
/// let this_process = EventSetTarget::process(std::process::id());
/// # let _ = (everything, two, this_process);
/// ```
#[derive(Clone, Debug)]
pub struct EventSetTarget {
    pub(super) tasks: Tasks,
    /// `None` for all online CPUs.
    pub(super) cpus: Option<CpuList>,
}

#[derive(Clone, Debug)]
pub(super) enum Tasks {
    All,
    Cgroup(Arc<OwnedFd>),
    Caller,
    Command,
    Threads(Vec<u32>),
    Processes(Vec<u32>),
}

/// The new tasks that the events of a task follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inherit {
    /// No new task.
    Nothing,
    /// The threads that the task starts, and their threads. Since Linux 5.13.
    Threads,
    /// All threads and processes that the task starts, and theirs.
    Tasks,
}

impl EventSetTarget {
    const fn of(tasks: Tasks) -> Self {
        Self { tasks, cpus: None }
    }

    /// Returns all tasks on all online CPUs.
    ///
    /// It needs `CAP_PERFMON`, or `perf_event_paranoid` of at most 0.
    pub const fn all_cpus() -> Self {
        Self::of(Tasks::All)
    }

    /// Returns all tasks on these CPUs. Those that are offline are skipped.
    pub const fn cpus(cpus: CpuList) -> Self {
        Self { tasks: Tasks::All, cpus: Some(cpus) }
    }

    /// Returns the tasks of the cgroup with directory `dir`, on all online CPUs.
    pub fn cgroup(dir: impl Into<OwnedFd>) -> Self {
        Self::of(Tasks::Cgroup(Arc::new(dir.into())))
    }

    /// Returns the process `pid` with all its threads, and the tasks that they start.
    ///
    /// The threads are read from `/proc/PID/task`. Events are opened again, for all threads, if a
    /// thread started during it, so that each thread has exactly one event: one that was opened for
    /// it, or an inherited copy.
    pub fn process(pid: u32) -> Self {
        Self::processes([pid])
    }

    /// Returns several processes, each with all its threads and the tasks that they start. All must
    /// run when the set is opened. See [`process`](Self::process).
    pub fn processes(pids: impl IntoIterator<Item = u32>) -> Self {
        Self::of(Tasks::Processes(unique(pids)))
    }

    /// Returns the thread `tid` alone.
    pub fn thread(tid: u32) -> Self {
        Self::threads([tid])
    }

    /// Returns these threads alone. All must run when the set is opened.
    pub fn threads(tids: impl IntoIterator<Item = u32>) -> Self {
        Self::of(Tasks::Threads(unique(tids)))
    }

    /// Returns the thread that opens the set, alone.
    pub const fn calling_thread() -> Self {
        Self::of(Tasks::Caller)
    }

    /// Returns the command that [`EventSet::spawn`](crate::EventSet::spawn) starts, from its `exec`
    /// on, and the tasks that it starts.
    pub const fn command() -> Self {
        Self::of(Tasks::Command)
    }

    /// Returns the same tasks on these CPUs only.
    #[must_use]
    pub fn on_cpus(self, cpus: CpuList) -> Self {
        Self { cpus: Some(cpus), ..self }
    }

    pub(super) const fn is_tasks(&self) -> bool {
        !matches!(self.tasks, Tasks::All | Tasks::Cgroup(_))
    }

    /// Returns whether an event has a ring for itself at each scope. The events of several threads
    /// share the rings of the CPUs.
    pub(super) fn is_one_event_a_ring(&self) -> bool {
        match &self.tasks {
            Tasks::All | Tasks::Cgroup(_) | Tasks::Caller | Tasks::Command => true,
            Tasks::Threads(tids) => tids.len() == 1,
            Tasks::Processes(_) => false,
        }
    }

    pub(super) const fn is_command(&self) -> bool {
        matches!(self.tasks, Tasks::Command)
    }

    /// Returns the new tasks that events follow, unless the options set it.
    pub(super) const fn default_inherit(&self) -> Inherit {
        match self.tasks {
            Tasks::Processes(_) | Tasks::Command => Inherit::Tasks,
            _ => Inherit::Nothing,
        }
    }

    /// Returns the directory of the cgroup.
    pub(super) fn cgroup_dir(&self) -> Option<&Arc<OwnedFd>> {
        match &self.tasks {
            Tasks::Cgroup(dir) => Some(dir),
            _ => None,
        }
    }

    /// Returns the target of an event at `scope`.
    pub(super) fn at(&self, scope: Scope) -> Target<'_> {
        let on_cpu = |target: Target<'static>| match scope.cpu_id() {
            Some(cpu) => target.on_cpu(cpu),
            None => target,
        };
        match (&self.tasks, scope.thread_id(), scope.cpu_id()) {
            (Tasks::Caller | Tasks::Command, Some(tid), _) if tid == own_tid() => {
                on_cpu(Target::calling_thread())
            }
            (_, None, None) => Target::calling_thread(),
            (_, Some(tid), _) => on_cpu(Target::thread(tid)),
            (_, None, Some(cpu)) => Target::cpu(cpu),
        }
    }
}

/// Returns the ids, each once: an event that is opened twice for a task counts it twice.
fn unique(ids: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut unique = Vec::new();
    for id in ids {
        if !unique.contains(&id) {
            unique.push(id);
        }
    }
    unique
}
