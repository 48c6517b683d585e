//! The limits of locked memory, and the size of rings that fits into them.

use std::fmt;

use crate::system::cpus::CpuList;
use crate::system::file_error::FileError;
use crate::system::privileges::{Capability, Privileges};
use crate::system::sysctl::{soft_limit, sysctl_file};
use crate::system::task::Mapping;
use crate::system::{System, TaskStatus};
use crate::why::Evidence;

#[cfg(test)]
mod tests;

const MLOCK_KB: &str = "kernel.perf_event_mlock_kb";
const LIMIT: &str = "Max locked memory";

/// The memory that a user may lock for rings, and how much of it is in use.
///
/// All processes of a user share an allowance of `kernel.perf_event_mlock_kb` for each online CPU. What a
/// process maps beyond it counts against its `RLIMIT_MEMLOCK`. Neither applies with `CAP_IPC_LOCK`, or if
/// `kernel.perf_event_paranoid` is -1.
///
/// ```
/// use perf_session::{MemlockLimit, System};
///
/// # fn main() -> Result<(), perf_session::FileError> {
/// let memory = MemlockLimit::read(&System::new())?;
/// println!("{memory}");
/// match memory.data_pages(8, 512) {
///     Some(pages) => println!("8 rings of {pages} data pages fit"),
///     None => println!("8 rings do not fit"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemlockLimit {
    page_size: u64,
    mlock_kb: u64,
    online_cpus: u64,
    /// `RLIMIT_MEMLOCK` in bytes; `None` if it is unlimited.
    limit: Option<u64>,
    /// Bytes that the process has pinned, rings beyond the allowance included.
    pinned: u64,
    mapped: MemlockUsage,
    is_unlimited: bool,
}

impl MemlockLimit {
    /// Reads the limits and what is mapped already.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed.
    pub fn read(system: &System) -> Result<Self, FileError> {
        let privileges = Privileges::read(system);
        let is_unlimited =
            privileges.has(Capability::IPC_LOCK) || privileges.paranoid().is_ok_and(|level| level < 0);
        Ok(Self {
            page_size: perf_ring::sys::page_size() as u64,
            mlock_kb: system.sysctl_number(MLOCK_KB, "a number of KiB")?.into(),
            online_cpus: CpuList::online(system)?.len() as u64,
            limit: limit(system)?,
            pinned: pinned(system)?,
            mapped: MemlockUsage::read(system)?,
            is_unlimited,
        })
    }

    /// Returns `true` if no limit applies: the thread has `CAP_IPC_LOCK`, or the paranoid level is -1.
    pub fn is_unlimited(&self) -> bool {
        self.is_unlimited
    }

    /// Returns the allowance of the user in bytes: `kernel.perf_event_mlock_kb` for each online CPU.
    #[doc(alias = "perf_event_mlock_kb")]
    pub fn allowance(&self) -> u64 {
        let pages_per_cpu = self.mlock_kb.saturating_mul(1024) / self.page_size;
        pages_per_cpu.saturating_mul(self.online_cpus).saturating_mul(self.page_size)
    }

    /// Returns the soft `RLIMIT_MEMLOCK` of the process in bytes, `None` if it is unlimited.
    #[doc(alias = "RLIMIT_MEMLOCK")]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Returns the rings that the user's processes have mapped, as far as they can be seen.
    pub fn mapped(&self) -> MemlockUsage {
        self.mapped
    }

    /// Returns the bytes that can still be mapped, `None` if there is no limit. It is an upper bound:
    /// processes that cannot be seen share the allowance.
    pub fn available(&self) -> Option<u64> {
        // Rings beyond the allowance are in `pinned` of the process that mapped them, and are not subtracted twice:
        // the rest of the allowance stops at 0.
        let of_process = self.limit?.saturating_sub(self.pinned);
        let of_user = self.allowance().saturating_sub(self.mapped.bytes);
        (!self.is_unlimited).then(|| of_user.saturating_add(of_process))
    }

