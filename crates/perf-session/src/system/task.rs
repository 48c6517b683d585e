//! Threads and mappings of a process, which were there before it was observed: no record reports them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::system::{FileError, System};

/// A memory mapping of a process: what an `MMAP2` record reports for mappings that are made while the process
/// is observed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// Address after the last one.
    pub end: u64,
    /// Offset of `start` in the file, in bytes.
    pub offset: u64,
    /// Major and minor number of the file's device.
    pub device: (u32, u32),
    /// Inode number of the file, 0 without a file.
    pub inode: u64,
    /// Permitted accesses: `PROT_READ` (1), `PROT_WRITE` (2) and `PROT_EXEC` (4).
    pub protection: u32,
    /// Whether writes are seen by other processes (`MAP_SHARED`).
    pub is_shared: bool,
    /// The file as the process sees it, a name such as `[stack]`, or empty for anonymous memory. The kernel adds
    /// ` (deleted)` to the path of a removed file, and writes a newline as `\012`.
    pub path: PathBuf,
}

impl Mapping {
    /// Returns the mapping of a line of `/proc/PID/maps`, `start-end perms offset major:minor inode   path`.
    /// `None` if it is malformed.
    pub fn parse(line: &[u8]) -> Option<Self> {
        // The path is the last field, and the only one that may have blanks.
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let (start, end) = pair(fields.next()?, b'-')?;
        let permissions = fields.next()?;
        let offset = hex(fields.next()?)?;
        let (major, minor) = pair(fields.next()?, b':')?;
        let inode = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let path = OsStr::from_bytes(fields.next().unwrap_or_default().trim_ascii_start());
        let bit = |letter, bit| if permissions.contains(&letter) { bit } else { 0 };
        (start <= end).then(|| Self {
            start,
            end,
            offset,
            device: (major as u32, minor as u32),
            inode,
            protection: bit(b'r', 1) | bit(b'w', 2) | bit(b'x', 4),
            is_shared: permissions.contains(&b's'),
            path: path.into(),
        })
    }

    /// Returns whether code in the mapping can be executed.
    pub const fn is_executable(&self) -> bool {
        self.protection & 4 != 0
    }
}

/// Returns the mappings of process `pid`, by their addresses.
///
/// Read it after the events with [`MMAP2`](perf_ring::AttrFlags::MMAP2) are enabled: then each mapping is in the
/// list, in a record, or in both.
///
/// # Errors
///
/// `/proc/PID/maps` cannot be read; [`FileError::is_not_found`] if the process has exited.
pub fn mappings_of(system: &System, pid: u32) -> Result<Vec<Mapping>, FileError> {
    let path = system.path(format!("/proc/{pid}/maps"));
    // Without the limit of `System::read`: a process may have any number of mappings, with paths of any bytes.
    let text = std::fs::read(&path).map_err(|error| FileError::io(path, error))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(Mapping::parse).collect())
}

/// Returns two hexadecimal numbers with a separator between them.
fn pair(text: &[u8], separator: u8) -> Option<(u64, u64)> {
    let at = text.iter().position(|byte| *byte == separator)?;
    Some((hex(text.get(..at)?)?, hex(text.get(at + 1..)?)?))
}

pub(crate) fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// Returns the threads of process `pid`, by their ids, the main thread first.
///
/// The list is a snapshot: threads start and exit while it is read. [`EventSetTarget::process`] follows them.
///
/// # Errors
///
/// `/proc/PID/task` cannot be read; [`FileError::is_not_found`] if the process has exited.
///
/// [`EventSetTarget::process`]: crate::EventSetTarget::process
pub fn threads_of(system: &System, pid: u32) -> Result<Vec<u32>, FileError> {
    let path = system.path(format!("/proc/{pid}/task"));
    let read = || {
        let mut threads = Vec::new();
        for entry in std::fs::read_dir(&path)? {
            let name = entry?.file_name();
            threads.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        Ok(threads)
    };
    let mut threads: Vec<u32> = read().map_err(|error| FileError::io(path.clone(), error))?;
    threads.sort_by_key(|&tid| (tid != pid, tid));
    Ok(threads)
}

/// Returns the process of thread `tid`; `None` if it has exited.
pub fn process_of(system: &System, tid: u32) -> Option<u32> {
    // The name of the thread, in the first line, may be any bytes.
    let status = system.read_bytes(format!("/proc/{tid}/status")).ok()?;
    let process = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"))?;
    std::str::from_utf8(process).ok()?.trim().parse().ok()
}

/// Whether a thread runs, and how often it did: from `/proc/TID/status`.
///
/// A thread that waits all the time makes no record: neither a sample nor a switch. The states before and after show it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadState {
    /// Id of the thread.
    pub tid: u32,
    /// Name of the thread, in which the kernel escapes a newline and a backslash.
    pub name: OsString,
    /// State as `ps` prints it: `R` runs or is ready to, `S` and `D` wait, `T` is stopped.
    pub state: char,
    /// How often it left a CPU since it started.
    pub switches: u64,
}

impl ThreadState {
    /// Reads the state of thread `tid`.
    ///
    /// # Errors
    ///
    /// `/proc/TID/status` cannot be read; [`FileError::is_not_found`] if the thread has exited.
    pub fn read(system: &System, tid: u32) -> Result<Self, FileError> {
        let status = system.read_bytes(format!("/proc/{tid}/status"))?;
        let field = |name: &str| {
            let mut lines = status.split(|byte| *byte == b'\n');
            lines.find_map(|line| line.strip_prefix(name.as_bytes())).unwrap_or_default().trim_ascii()
        };
        let number = |name| std::str::from_utf8(field(name)).ok().and_then(|text| text.parse::<u64>().ok());
        let [voluntary, others] = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"].map(number);
        Ok(Self {
            tid,
            name: OsStr::from_bytes(field("Name:")).to_owned(),
            state: field("State:").first().map_or('?', |&state| char::from(state)),
            switches: voluntary.unwrap_or(0).saturating_add(others.unwrap_or(0)),
        })
    }

