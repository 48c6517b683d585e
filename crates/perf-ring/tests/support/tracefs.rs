//! Tracepoints of the running kernel.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use perf_abi::{Attr, AttrFlags};

use super::skip;

/// Returns the attr of a disabled event that samples every hit of a tracepoint, by its tracefs
/// directory. Prints the reason and returns `None` if the tracepoint does not exist.
#[track_caller]
pub(crate) fn tracepoint(name: &str) -> Option<Attr> {
    // 64-bit kernels do not trace the system calls of 32-bit tasks.
    if cfg!(target_pointer_width = "32") && name.starts_with("syscalls/") {
        eprintln!("skipped: {name} does not fire for 32-bit tasks");
        return None;
    }
    let read = |tracefs: &Path| fs::read_to_string(tracefs.join("events").join(name).join("id"));
    let found = read(Path::new("/sys/kernel/tracing")).or_else(|_| with_tracefs(read));
    let id = found.map_err(|error| skip(format_args!("tracepoint {name}: {error}"))).ok()?;
    Some(Attr::tracepoint(id.trim().parse().unwrap()).with_period(1).with_flags(AttrFlags::DISABLED))
}

/// Returns the attr of a disabled event that samples every [`hit`] of the thread, always with the
/// same payload.
#[track_caller]
pub(crate) fn hits() -> Option<Attr> {
    tracepoint("task/task_rename")
}

/// Renames the calling thread `times` times. Each renaming is a sample of [`hits`].
pub(crate) fn hit(times: usize) {
    for _ in 0..times {
        rustix::thread::set_name(c"hit").unwrap();
    }
}

/// Mounts tracefs while `read` runs.
fn with_tracefs<R>(read: impl FnOnce(&Path) -> io::Result<R>) -> io::Result<R> {
    let name = format!("perf-ring-{}-{:?}", std::process::id(), std::thread::current().id());
    let place: PathBuf = std::env::temp_dir().join(name);
    fs::create_dir(&place)?;
    let mounted = Command::new("mount").args(["-t", "tracefs", "nodev"]).arg(&place).status();
    let found = read(&place);
    if mounted.is_ok_and(|status| status.success()) {
        Command::new("umount").arg(&place).status()?;
    }
    fs::remove_dir(&place)?;
    found
}
