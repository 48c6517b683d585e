use std::fs;

use perf_abi::{Attr, AttrFlags, Software};
use perf_sys::Target;
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

use super::{open_or_skip, skip};

/// The user `nobody`.
const NOBODY: u32 = 65534;

/// Runs `test` on a thread of its own that gives up root for ever, with the level of
/// `perf_event_paranoid`; not if somebody else runs the tests, who may have a capability, or if even root
/// may open nothing.
#[track_caller]
pub(crate) fn as_nobody(test: impl FnOnce(i32) + Send + 'static) {
    if !geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    let Ok(level) = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid") else {
        return eprintln!("skipped: a kernel without perf");
    };
    let level = level.trim().parse().unwrap();
    // A container's filter of system calls refuses everybody everything, for no cause of the test's.
    let own = Attr::software(Software::DUMMY).with_flags(AttrFlags::EXCLUDE_KERNEL);
    if open_or_skip(&own, Target::calling_thread()).is_none() {
        return;
    }
    let thread = std::thread::spawn(move || {
        let nobody = Uid::from_raw(NOBODY);
        // For this thread alone: the system call, not the C library's function.
        match set_thread_res_uid(nobody, nobody, nobody) {
            Ok(()) => test(level),
            Err(error) => skip(format_args!("becoming nobody: {error}")),
        }
    });
    thread.join().unwrap();
}