    /// Returns whether the thread has waited all the time since an earlier state of it.
    pub fn has_waited_since(&self, earlier: &Self) -> bool {
        self.tid == earlier.tid && self.switches == earlier.switches && self.state != 'R'
    }
}

/// The place in the kernel at which a thread waits: from `/proc/TID/syscall` and `/proc/TID/wchan`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitPlace {
    /// Number of the system call; `None` if it waits in none, such as at a page fault.
    pub syscall: Option<i64>,
    /// Function of the kernel.
    pub function: Option<String>,
}

impl WaitPlace {
    /// Returns where thread `tid` waits. What this program may not see is missing: both files are for those who may trace
    /// the thread, and some kernels have none.
    pub fn read(system: &System, tid: u32) -> Self {
        let read = |name| system.read(format!("/proc/{tid}/{name}")).unwrap_or_default();
        let syscall = read("syscall").split_whitespace().next().and_then(|number| number.parse().ok());
        let function = read("wchan");
        Self {
            syscall: syscall.filter(|number| *number >= 0),
            // The file has no newline, and 0 of a thread that runs.
            function: Some(function.trim().to_owned()).filter(|name| !["", "0"].contains(&name.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_that_never_left_a_cpu_and_does_not_run_has_waited() {
        let tree = crate::system::tree::Tree::new();
        let state = |state: &str, switches: u64| {
            let text = format!(
                "Name:\tState:\\\\n x\nState:\t{state}\nvoluntary_ctxt_switches:\t{switches}\n\
                 nonvoluntary_ctxt_switches:\t3\n"
            );
            tree.file("/proc/8/status", text);
            ThreadState::read(tree.system(), 8).unwrap()
        };
        let first = state("S (sleeping)", 40);
        assert_eq!((first.name.to_str(), first.state, first.switches), (Some("State:\\\\n x"), 'S', 43));
        assert!(state("S (sleeping)", 40).has_waited_since(&first));
        assert!(state("D (disk sleep)", 40).has_waited_since(&first));
        assert!(!state("S (sleeping)", 41).has_waited_since(&first));
        assert!(!state("R (running)", 40).has_waited_since(&first));
        let missing = ThreadState::read(tree.system(), 9).unwrap_err();
        assert!(missing.is_not_found(), "{missing}");
    }

    #[test]
    fn place_of_a_wait_has_what_may_be_seen() {
        let tree = crate::system::tree::Tree::new();
        let place = |syscall: &str, wchan: &str| {
            tree.file("/proc/8/syscall", syscall);
            tree.file("/proc/8/wchan", wchan);
            let place = WaitPlace::read(tree.system(), 8);
            (place.syscall, place.function)
        };
        let name = || Some("hrtimer_nanosleep".to_owned());
        assert_eq!(
            place("230 0x0 0x0 0x7ff 0x0 0x0 0x0 0x7ffe 0x7fac\n", "hrtimer_nanosleep"),
            (Some(230), name())
        );
        assert_eq!(place("-1 0x7ffe 0x7fac\n", "hrtimer_nanosleep"), (None, name()));
        assert_eq!(place("running\n", "0"), (None, None));
        let nothing = WaitPlace::read(tree.system(), 9);
        assert_eq!((nothing.syscall, nothing.function), (None, None));
    }

    #[test]
    fn line_of_a_file_has_all_fields() {
        let line = b"7fc1feb01000-7fc1feb27000 r-xp 00001000 fe:01 325843               /usr/lib/ld linux.so";
        let expected = Mapping {
            start: 0x7fc1_feb0_1000,
            end: 0x7fc1_feb2_7000,
            offset: 0x1000,
            device: (0xfe, 1),
            inode: 325_843,
            protection: 5,
            is_shared: false,
            path: "/usr/lib/ld linux.so".into(),
        };
        assert!(expected.is_executable());
        assert_eq!(Mapping::parse(line), Some(expected));
    }

    #[test]
    fn malformed_lines_are_no_mappings() {
        for line in ["", "1000", "3000-1000 r-xp 0 0:0 0 /a", "x-y r-xp 0 0:0 0", "1-2 r-xp 0 0:0 z"] {
            assert_eq!(Mapping::parse(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn process_of_a_thread_is_in_its_status() {
        let system = System::new();
        let tid = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        assert_eq!(process_of(&system, tid), Some(std::process::id()));
        assert_eq!(process_of(&System::at("/nonexistent"), tid), None);
        let tree = crate::system::tree::Tree::new();
        // A thread may have any name but one with a newline, which is escaped.
        tree.file("/proc/8/status", b"Name:\t\xffTgid:\\n\nTgid:\t7\n");
        assert_eq!(process_of(tree.system(), 8), Some(7));
    }

    #[test]
    fn own_code_is_in_an_executable_mapping() {
        let mappings = mappings_of(&System::new(), std::process::id()).unwrap();
        let here = own_code_is_in_an_executable_mapping as *const () as u64;
        let found = mappings.iter().find(|mapping| (mapping.start..mapping.end).contains(&here)).unwrap();
        assert!(found.is_executable() && found.path.is_absolute(), "{found:?}");
        let anonymous = Mapping::parse(b"1000-3000 rw-s 00000000 00:00 0 ").unwrap();
        assert!(anonymous.path.as_os_str().is_empty() && anonymous.is_shared);
    }
}
