//! The files of a process or thread in `/proc`: what was there before it was observed, which no record reports.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{FileError, System};

/// The directory of a process or thread in `/proc`: made by [`System::task`].
///
/// ```
/// use perf_session::System;
///
/// # fn main() -> Result<(), perf_session::FileError> {
/// let system = System::new();
/// let task = system.task(std::process::id());
/// println!("{}", String::from_utf8_lossy(&task.comm()?));
/// for mapping in task.mappings()? {
///     println!("{:x} {}", mapping.start, mapping.path.display());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # References
///
/// - [`proc(5)`](https://man7.org/linux/man-pages/man5/proc.5.html)
#[derive(Clone, Debug)]
pub struct Task<'a> {
    system: &'a System,
    directory: String,
}

/// # Processes and threads
impl System {
    /// Returns the process or thread with this id.
    pub fn task(&self, id: u32) -> Task<'_> {
        Task { system: self, directory: format!("/proc/{id}") }
    }

    /// Returns the calling process.
    pub fn this_process(&self) -> Task<'_> {
        Task { system: self, directory: "/proc/self".to_owned() }
    }

    /// Returns the calling thread.
    pub fn this_thread(&self) -> Task<'_> {
        Task { system: self, directory: "/proc/thread-self".to_owned() }
    }

    /// Returns the ids of all processes, in the order of their digits.
    ///
    /// # Errors
    ///
    /// `/proc` cannot be read.
    pub fn processes(&self) -> Result<Vec<u32>, FileError> {
        Ok(self.list("/proc")?.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Returns the id of the task that was started last.
    pub(crate) fn last_task(&self) -> Result<u32, FileError> {
        const LOADAVG: &str = "/proc/loadavg";
        let text = self.read(LOADAVG)?;
        let last = text.split_ascii_whitespace().nth(4).and_then(|last| last.parse().ok());
        last.ok_or_else(|| FileError::malformed(self.path(LOADAVG), "five fields", text.trim_end()))
    }
}

impl Task<'_> {
    /// Returns thread `tid` of this process.
    #[must_use]
    pub fn thread(&self, tid: u32) -> Self {
        Self { system: self.system, directory: self.file(&format!("task/{tid}")) }
    }

    /// Returns the path of a file of the task, such as `root` or `ns/net`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.system.path(self.file(name))
    }

    /// Returns the path of a file on a running system.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    /// Returns whether there is such a process or thread.
    pub fn exists(&self) -> bool {
        self.system.path(&self.directory).exists()
    }

    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, FileError> {
        self.system.read_bytes(self.file(name))
    }

    /// Returns the name of the thread: any bytes but a newline, 15 at most for a user's thread.
    ///
    /// # Errors
    ///
    /// The file `comm` cannot be read; [`FileError::is_not_found`] if the task has exited.
    pub fn comm(&self) -> Result<Vec<u8>, FileError> {
        let mut name = self.read("comm")?;
        name.truncate(name.strip_suffix(b"\n").map_or(name.len(), <[u8]>::len));
        Ok(name)
    }

    /// Returns the state, users and limits of the task.
    ///
    /// # Errors
    ///
    /// The file `status` cannot be read; [`FileError::is_not_found`] if the task has exited.
    pub fn status(&self) -> Result<TaskStatus, FileError> {
        Ok(TaskStatus(self.read("status")?))
    }

    /// Returns for how long the thread has run since its start, and for how long it was ready and had no CPU, in ns.
    ///
    /// # Errors
    ///
    /// The file `schedstat` cannot be read or is malformed; [`FileError::is_not_found`] if the task has exited or the
    /// kernel does not count the times.
    pub fn run_times(&self) -> Result<(u64, u64), FileError> {
        let text = self.system.read(self.file("schedstat"))?;
        let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
        let times = numbers.next().zip(numbers.next());
        times.ok_or_else(|| FileError::malformed(self.path("schedstat"), "two numbers", text.trim_end()))
    }

    /// Returns the path and the text of the file that describes an open file of the process: lines of a name and a value.
    ///
    /// # Errors
    ///
    /// The file `fdinfo/FD` cannot be read; [`FileError::is_not_found`] if the process or the descriptor does not exist.
    pub fn fd_info(&self, fd: u32) -> Result<(PathBuf, String), FileError> {
        let name = format!("fdinfo/{fd}");
        Ok((self.path(&name), self.system.read(self.file(&name))?))
    }

    /// Returns device and inode of a namespace, such as `net`.
    ///
    /// # Errors
    ///
    /// The kernel does not have it, this user must not see it, or the task has exited.
    pub fn namespace(&self, name: &str) -> Result<Metadata, FileError> {
        let path = self.path(&format!("ns/{name}"));
        fs::metadata(&path).map_err(|error| FileError::io(path, error))
    }

    /// Returns the mappings of the process, by their addresses. Malformed lines are skipped.
    ///
    /// Read it after the events with [`MMAP2`](perf_ring::AttrFlags::MMAP2) are enabled: then each mapping is in the
    /// list, in a record, or in both.
    ///
    /// # Errors
    ///
    /// The file `maps` cannot be read; [`FileError::is_not_found`] if the process has exited.
    pub fn mappings(&self) -> Result<Vec<Mapping>, FileError> {
        let path = self.path("maps");
        // Without the limit of `System::read`: a process may have any number of mappings, with paths of any bytes.
        let text = fs::read(&path).map_err(|error| FileError::io(path, error))?;
        Ok(text.split(|byte| *byte == b'\n').filter_map(Mapping::parse).collect())
    }

    /// Returns the threads of the process, by their ids, the main thread first.
    ///
    /// The list is a snapshot: threads start and exit while it is read. [`EventSetTarget::process`] follows them.
    ///
    /// # Errors
    ///
    /// The directory `task` cannot be read; [`FileError::is_not_found`] if the process has exited.
    ///
    /// [`EventSetTarget::process`]: crate::EventSetTarget::process
    pub fn threads(&self) -> Result<Vec<u32>, FileError> {
        let names = self.system.list(self.file("task"))?;
        let mut threads: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        let main = self.directory.rsplit('/').next().and_then(|pid| pid.parse().ok());
        threads.sort_by_key(|&tid| (Some(tid) != main, tid));
        Ok(threads)
    }
}

