//! Functions that the live tests share. A test that is not permitted to use BPF prints the reason
//! and passes.

#![allow(dead_code, unused_imports)] // each test file uses a part of it
#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use perf_bpf::ring::{Attr, Errno};
use perf_bpf::{BpfMapType, Error, Key, Map, MapSpec, Value};

pub(crate) mod agent;
pub(crate) mod asm;
mod bpf_fs;
mod nobody;
pub(crate) mod programs;

pub(crate) use bpf_fs::{hide_proc, pin_names, with_bpf_fs, with_file_text};
pub(crate) use nobody::{as_nobody, without_sys_admin};

/// Sets a flag when it is dropped, so that a panic ends a thread that waits for it.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Prints the reason for a skipped test, or fails it with `PERFKIT_REQUIRE_LIVE=1`.
#[track_caller]
pub(crate) fn skip(reason: impl Display) {
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    eprintln!("skipped: {reason}");
}

/// Returns the value, or prints the reason and returns `None` if the process may not use BPF.
#[track_caller]
pub(crate) fn permitted<T>(result: Result<T, impl Into<Error>>) -> Option<T> {
    match result.map_err(Into::into) {
        Ok(value) => Some(value),
        Err(error) if matches!(error.errno(), Some(Errno::EPERM | Errno::EACCES | Errno::ENOSYS)) => {
            skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Creates a map with a name of the tests.
#[track_caller]
pub(crate) fn map_or_skip<K: Key, V: Value>(map_type: BpfMapType, max_entries: u32) -> Option<Map<K, V>> {
    let spec = MapSpec::new(map_type, max_entries).with_name("pk_test".parse().unwrap());
    permitted(Map::create(spec))
}

/// Returns the attr of an event that samples every hit of a tracepoint of `task`: `task_rename` and
/// `task_newtask` also fire for 32-bit tasks. Prints the reason and returns `None` if tracefs
/// cannot be read.
#[track_caller]
pub(crate) fn tracepoint(name: &str) -> Option<Attr> {
    let read = |root: &str| std::fs::read_to_string(format!("{root}/events/task/{name}/id"));
    match read("/sys/kernel/tracing").or_else(|_| read("/sys/kernel/debug/tracing")) {
        Ok(id) => Some(Attr::tracepoint(id.trim().parse().unwrap()).with_period(1)),
        Err(error) => {
            skip(format_args!("tracepoint task/{name}: {error}"));
            None
        }
    }
}
