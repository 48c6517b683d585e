//! Opening events for tasks, and threads that start meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perf_ring::Errno;

use super::opened::{Opened, Unit};
use super::plan::PlannedGroup;
use super::target::Tasks;
use super::{EventSetError, Inherit, Scope};
use crate::system::{CpuList, System};

/// How often the events of a process are opened until no thread starts during it: at least the
/// first number, and up to the second within [`PATIENCE`]. Closing a tracepoint takes tens of ms.
const ATTEMPTS: (usize, usize) = (3, 500);
const PATIENCE: Duration = Duration::from_secs(1);

/// The units that were opened for tasks, and the threads without.
#[derive(Debug, Default)]
pub(super) struct OpenedTasks {
    pub(super) units: Vec<Unit>,
    /// Threads that exited before their events were open.
    pub(super) exited: Vec<u32>,
    /// Threads that started in each attempt, and may or may not have inherited the events.
    pub(super) unsettled: Vec<u32>,
}

impl Opened {
    /// Opens all groups for the tasks of the target. Returns none if the target has no tasks.
    pub(super) fn open_target_tasks(&mut self) -> Result<OpenedTasks, EventSetError> {
        let tids = match &self.options().target.tasks {
            Tasks::All | Tasks::Cgroup(_) => return Ok(OpenedTasks::default()),
            Tasks::Caller | Tasks::Command => vec![own_tid()],
            Tasks::Threads(tids) => tids.clone(),
            Tasks::Processes(_) => Vec::new(), // listed while they are opened
        };
        self.open_tasks(0, &tids, true)
    }

    /// Opens the groups from `first` on for the tasks of a set that is open.
    pub(super) fn open_added_tasks(&mut self, first: usize) -> Result<Vec<Unit>, EventSetError> {
        if !self.options().target.is_tasks() {
            return Ok(Vec::new());
        }
        let tids = self.threads();
        Ok(self.open_tasks(first, &tids, false)?.units)
    }

    /// Opens the groups from `first` on for processes of the target, or for these threads. Fails if
    /// no thread runs, or if one has exited and `all` must run.
    fn open_tasks(&mut self, first: usize, tids: &[u32], all: bool) -> Result<OpenedTasks, EventSetError> {
        let groups: Vec<usize> = self.task_groups().filter(|&group| group >= first).collect();
        if groups.is_empty() {
            return Ok(OpenedTasks::default());
        }
        let cpus = self.task_cpus()?;
        let (opened, id) = if let Tasks::Processes(pids) = self.options().target.tasks.clone() {
            (self.open_processes(&pids, &groups, cpus.as_ref())?, first_of(&pids))
        } else {
            let mut opened = OpenedTasks::default();
            for &tid in tids {
                let before = opened.units.len();
                self.open_thread(tid, &groups, cpus.as_ref(), &mut opened)?;
                if opened.units.len() == before && all {
                    return Err(self.no_task_units(tid, cpus, &opened));
                }
            }
            (opened, first_of(tids))
        };
        if opened.units.is_empty() { Err(self.no_task_units(id, cpus, &opened)) } else { Ok(opened) }
    }

    /// Opens all groups of tasks for one thread. Returns none if it has exited.
    pub(super) fn open_added_thread(&mut self, tid: u32) -> Result<Vec<Unit>, EventSetError> {
        let groups: Vec<usize> = self.task_groups().collect();
        let cpus = self.task_cpus()?;
        let mut opened = OpenedTasks::default();
        self.open_thread(tid, &groups, cpus.as_ref(), &mut opened)?;
        Ok(opened.units)
    }

    /// Returns the groups that are opened for tasks.
    fn task_groups(&self) -> impl Iterator<Item = usize> {
        let of_tasks = |group: &PlannedGroup| !self.is_on_cpus(group);
        self.plan()
            .groups
            .iter()
            .enumerate()
            .filter(move |(_, group)| of_tasks(group))
            .map(|(index, _)| index)
    }