    /// Returns the largest number of data pages of `rings` rings of one size that fit, a power of two of at
    /// most `most`; `None` if not even one page each fits. A ring has one page more, its control page.
    pub fn data_pages(&self, rings: usize, most: usize) -> Option<usize> {
        let sizes = (0..usize::BITS).rev().map(|power| 1_usize << power).filter(|pages| *pages <= most);
        let fits = |pages: &usize| {
            // Saturates, because a size that wraps around would seem to fit.
            let bytes = (*pages as u64).saturating_add(1).saturating_mul(self.page_size);
            self.available().is_none_or(|available| bytes.saturating_mul(rings as u64) <= available)
        };
        sizes.into_iter().find(fits)
    }

    /// Returns the values that were read, and their files.
    pub(crate) fn evidence(&self) -> Vec<Evidence> {
        let limit = self.limit.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
        vec![
            Evidence::new(sysctl_file(MLOCK_KB), self.mlock_kb),
            Evidence::new("the number of online CPUs", self.online_cpus),
            Evidence::new("Max locked memory of /proc/self/limits", limit),
            Evidence::new("VmPin of /proc/self/status", format_args!("{} bytes", self.pinned)),
            Evidence::new("the mapped rings of the user", self.mapped),
        ]
    }
}

/// The limits and what is in use, in bytes.
impl fmt::Display for MemlockLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowance = self.allowance();
        write!(f, "{allowance} bytes for all rings of the user ({} KiB for each of ", self.mlock_kb)?;
        write!(f, "{} CPUs), in use {}; then RLIMIT_MEMLOCK of ", self.online_cpus, self.mapped)?;
        match self.limit {
            Some(limit) => write!(f, "{limit} bytes, in use {} bytes", self.pinned)?,
            None => f.write_str("no limit")?,
        }
        match self.available() {
            Some(available) => write!(f, "; available {available} bytes"),
            None => f.write_str("; no limit applies"),
        }
    }
}

fn limit(system: &System) -> Result<Option<u64>, FileError> {
    let text = soft_limit(system, LIMIT)?;
    if text == "unlimited" {
        return Ok(None);
    }
    let malformed =
        |_| FileError::malformed(system.path("/proc/self/limits"), "a limit in bytes", text.as_str());
    text.parse().map(Some).map_err(malformed)
}

/// Returns the bytes that the process has pinned. Kernels before 3.2 do not report them.
fn pinned(system: &System) -> Result<u64, FileError> {
    let process = system.this_process();
    let status = process.status()?;
    let Some(line) = status.field("VmPin") else { return Ok(0) };
    let kb = line.strip_suffix("kB").and_then(|kb| kb.trim().parse::<u64>().ok());
    let kb = kb.ok_or_else(|| FileError::malformed(process.path("status"), "VmPin in kB", line))?;
    Ok(kb.saturating_mul(1024))
}

/// The rings that processes of the user have mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
        let own_bytes = bytes(&system.this_process().mappings()?);
        let status = system.this_thread().status()?; // threads may differ in their user
        let real_user = |status: &TaskStatus| status.users().next();
        let (user, pid) = (real_user(&status), status.number::<u32>("Pid"));
        let mut mapped = Self { bytes: own_bytes, own_bytes, unreadable: 0 };
        // The kernel counts rings for the user, whose processes share the allowance.
        for process in system.processes()?.into_iter().filter(|process| Some(*process) != pid) {
            let process = system.task(process);
            if process.status().ok().as_ref().and_then(real_user) != user {
                continue;
            }
            match process.mappings() {
                Ok(mappings) => mapped.bytes = mapped.bytes.saturating_add(bytes(&mappings)),
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

/// Returns the bytes of the mappings of perf events.
fn bytes(mappings: &[Mapping]) -> u64 {
    let rings = mappings.iter().filter(|mapping| mapping.path.as_os_str() == "anon_inode:[perf_event]");
    rings.map(|mapping| mapping.end - mapping.start).fold(0, u64::saturating_add)
}