/// The file `status` of a task, whose lines are a name and a value.
#[derive(Clone, Debug)]
pub struct TaskStatus(Vec<u8>);

impl TaskStatus {
    /// Returns the value of a line, such as `PPid` or `Uid`, without the blanks around it. `None` if the kernel does not
    /// write it.
    pub fn field(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// Returns the value of a line that may be any bytes: the name of the task.
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        let mut lines = self.0.split(|byte| *byte == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))?;
        Some(value.trim_ascii())
    }

    /// Returns a decimal number.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.field(name)?.parse().ok()
    }

    /// Returns a hexadecimal number.
    pub(super) fn mask(&self, name: &str) -> Option<u64> {
        hex(self.bytes(name)?)
    }

    /// Returns the id of the parent of the process, 0 without one in this PID namespace.
    #[doc(alias = "PPid")]
    pub fn parent(&self) -> Option<u32> {
        self.number("PPid")
    }

    /// Returns the id of the process of a thread.
    #[doc(alias = "Tgid")]
    pub fn process(&self) -> Option<u32> {
        self.number("Tgid")
    }

    /// Returns the real, effective, saved and file system user, fewer if the line is malformed.
    #[doc(alias = "Uid")]
    pub fn users(&self) -> impl Iterator<Item = u32> {
        let users = self.field("Uid").unwrap_or_default().split_ascii_whitespace();
        users.map_while(|user| user.parse().ok())
    }

    /// Returns whether the process ignores a signal.
    #[doc(alias = "SigIgn")]
    pub fn ignores(&self, signal: u32) -> bool {
        let mask = self.mask("SigIgn").unwrap_or(0);
        signal.checked_sub(1).and_then(|bit| mask.checked_shr(bit)).is_some_and(|mask| mask & 1 == 1)
    }
}

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

/// Returns two hexadecimal numbers with a separator between them.
fn pair(text: &[u8], separator: u8) -> Option<(u64, u64)> {
    let at = text.iter().position(|byte| *byte == separator)?;
    Some((hex(text.get(..at)?)?, hex(text.get(at + 1..)?)?))
}

/// Returns a hexadecimal number.
pub(super) fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
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
        let status = system.task(tid).status()?;
        let switches = |name| status.number(name).unwrap_or(0_u64);
        Ok(Self {
            tid,
            name: OsStr::from_bytes(status.bytes("Name").unwrap_or_default()).to_owned(),
            state: status.field("State").and_then(|state| state.chars().next()).unwrap_or('?'),
            switches: switches("voluntary_ctxt_switches")
                .saturating_add(switches("nonvoluntary_ctxt_switches")),
        })
    }

    /// Returns whether the thread has waited all the time since an earlier state of it.
    pub fn has_waited_since(&self, earlier: &Self) -> bool {
        self.tid == earlier.tid && self.switches == earlier.switches && self.state != 'R'
    }
}

/// The place in the kernel at which a thread waits: from `/proc/TID/syscall`, `/proc/TID/wchan` and `/proc/TID/stack`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitPlace {
    /// Number of the system call; `None` if it waits in none, such as at a page fault.
    pub syscall: Option<i64>,
    /// Words of the arguments of the system call; 0 without one.
    pub arguments: [u64; 6],
    /// Function of the kernel.
    pub function: Option<String>,
    /// Functions of the kernel, innermost first; none for a program without `CAP_SYS_ADMIN`.
    pub functions: Vec<String>,
    /// Whether the stack pointer and the instruction pointer are those of a 64-bit program, so that the number is one of
    /// the native table.
    pub(super) is_native: bool,
}

