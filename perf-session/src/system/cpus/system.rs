use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity};

use super::CpuList;
use crate::system::System;
use crate::system::file_error::FileError;

/// The task that reads it.
const STATUS: &str = "/proc/thread-self/status";

/// # CPUs of the system
impl CpuList {
    /// Returns the CPUs that run tasks now. Without `/sys`, as in some containers, they are read from `/proc/stat`.
    ///
    /// # Errors
    ///
    /// `/sys/devices/system/cpu/online` cannot be read, or is no list.
    pub fn online(system: &System) -> Result<Self, FileError> {
        system.machine_cpus("online")
    }

    /// Returns the CPUs that the kernel has reserved memory for: the [online](Self::online) ones, and those
    /// that can be plugged in until it reboots. Without `/sys`, as in some containers, they are the online ones.
    ///
    /// # Errors
    ///
    /// `/sys/devices/system/cpu/possible` cannot be read, or is no list.
    pub fn possible(system: &System) -> Result<Self, FileError> {
        system.machine_cpus("possible")
    }

    /// Returns the CPUs that are not online. The list may have ids above the last possible CPU.
    ///
    /// # Errors
    ///
    /// `/sys/devices/system/cpu/offline` cannot be read, or is no list.
    pub fn offline(system: &System) -> Result<Self, FileError> {
        system.cpu_list("/sys/devices/system/cpu/offline")
    }

    /// Returns the online CPUs on which the calling thread may run.
    ///
    /// Asks `sched_getaffinity(2)`. If it fails, as on a kernel for more than 1024 CPUs, they are
    /// the online ones of `Cpus_allowed_list` in `/proc/thread-self/status`.
    ///
    /// # Errors
    ///
    /// The system call failed, and a file cannot be read or is malformed.
    #[doc(alias = "sched_getaffinity")]
    pub fn affinity(system: &System) -> Result<Self, FileError> {
        let Ok(set) = sched_getaffinity(None) else {
            return Ok(allowed(system)?.intersection(&Self::online(system)?));
        };
        let cpus = (0_u32..).take(CpuSet::MAX_CPU);
        Ok(cpus.filter(|cpu| set.is_set(*cpu as usize)).collect())
    }
}

/// Returns the CPUs that the calling thread may use while they are online.
pub(super) fn allowed(system: &System) -> Result<CpuList, FileError> {
    let status = system.read(STATUS)?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let malformed = |expected, found| FileError::malformed(system.path(STATUS), expected, found);
    let list = list.ok_or_else(|| malformed("a line `Cpus_allowed_list:`", ""))?;
    CpuList::from_str(list).map_err(|error| malformed(error.expected, list.trim_ascii()))
}

impl System {
    /// Returns the CPUs of the machine in a file below `/sys/devices/system/cpu`. Without it, as in a container without
    /// `/sys`, returns the online CPUs of `/proc/stat`.
    pub(crate) fn machine_cpus(&self, name: &str) -> Result<CpuList, FileError> {
        match self.cpu_list(&format!("/sys/devices/system/cpu/{name}")) {
            Err(error) if error.is_not_found() => self.counted_cpus().ok_or(error),
            read => read,
        }
    }

    /// Returns the list of CPUs in a file. An empty file is an empty list.
    pub(crate) fn cpu_list(&self, absolute: &str) -> Result<CpuList, FileError> {
        let text = self.read(absolute)?;
        CpuList::from_str(&text).map_err(|error| {
            let expected = format!("a list of CPUs such as `0-3,8`, with {}", error.expected);
            FileError::malformed(self.path(absolute), expected, text.get(error.offset..).unwrap_or_default())
        })
    }

    /// Returns the CPUs that `/proc/stat` counts times for, which are online. `None` without such a file.
    fn counted_cpus(&self) -> Option<CpuList> {
        let text = self.read("/proc/stat").ok()?;
        let id = |line: &str| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok();
        let cpus: CpuList = text.lines().filter_map(id).collect();
        (!cpus.is_empty()).then_some(cpus)
    }
}
