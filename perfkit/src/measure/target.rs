//! The tasks and CPUs that `record`, `stat` and `trace` observe.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use clap::Args;
use perf_session::{CpuList, EventSetTarget, System};

use crate::out::message::shown;

/// The options by which the user names tasks and CPUs other than the command.
#[derive(Args, Clone, Debug)]
pub(crate) struct TargetOptions {
    /// All tasks on all CPUs
    #[arg(short, long, conflicts_with_all = ["pid", "tid"])]
    all_cpus: bool,
    /// The threads of these processes, and the tasks that they start
    #[arg(
        short,
        long,
        value_name = "PID,...",
        value_delimiter = ',',
        value_parser = process,
        conflicts_with_all = ["tid", "cpus", "cgroup"]
    )]
    pid: Vec<u32>,
    /// These threads alone
    #[arg(
        short,
        long,
        value_name = "TID,...",
        value_delimiter = ',',
        value_parser = thread,
        conflicts_with_all = ["cpus", "cgroup"]
    )]
    tid: Vec<u32>,
    /// All tasks on these CPUs, for example 0-2,5
    #[arg(short = 'C', long = "cpu", value_name = "CPUS")]
    cpus: Option<CpuList>,
    /// The tasks of this cgroup, by its path below the mount point or its full path
    #[arg(short = 'G', long, value_name = "CGROUP", value_delimiter = ',')]
    cgroup: Vec<OsString>,
}

impl TargetOptions {
    /// Returns the tasks and CPUs, or `None` if the user names none.
    pub(crate) fn target(&self) -> io::Result<Option<EventSetTarget>> {
        match &self.cgroup[..] {
            [] => Ok(self.without_cgroups()),
            [path] => Ok(Some(self.on_cpus(EventSetTarget::cgroup(open_cgroup(path)?)))),
            several => Err(io::Error::other(format!(
                "expected one cgroup, found {}: several are for `perfkit stat`",
                several.len()
            ))),
        }
    }

    /// Returns the tasks and CPUs, with whole CPUs instead of a cgroup, or `None` if the user names
    /// none.
    pub(crate) fn without_cgroups(&self) -> Option<EventSetTarget> {
        let target = match (&self.pid[..], &self.tid[..]) {
            ([], []) if self.is_on_cpus() => EventSetTarget::all_cpus(),
            ([], []) => return None,
            ([], tids) => EventSetTarget::threads(tids.iter().copied()),
            (pids, _) => EventSetTarget::processes(pids.iter().copied()),
        };
        Some(self.on_cpus(target))
    }

    fn on_cpus(&self, target: EventSetTarget) -> EventSetTarget {
        match &self.cpus {
            Some(cpus) => target.on_cpus(cpus.clone()),
            None => target,
        }
    }

    /// Adds all tasks on all CPUs, as without a command.
    pub(crate) fn add_all_cpus(&mut self) {
        self.all_cpus = true;
    }

    /// Returns whether the events observe CPUs, not tasks.
    pub(crate) fn is_on_cpus(&self) -> bool {
        self.all_cpus || self.cpus.is_some() || !self.cgroup.is_empty()
    }

    /// Returns whether the events observe all tasks on all CPUs.
    pub(crate) fn is_on_all_cpus(&self) -> bool {
        self.all_cpus && self.cpus.is_none() && self.cgroup.is_empty()
    }

    /// Returns whether the user names tasks or CPUs.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_on_cpus() && self.pid.is_empty() && self.tid.is_empty()
    }

    /// Returns the processes, or the threads, whose exit ends the measurement.
    pub(crate) fn tasks(&self) -> &[u32] {
        if self.pid.is_empty() { &self.tid } else { &self.pid }
    }

    /// Returns the end of a measurement without a command as text.
    pub(crate) fn describe_end(&self) -> &'static str {
        match self.tasks() {
            _ if self.is_on_cpus() => "until Ctrl-C",
            [] => "until Ctrl-C",
            [_] => "until its exit or Ctrl-C",
            _ => "until their exit or Ctrl-C",
        }
    }

    /// Returns the processes that the user names.
    pub(crate) fn processes(&self) -> &[u32] {
        &self.pid
    }

    /// Returns the cgroups as the user named them. An empty name is for an event without a cgroup.
    pub(crate) fn cgroups(&self) -> &[OsString] {
        &self.cgroup
    }

    /// Returns the tasks and CPUs as text, or `None` if the user names none.
    pub(crate) fn describe(&self) -> Option<String> {
        let tasks = |one: &str, several: &str, ids: &[u32]| match ids {
            [] => None,
            [id] => Some(format!("{one} {id}")),
            ids => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                Some(format!("{several} {}", ids.join(", ")))
            }
        };
        let cgroups = describe_cgroups(&self.cgroup);
        let cpus = match &self.cpus {
            Some(cpus) if cpus.iter().nth(1).is_none() => Some(format!("CPU {cpus}")),
            Some(cpus) => Some(format!("CPUs {cpus}")),
            None => self.all_cpus.then(|| "all CPUs".to_owned()),
        };
        match (cgroups, cpus) {
            (Some(cgroups), Some(cpus)) => Some(format!("{cgroups} on {cpus}")),
            (Some(cgroups), None) => Some(cgroups),
            (None, Some(cpus)) => Some(cpus),
            (None, None) => {
                tasks("process", "processes", &self.pid).or_else(|| tasks("thread", "threads", &self.tid))
            }
        }
    }
}

/// Returns the cgroups as text, or `None` without one.
pub(crate) fn describe_cgroups(names: &[OsString]) -> Option<String> {
    let names: Vec<String> = names.iter().filter(|name| !name.is_empty()).map(shown).collect();
    match &names[..] {
        [] => None,
        [name] => Some(format!("cgroup {name}")),
        names => Some(format!("cgroups {}", names.join(", "))),
    }
}

/// Opens the directory of a cgroup, by its full path or below a mount point.
pub(crate) fn open_cgroup(name: &OsStr) -> io::Result<File> {
    System::new()
        .open_cgroup(name)
        .map_err(|error| io::Error::other(format!("cgroup {}", shown(error.to_string()))))
}

fn process(text: &str) -> Result<u32, String> {
    id(text, "process", "; `pidof NAME` prints those of a program")
}

fn thread(text: &str) -> Result<u32, String> {
    id(text, "thread", "")
}

fn id(text: &str, kind: &str, advice: &str) -> Result<u32, String> {
    match text.parse::<i32>() {
        Ok(id) if id > 0 => Ok(id.unsigned_abs()),
        _ => Err(format!("expected the id of a {kind}, a number from 1 to {}{advice}", i32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_a_positive_number() {
        assert_eq!(process("12"), Ok(12));
        for text in ["burn", "0", "-3", "4294967296", ""] {
            assert!(process(text).unwrap_err().starts_with("expected the id of a process"), "{text}");
        }
    }
}
