//! Sets of CPUs.

use std::str::FromStr;
use std::{fmt, slice, vec};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::system::System;
use crate::system::file_error::FileError;

#[cfg(test)]
mod tests;

/// CPUs by their true ids, ascending, without repetitions. Holes are allowed.
///
/// Text has the kernel's form `0-3,8,10-11`; empty text is an empty list. [`Display`](fmt::Display) prints
/// the same form, so that printing and parsing is the identity.
///
/// ```
/// use perf_session::CpuList;
///
/// let online: CpuList = "0-3,8,10-11\n".parse()?;
/// assert_eq!(online.len(), 7);
/// assert!(online.contains(8) && !online.contains(9));
///
/// let wanted: CpuList = "8-9".parse()?;
/// assert_eq!(wanted.intersection(&online).to_string(), "8");
/// assert_eq!(wanted.difference(&online).to_string(), "9");
/// # Ok::<(), perf_session::CpuListError>(())
/// ```
///
/// # References
///
/// - `Documentation/admin-guide/cputopology.rst` of the kernel
/// - [`cpuset(7)`](https://man7.org/linux/man-pages/man7/cpuset.7.html), "List format"
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuList(Vec<u32>);

impl CpuList {
    /// The highest id that a text may have. No kernel is built for that many CPUs, and it bounds the
    /// memory that a text can claim.
    pub const MAX_CPU: u32 = 65535;

    /// Returns the CPUs in ascending order.
    pub fn iter(&self) -> CpuIter<'_> {
        self.0.iter().copied()
    }

    /// Returns the CPUs in ascending order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// Returns `true` if the list has this CPU.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// Returns the number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there is no CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the CPUs that both lists have.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.iter().filter(|cpu| other.contains(*cpu)).collect())
    }

    /// Returns the CPUs of this list that the other does not have.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.iter().filter(|cpu| !other.contains(*cpu)).collect())
    }

    /// Returns the CPUs that at least one of the lists has.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other).collect()
    }
}

/// The iterator of [`CpuList::iter`].
pub type CpuIter<'a> = std::iter::Copied<slice::Iter<'a, u32>>;

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut cpus: Vec<u32> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }
}

impl From<u32> for CpuList {
    fn from(cpu: u32) -> Self {
        Self(vec![cpu])
    }
}

impl<'a> IntoIterator for &'a CpuList {
    type Item = u32;
    type IntoIter = CpuIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CpuList {
    type Item = u32;
    type IntoIter = vec::IntoIter<u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for range in self.0.chunk_by(|cpu, next| cpu.checked_add(1) == Some(*next)) {
            match range {
                [cpu] => write!(f, "{comma}{cpu}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => {}
            }
            comma = ",";
        }
        Ok(())
    }
}

/// A text that is no list of CPUs: the offset of the first wrong character, and the text expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuListError {
    /// The offset in bytes.
    pub offset: usize,
    /// The text that was expected there.
    pub expected: &'static str,
}

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU list: expected {} at offset {}; write it as `0-3,8`", self.expected, self.offset)
    }
}

impl std::error::Error for CpuListError {}

crate::std_error::into_std!(no_errno CpuListError, InvalidInput);

impl FromStr for CpuList {
    type Err = CpuListError;

    /// Parses `0-3,8,10-11`. Ranges may be in any order and overlap; whitespace may surround the whole.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut rest = Rest { text: text.trim_ascii_end(), offset: 0 };
        rest.skip(rest.text.len() - rest.text.trim_ascii_start().len());
        let mut ranges = Vec::new();
        if !rest.text.is_empty() {
            ranges.push(rest.range()?);
        }
        while !rest.text.is_empty() {
            rest.comma()?;
            ranges.push(rest.range()?);
        }
        // Overlapping ranges are joined before they become ids: there are as many ids as CPUs, however
        // often the text repeats them.
        ranges.sort_unstable();
        let mut cpus = Vec::new();
        let mut next = 0;
        for (first, last) in ranges {
            cpus.extend(first.max(next)..=last);
            next = next.max(last + 1);
        }
        Ok(Self(cpus))
    }
}

/// The text that is not parsed yet, and its offset.
struct Rest<'t> {
    text: &'t str,
    offset: usize,
}

impl Rest<'_> {
    fn skip(&mut self, len: usize) {
        self.text = self.text.get(len..).unwrap_or_default();
        self.offset += len;
    }

    fn comma(&mut self) -> Result<(), CpuListError> {
        if !self.text.starts_with(',') {
            return Err(self.error("`,`, `-` or the end"));
        }
        self.skip(1);
        Ok(())
    }

    fn range(&mut self) -> Result<(u32, u32), CpuListError> {
        let first = self.cpu()?;
        if !self.text.starts_with('-') {
            return Ok((first, first));
        }
        self.skip(1);
        let offset = self.offset;
        let last = self.cpu()?;
        if last < first {
            return Err(CpuListError { offset, expected: "a CPU that is not below the first of the range" });
        }
        Ok((first, last))
    }

    fn cpu(&mut self) -> Result<u32, CpuListError> {
        let digits = self.text.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.error("a CPU"));
        }
        let number = self.text.get(..digits).and_then(|digits| digits.parse().ok());
        // Before a range is made of it: a short text must not claim much memory.
        let Some(cpu) = number.filter(|cpu| *cpu <= CpuList::MAX_CPU) else {
            return Err(self.error("a CPU of at most 65535"));
        };
        self.skip(digits);
        Ok(cpu)
    }

    fn error(&self, expected: &'static str) -> CpuListError {
        CpuListError { offset: self.offset, expected }
    }
}

/// Returns a file of the CPUs of the machine.
pub(crate) fn cpu_file(name: &str) -> String {
    format!("/sys/devices/system/cpu/{name}")
}

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

    /// Returns the CPUs that are plugged in, online or not.
    ///
    /// # Errors
    ///
    /// `/sys/devices/system/cpu/present` cannot be read, or is no list.
    pub fn present(system: &System) -> Result<Self, FileError> {
        system.cpu_list(&cpu_file("present"))
    }

    /// Returns the CPUs that are not online. The list may have ids above the last possible CPU.
    ///
    /// # Errors
    ///
    /// `/sys/devices/system/cpu/offline` cannot be read, or is no list.
    pub fn offline(system: &System) -> Result<Self, FileError> {
        system.cpu_list(&cpu_file("offline"))
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
fn allowed(system: &System) -> Result<CpuList, FileError> {
    let status = system.this_thread().status()?;
    let list = status.field("Cpus_allowed_list");
    let malformed =
        |expected, found| FileError::malformed(system.this_thread().path("status"), expected, found);
    let list = list.ok_or_else(|| malformed("a line `Cpus_allowed_list:`", ""))?;
    CpuList::from_str(list).map_err(|error| malformed(error.expected, list))
}

impl System {
    /// Returns the CPUs of the machine in a file below `/sys/devices/system/cpu`. Without it, as in a container without
    /// `/sys`, returns the online CPUs of `/proc/stat`.
    pub(crate) fn machine_cpus(&self, name: &str) -> Result<CpuList, FileError> {
        match self.cpu_list(&cpu_file(name)) {
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
