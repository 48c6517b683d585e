use std::fmt;

use crate::system::System;
use crate::system::file_error::FileError;
use crate::system::mappings::Mapping;

/// The rings that processes of the user have mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemlockUsage {
    /// Bytes of all mappings of perf events: of the process, and of the user's processes that can be
    /// seen.
    pub bytes: u64,
    /// The part of `bytes` that the calling process has.
    pub own_bytes: u64,
    /// Processes of the user whose mappings cannot be read.
    pub unreadable: usize,
}

impl MemlockUsage {
    /// Reads the mappings of the process and of the user's other processes.
    ///
    /// # Errors
    ///
    /// A file of the process itself cannot be read. Other processes may exit at any time, so theirs are
    /// [counted](Self::unreadable) instead.
    pub fn read(system: &System) -> Result<Self, FileError> {
        let own_bytes = bytes(&system.read("/proc/self/maps")?);
        let status = system.read("/proc/thread-self/status")?; // threads may differ in their user
        let (user, pid) = (field(&status, "Uid:"), field(&status, "Pid:"));
        let mut mapped = Self { bytes: own_bytes, own_bytes, unreadable: 0 };
        let processes = system.list("/proc")?;
        let processes = processes.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        for process in processes.filter(|process| Some(process.as_str()) != pid.as_deref()) {
            let status = system.read(format!("/proc/{process}/status")).unwrap_or_default();
            if field(&status, "Uid:") != user {
                continue;
            }
            match system.read(format!("/proc/{process}/maps")) {
                Ok(maps) => mapped.bytes = mapped.bytes.saturating_add(bytes(&maps)),
                Err(error) if error.is_not_found() => {} // it has exited
                Err(_) => mapped.unreadable += 1,
            }
        }
        Ok(mapped)
    }
}

/// Bytes, and the number of processes that cannot be seen.
impl fmt::Display for MemlockUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes)?;
        match self.unreadable {
            0 => Ok(()),
            unreadable => write!(f, " and an unknown number in other processes ({unreadable} not readable)"),
        }
    }
}

/// Returns the first word after `name` at the start of a line.
fn field(status: &str, name: &str) -> Option<String> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next().map(str::to_owned)
}

/// Returns the bytes of the mappings of perf events in a `maps` file.
fn bytes(maps: &str) -> u64 {
    let mappings = maps.lines().filter(|line| line.ends_with("anon_inode:[perf_event]"));
    let mappings = mappings.filter_map(|line| Mapping::parse(line.as_bytes()));
    mappings.map(|mapping| mapping.end - mapping.start).fold(0, u64::saturating_add)
}