impl WaitPlace {
    /// Returns where thread `tid` waits. What this program may not see is missing: both files are for those who may trace
    /// the thread, and some kernels have none.
    pub fn read(system: &System, tid: u32) -> Self {
        let task = system.task(tid);
        let read = |name| system.read(task.file(name)).unwrap_or_default();
        let text = read("syscall");
        let mut words = text.split_ascii_whitespace();
        let syscall = words.next().and_then(|number| number.parse().ok()).filter(|number: &i64| *number >= 0);
        let words: Vec<u64> =
            words.map_while(|word| hex(word.strip_prefix("0x").unwrap_or(word).as_bytes())).collect();
        let mut arguments = [0; 6];
        if syscall.is_some() {
            arguments.iter_mut().zip(&words).for_each(|(argument, word)| *argument = *word);
        }
        // The last words are the stack pointer and the instruction pointer.
        let pointers = words.get(words.len().saturating_sub(2)..).unwrap_or_default();
        let is_native = cfg!(target_pointer_width = "32") || pointers.iter().any(|word| word >> 32 != 0);
        let function = read("wchan");
        Self {
            syscall,
            arguments,
            // The file has no newline, and 0 of a thread that runs.
            function: Some(function.trim().to_owned()).filter(|name| !["", "0"].contains(&name.as_str())),
            // `[<0>] hrtimer_nanosleep+0x74/0xf0`
            functions: read("stack").lines().filter_map(stack_function).collect(),
            is_native,
        }
    }
}

/// Returns the function in a line of `/proc/TID/stack`.
fn stack_function(line: &str) -> Option<String> {
    let (_, place) = line.split_once("] ")?;
    Some(place.split(['+', ' ']).next()?.to_owned())
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
        tree.file("/proc/8/syscall", "7 0x7ffe 0x1 0xffffffff 0x8 0x0 0x0 0x7ffe0fd4fcb8 0x7fd657316503\n");
        tree.file("/proc/8/stack", "[<0>] do_poll+0x74/0xf0\n[<0>] ipv6_x+0x3/0x9 [ipv6]\n\n");
        let place = WaitPlace::read(tree.system(), 8);
        assert_eq!((place.arguments, place.is_native), ([0x7ffe, 1, 0xffff_ffff, 8, 0, 0], true));
        assert_eq!(place.functions, ["do_poll", "ipv6_x"]);
    }

    #[test]
    fn times_of_a_thread_are_the_first_two_numbers() {
        let tree = crate::system::tree::Tree::new();
        tree.file("/proc/8/schedstat", "1234 56 7\n");
        assert_eq!(tree.system().task(8).run_times().unwrap(), (1234, 56));
        tree.file("/proc/8/schedstat", "1234\n");
        assert!(tree.system().task(8).run_times().unwrap_err().to_string().contains("two numbers"));
        assert!(tree.system().task(9).run_times().unwrap_err().is_not_found());
    }

    #[test]
    fn status_of_a_task_has_users_and_ignored_signals() {
        let tree = crate::system::tree::Tree::new();
        let text = "Name:\tUid:\\n\nPPid:\t1\nUid:\t1000\t0\t0\t1000\nSigIgn:\t0000000000000001\nSeccomp_filters:\t2\n";
        tree.file("/proc/8/status", text);
        let status = tree.system().task(8).status().unwrap();
        assert_eq!((status.parent(), status.users().collect()), (Some(1), vec![1000, 0, 0, 1000]));
        assert!(status.ignores(1) && ![0, 2, 65].iter().any(|&signal| status.ignores(signal)));
        assert_eq!((status.field("Seccomp"), status.field("Seccomp_filters")), (None, Some("2")));
        tree.file("/proc/8/comm", b"a \xff\n");
        assert_eq!(tree.system().task(8).comm().unwrap(), b"a \xff");
        assert!(tree.system().task(8).exists() && !tree.system().task(9).exists());
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
        let process =
            |system: &System, tid| system.task(tid).status().ok().and_then(|status| status.process());
        assert_eq!(process(&system, tid), Some(std::process::id()));
        assert_eq!(process(&System::at("/nonexistent"), tid), None);
        let tree = crate::system::tree::Tree::new();
        // A thread may have any name but one with a newline, which is escaped.
        tree.file("/proc/8/status", b"Name:\t\xffTgid:\\n\nTgid:\t7\n");
        assert_eq!(process(tree.system(), 8), Some(7));
    }

    #[test]
    fn own_code_is_in_an_executable_mapping() {
        let mappings = System::new().task(std::process::id()).mappings().unwrap();
        let here = own_code_is_in_an_executable_mapping as *const () as u64;
        let found = mappings.iter().find(|mapping| (mapping.start..mapping.end).contains(&here)).unwrap();
        assert!(found.is_executable() && found.path.is_absolute(), "{found:?}");
        let anonymous = Mapping::parse(b"1000-3000 rw-s 00000000 00:00 0 ").unwrap();
        assert!(anonymous.path.as_os_str().is_empty() && anonymous.is_shared);
    }
}
