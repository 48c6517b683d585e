//! Runs tests without privileges.

use std::fs;

use perf_abi::{Attr, AttrFlags, Software};
use perf_ring::Target;
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

use super::{open_or_skip, skip};

/// The user `nobody`.
const NOBODY: u32 = 65534;

/// Runs `test` as `nobody` on a new thread, with the level of `perf_event_paranoid`. Skips it
/// unless root runs the tests, because other users may have capabilities, and if root may not open
/// events.
#[track_caller]
pub(crate) fn as_nobody(test: impl FnOnce(i32) + Send + 'static) {
    if !geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    let Ok(level) = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid") else {
        return eprintln!("skipped: a kernel without perf");
    };
    let level = level.trim().parse().unwrap();
    // A container's seccomp filter may forbid all events to all users.
    let own = Attr::software(Software::DUMMY).with_flags(AttrFlags::EXCLUDE_KERNEL);
    if open_or_skip(&own, Target::calling_thread()).is_none() {
        return;
    }
    let thread = std::thread::spawn(move || {
        let nobody = Uid::from_raw(NOBODY);
        // Make the system call directly, because the C library's function changes all threads.
        match set_thread_res_uid(nobody, nobody, nobody) {
            Ok(()) => test(level),
            Err(error) => skip(format_args!("becoming nobody: {error}")),
        }
    });
    thread.join().unwrap();
}
