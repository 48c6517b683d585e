//! Files of `/proc`, `/sys` and tracefs.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

mod cgroup;
mod clock;
mod cpus;
mod descriptors;
mod file_error;
mod kallsyms;
mod machine;
mod memlock;
mod memory;
mod mount;
mod mount_point;
mod privileges;
mod sysctl;
mod task;
#[cfg(test)]
mod tests;
mod topology;
#[cfg(test)]
pub(crate) mod tree;
#[cfg(feature = "syscalls")]
mod wait_text;

pub use clock::{ClockError, ClockLine, ClockPair, PerfClock, TimeSource, choose_clock, clocks_of};
pub(crate) use cpus::cpu_file;
pub use cpus::{CpuIter, CpuList, CpuListError};
pub use descriptors::DescriptorLimit;
pub use file_error::FileError;
pub(crate) use file_error::excerpt;
pub use kallsyms::{KernelSymbol, KernelSymbols, Module};
pub use machine::{CpuCache, CpuInfo, NumaMemory};
pub use memlock::{MemlockLimit, MemlockUsage};
pub use memory::{LateTexts, TaskMemory};
pub use mount::Mount;
pub(crate) use mount::TRACEFS;
pub use mount_point::MountPoint;
pub use privileges::{Capability, Privileges};
pub(crate) use sysctl::{LOCKDOWN, soft_limit, sysctl_file};
use task::hex;
pub use task::{Mapping, Task, TaskStatus, ThreadState, WaitPlace};
pub use topology::CpuTopology;
pub(crate) use topology::package;

/// The directory of all PMUs.
pub(crate) const PMUS: &str = "/sys/bus/event_source/devices";

/// Returns a file of a PMU.
pub(crate) fn pmu_file(pmu: &str, file: &str) -> String {
    format!("{PMUS}/{pmu}/{file}")
}

/// The largest file that is read, in bytes. Files of `/proc` and `/sys` that this crate reads are far smaller.
const MAX_FILE: u64 = 4 << 20;

/// Bytes that the first read of a file asks for at least.
const FIRST_READ: usize = 8 << 10;

/// The root below which `/proc` and `/sys` are found.
///
/// Programs use [`System::new`]. Tests build a tree with the files of another machine and use
/// [`System::at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// Returns the running system.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/")
    }

    /// Returns a system whose `/proc` and `/sys` are below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of a file that is at `absolute` on a running system.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.root.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// Returns the text of a file that is at `absolute` on a running system.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 4 MiB, or is not UTF-8. The error has its path.
    pub fn read(&self, absolute: impl AsRef<Path>) -> Result<String, FileError> {
        let bytes = self.read_bytes(&absolute)?;
        String::from_utf8(bytes)
            .map_err(|error| FileError::not_text(self.path(absolute), error.utf8_error().valid_up_to()))
    }

    /// Returns the bytes of a file, as [`read`](Self::read): for files with names of tasks, which are any bytes.
    pub(crate) fn read_bytes(&self, absolute: impl AsRef<Path>) -> Result<Vec<u8>, FileError> {
        let path = self.path(absolute);
        // With capacity, because the first read of some files of tracefs returns all that there ever is.
        let mut bytes = Vec::with_capacity(FIRST_READ);
        let read = File::open(&path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
        if let Err(error) = read {
            return Err(FileError::io(path, error));
        }
        if bytes.len() as u64 > MAX_FILE {
            return Err(FileError::too_large(path, MAX_FILE));
        }
        Ok(bytes)
    }

    /// Returns the names in the directory that is at `absolute` on a running system, sorted.
    ///
    /// # Errors
    ///
    /// The directory cannot be read, or a name is not UTF-8. The error has the path of the directory.
    pub fn list(&self, absolute: impl AsRef<Path>) -> Result<Vec<String>, FileError> {
        self.entries(absolute.as_ref(), |_| Ok(true))
    }

    /// Returns the names of the directories in a directory, as [`list`](Self::list).
    pub(crate) fn directories(&self, absolute: impl AsRef<Path>) -> Result<Vec<String>, FileError> {
        self.entries(absolute.as_ref(), |entry| Ok(entry.file_type()?.is_dir()))
    }

    fn entries(
        &self,
        absolute: &Path,
        is_listed: impl Fn(&DirEntry) -> io::Result<bool>,
    ) -> Result<Vec<String>, FileError> {
        let path = self.path(absolute);
        let name = |entry: io::Result<DirEntry>| {
            let entry = entry?;
            Ok(is_listed(&entry)?.then(|| entry.file_name()))
        };
        let names =
            fs::read_dir(&path).and_then(|entries| entries.filter_map(|it| name(it).transpose()).collect());
        let names: io::Result<Vec<_>> = names;
        let names = names.map_err(|error| FileError::io(path.clone(), error))?;
        let mut names = names
            .into_iter()
            .map(|name| name.into_string().map_err(|name| FileError::not_a_name(path.clone(), &name)))
            .collect::<Result<Vec<_>, _>>()?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the number in a file, `expected` says of what.
    pub(crate) fn number(&self, absolute: impl AsRef<Path>, expected: &str) -> Result<u32, FileError> {
        let text = self.read(&absolute)?;
        let digits = text.trim_ascii();
        let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        number.ok_or_else(|| FileError::malformed(self.path(absolute), expected, digits))
    }

    /// Returns `None` in place of the error that a file or directory does not exist.
    pub(crate) fn optional<T>(found: Result<T, FileError>) -> Result<Option<T>, FileError> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}
