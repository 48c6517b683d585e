use std::fs;

use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

/// The user `nobody`.
const NOBODY: u32 = 65534;

/// Runs `test` on a thread of its own that gives up root for ever, with the level of
/// `perf_event_paranoid`; not if somebody else runs the tests, who may have a capability.
pub(crate) fn as_nobody(test: impl FnOnce(i32) + Send + 'static) {
    if !geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    let Ok(level) = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid") else {
        return eprintln!("skipped: a kernel without perf");
    };
    let level = level.trim().parse().unwrap();
    let thread = std::thread::spawn(move || {
        let nobody = Uid::from_raw(NOBODY);
        // For this thread alone: the system call, not the C library's function.
        set_thread_res_uid(nobody, nobody, nobody).unwrap();
        test(level);
    });
    thread.join().unwrap();
}