    /// Returns the CPUs for each of which the events of a task are opened, or `None` for events on
    /// any CPU.
    fn task_cpus(&self) -> Result<Option<CpuList>, EventSetError> {
        let is_mapped = self.options().ring_pages.is_some() && self.options().inherits() != Inherit::Nothing;
        if self.options().target.cpus.is_none() && !is_mapped {
            return Ok(None);
        }
        // Also offline CPUs: an event of a task opens there, and counts when the CPU is back.
        Ok(Some(match self.options().target.cpus {
            Some(_) => self.wanted_cpus()?,
            None => self.options().system.machine_cpus("present")?,
        }))
    }

    fn no_task_units(&self, id: u32, cpus: Option<CpuList>, opened: &OpenedTasks) -> EventSetError {
        let name = self.plan().names.first().map_or_else(|| "".into(), Arc::clone);
        match cpus {
            Some(target) if opened.exited.is_empty() => EventSetError::NoCpu { event: name, target },
            _ => EventSetError::NoTask { id },
        }
    }

    /// Opens the events of all threads of some processes.
    ///
    /// A thread that starts while events are opened has inherited them, or not if its parent had
    /// none yet. The kernel does not show which. So everything is opened again if a thread has
    /// started: each thread of the new list is older than the new events and inherits none of them.
    fn open_processes(
        &mut self,
        pids: &[u32],
        groups: &[usize],
        cpus: Option<&CpuList>,
    ) -> Result<OpenedTasks, EventSetError> {
        let inherits = self.options().inherits() != Inherit::Nothing;
        let (mut known, mut opened) = (Vec::new(), OpenedTasks::default());
        let mut next = list(&self.options().system, pids)?;
        let start = Instant::now();
        for attempt in 1.. {
            // A process that starts threads without end would keep this going.
            let is_last = attempt >= ATTEMPTS.0 && (attempt >= ATTEMPTS.1 || start.elapsed() >= PATIENCE);
            for &tid in &next {
                self.open_thread(tid, groups, cpus, &mut opened)?;
            }
            known.append(&mut next);
            let now = list(&self.options().system, pids)?;
            let new: Vec<u32> = now.iter().copied().filter(|tid| !known.contains(tid)).collect();
            if new.is_empty() || is_last {
                opened.unsettled = new;
                break;
            }
            next = if inherits {
                opened = OpenedTasks::default();
                known.clear();
                now
            } else {
                new // only these are without events
            };
        }
        Ok(opened)
    }

    /// Opens the events of a thread, none if it has exited.
    fn open_thread(
        &mut self,
        tid: u32,
        groups: &[usize],
        cpus: Option<&CpuList>,
        opened: &mut OpenedTasks,
    ) -> Result<(), EventSetError> {
        let thread = Scope::thread(tid);
        let mut units = Vec::new();
        for &group in groups {
            let scopes: Vec<Scope> = match cpus {
                None => vec![thread],
                Some(cpus) => {
                    let planned = self.plan().groups.get(group);
                    let is_on = |cpu: &u32| planned.is_some_and(|planned| planned.is_on(*cpu));
                    cpus.iter().filter(is_on).map(|cpu| thread.on_cpu(cpu)).collect()
                }
            };
            for scope in scopes {
                match self.open_unit(group, scope) {
                    Ok(unit) => units.push(unit),
                    Err(error) if error.error.errno() == Some(Errno::ESRCH) => {
                        opened.exited.push(tid);
                        return Ok(());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        opened.units.append(&mut units);
        Ok(())
    }
}

/// Returns the threads of some processes.
fn list(system: &System, pids: &[u32]) -> Result<Vec<u32>, EventSetError> {
    let mut threads = Vec::new();
    for &pid in pids {
        let mut found = system.task(pid).threads().map_err(|error| {
            if error.is_not_found() { EventSetError::NoTask { id: pid } } else { EventSetError::File(error) }
        })?;
        found.retain(|tid| !threads.contains(tid));
        threads.append(&mut found);
    }
    Ok(threads)
}

/// Returns the id that an error names if no task of the list runs.
fn first_of(ids: &[u32]) -> u32 {
    ids.first().copied().unwrap_or_default()
}

/// Returns the id of the calling thread.
pub(super) fn own_tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}
