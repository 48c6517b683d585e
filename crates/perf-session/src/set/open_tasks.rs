//! Opening events for tasks, and threads that start meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perf_ring::Errno;

use super::opened::Opened;
use super::plan::PlannedGroup;
use super::target::Tasks;
use super::unit::Unit;
use super::{EventSetError, Inherit, Scope};
use crate::system::{CpuList, System};

/// How often the events of a process are opened until no thread starts during it: at least the
/// first number, and up to the second within [`PATIENCE`]. Closing a tracepoint takes tens of ms.
const ATTEMPTS: (usize, usize) = (3, 500);
const PATIENCE: Duration = Duration::from_secs(1);

impl Opened {
    /// Opens all groups for the tasks of the target. Returns none if the target has no tasks.
    pub(super) fn open_target_tasks(&mut self) -> Result<Vec<Unit>, EventSetError> {
        let tids = match &self.options.target.tasks {
            Tasks::All | Tasks::Cgroup(_) => return Ok(Vec::new()),
            Tasks::Caller | Tasks::Command => vec![own_tid()],
            Tasks::Threads(tids) => tids.clone(),
            Tasks::Processes(_) => Vec::new(), // listed while they are opened
        };
        self.open_tasks(0, &tids, true)
    }

    /// Opens the groups from `first` on for the tasks of a set that is open.
    pub(super) fn open_added_tasks(&mut self, first: usize) -> Result<Vec<Unit>, EventSetError> {
        if !self.options.target.is_tasks() {
            return Ok(Vec::new());
        }
        let tids = self.threads();
        self.open_tasks(first, &tids, false)
    }

    /// Opens the groups from `first` on for processes of the target, or for these threads. Fails if
    /// no thread runs, or if one has exited and `all` must run.
    fn open_tasks(&mut self, first: usize, tids: &[u32], all: bool) -> Result<Vec<Unit>, EventSetError> {
        let groups: Vec<usize> = self.task_groups().filter(|&group| group >= first).collect();
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let cpus = self.task_cpus()?;
        if let Tasks::Processes(pids) = self.options.target.tasks.clone() {
            let units = self.open_processes(&pids, &groups, cpus.as_ref())?;
            return if units.is_empty() { Err(self.no_task_units(first_of(&pids), cpus)) } else { Ok(units) };
        }
        let mut units = Vec::new();
        for &tid in tids {
            let mut opened = self.open_thread(tid, &groups, cpus.as_ref())?;
            if opened.is_empty() && all {
                return Err(self.no_task_units(tid, cpus));
            }
            units.append(&mut opened);
        }
        if units.is_empty() { Err(self.no_task_units(first_of(tids), cpus)) } else { Ok(units) }
    }

    /// Opens all groups of tasks for one thread. Returns none if it has exited.
    pub(super) fn open_all_groups(&mut self, tid: u32) -> Result<Vec<Unit>, EventSetError> {
        let groups: Vec<usize> = self.task_groups().collect();
        let cpus = self.task_cpus()?;
        self.open_thread(tid, &groups, cpus.as_ref())
    }

    /// Returns the groups that are opened for tasks.
    fn task_groups(&self) -> impl Iterator<Item = usize> {
        let of_tasks = |group: &PlannedGroup| !self.is_on_cpus(group);
        self.plan.groups.iter().enumerate().filter(move |(_, group)| of_tasks(group)).map(|(index, _)| index)
    }

    /// Returns the CPUs for each of which the events of a task are opened, or `None` for events on
    /// any CPU.
    fn task_cpus(&self) -> Result<Option<CpuList>, EventSetError> {
        let is_mapped = self.options.ring_pages.is_some() && self.options.inherits() != Inherit::Nothing;
        if self.options.target.cpus.is_none() && !is_mapped {
            return Ok(None);
        }
        // Also offline CPUs: an event of a task opens there, and counts when the CPU is back.
        Ok(Some(match self.options.target.cpus {
            Some(_) => self.wanted_cpus()?,
            None => self.options.system.machine_cpus("present")?,
        }))
    }

    fn no_task_units(&self, id: u32, cpus: Option<CpuList>) -> EventSetError {
        let name = self.plan.names.first().map_or_else(|| "".into(), Arc::clone);
        match cpus {
            Some(target) if self.exited.is_empty() => EventSetError::NoCpu { event: name, target },
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
    ) -> Result<Vec<Unit>, EventSetError> {
        let inherits = self.options.inherits() != Inherit::Nothing;
        let (mut known, mut units) = (Vec::new(), Vec::new());
        let mut next = list(&self.options.system, pids)?;
        let start = Instant::now();
        for attempt in 1.. {
            // A process that starts threads without end would keep this going.
            let is_last = attempt >= ATTEMPTS.0 && (attempt >= ATTEMPTS.1 || start.elapsed() >= PATIENCE);
            for &tid in &next {
                units.append(&mut self.open_thread(tid, groups, cpus)?);
            }
            known.append(&mut next);
            let now = list(&self.options.system, pids)?;
            let new: Vec<u32> = now.iter().copied().filter(|tid| !known.contains(tid)).collect();
            if new.is_empty() || is_last {
                self.unsettled = new;
                break;
            }
            next = if inherits {
                units.clear();
                known.clear();
                self.exited.clear();
                now
            } else {
                new // only these are without events
            };
        }
        Ok(units)
    }

    /// Opens the events of a thread. Returns none if it has exited.
    fn open_thread(
        &mut self,
        tid: u32,
        groups: &[usize],
        cpus: Option<&CpuList>,
    ) -> Result<Vec<Unit>, EventSetError> {
        let thread = Scope::thread(tid);
        let mut units = Vec::new();
        for &group in groups {
            let scopes: Vec<Scope> = match cpus {
                None => vec![thread],
                Some(cpus) => {
                    let planned = self.plan.groups.get(group);
                    let is_on = |cpu: &u32| planned.is_some_and(|planned| planned.is_on(*cpu));
                    cpus.iter().filter(is_on).map(|cpu| thread.on_cpu(cpu)).collect()
                }
            };
            for scope in scopes {
                match self.open_unit(group, scope) {
                    Ok(unit) => units.push(unit),
                    Err(error) if error.error.errno() == Some(Errno::ESRCH) => {
                        self.exited.push(tid);
                        return Ok(Vec::new());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(units)
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
