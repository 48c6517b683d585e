//! Sets of events, and what happens to be counted.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use perf_session::ring::{Attr, AttrFlags, Errno, SampleType, Software};
use perf_session::{EventSet, EventSetError, EventSetOptions, EventSpec, TracefsError};

use super::{skip, skip_in_any_case};

/// A timeout that no test reaches. The tests do not measure time, but must not hang.
pub(crate) const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

/// Opens the set. If it is not permitted, or this machine does not have an event, prints the reason
/// and returns `None`.
///
/// With `PERFKIT_REQUIRE_LIVE=1` in the environment, a missing permission fails the test.
#[track_caller]
pub(crate) fn open_or_skip(options: EventSetOptions) -> Option<EventSet> {
    let error = match options.open() {
        Ok(set) => return Some(set),
        Err(error) => error,
    };
    match error.call().and_then(perf_session::ring::Error::errno) {
        Some(Errno::ENOENT | Errno::EOPNOTSUPP) => skip_in_any_case(error),
        Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS) => skip(error),
        _ => panic!("{error}"),
    }
    None
}

/// Returns the error of a set that must not open.
#[track_caller]
pub(crate) fn refused(options: EventSetOptions) -> EventSetError {
    options.open().map(|_| ()).unwrap_err()
}

/// Skips a test that needs a tracepoint.
#[track_caller]
pub(crate) fn skip_tracepoint(error: &TracefsError) {
    match error {
        TracefsError::PermissionDenied { .. } => skip(error),
        _ => skip_in_any_case(error),
    }
}

/// Returns a software event that only counts.
pub(crate) fn software(event: Software) -> EventSpec {
    EventSpec::new(Attr::software(event))
}

/// Returns an event that samples each context switch.
pub(crate) fn switches() -> EventSpec {
    let attr = Attr::software(Software::CONTEXT_SWITCHES).with_period(1);
    EventSpec::new(attr.with_sample_type(SampleType::TID | SampleType::CPU))
}

/// Returns a dummy event with these flags, for side-band records.
pub(crate) fn sideband(flags: AttrFlags) -> EventSpec {
    EventSpec::new(Attr::software(Software::DUMMY).with_flags(flags).with_sample_type(SampleType::TID))
}

/// Makes at least `times` context switches of the calling thread.
///
/// It reads the scheduler's count, because a short sleep may end before a switch.
pub(crate) fn switch(times: u64) {
    let goal = switched() + times;
    while switched() < goal {
        std::thread::sleep(Duration::from_nanos(1));
    }
}

/// Returns the number of context switches of the calling thread, voluntary or not.
pub(crate) fn switched() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let counts = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
    counts.map(|(_, count)| count.trim().parse::<u64>().unwrap()).sum()
}

/// Returns the id of the calling thread.
pub(crate) fn tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Returns the number of open descriptors of the process.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A folder with files of `/sys/devices/system`, removed when dropped.
pub(crate) struct Tree(pub(crate) PathBuf);

impl Tree {
    /// Writes the files, by their paths below `/sys/devices/system`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let name = format!("perf-session-{}-{}", std::process::id(), tid());
        let root = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = root.join("sys/devices/system").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Returns the root directory of cgroup2, if it is mounted.
pub(crate) fn cgroup2() -> Option<fs::File> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let root = mounts.lines().find_map(|line| {
        let (place, rest) = line.split_once(' ')?.1.split_once(' ')?;
        rest.starts_with("cgroup2 ").then(|| place.to_owned())
    });
    root.and_then(|root| fs::File::open(root).ok())
}
