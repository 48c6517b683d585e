//! Runs of `perfkit record`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) fn perfkit() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfkit"));
    // The user's caches may have the files of a recording.
    command.env("HOME", "/nonexistent").env_remove("XDG_CACHE_HOME").env_remove("DEBUGINFOD_CACHE_PATH");
    command
}

/// Runs `perfkit record` and returns its output. Skips the test if the kernel permits no event.
pub(crate) fn record(arguments: &[&str]) -> Option<Output> {
    let output = perfkit().arg("record").args(arguments).output().unwrap();
    if is_refused(&output) {
        skip_if_refused(&output);
        return None;
    }
    Some(output)
}

/// Records pipelines of several programs, with callchains. Returns `false`, and skips the test, if
/// the kernel permits no event.
pub(crate) fn record_workload(path: &str) -> bool {
    let command =
        ["sh", "-c", "sort -R /etc/services | sort | wc -l; find /usr/lib/x86_64-linux-gnu | wc -l"];
    let arguments = ["-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", path, "--"];
    record(&[&arguments[..], &command].concat()).is_some()
}

fn is_refused(output: &Output) -> bool {
    let errors = String::from_utf8_lossy(&output.stderr);
    // The lines of an explanation follow an event that could not be opened, and tracefs may be
    // closed.
    !output.status.success() && (errors.contains("\nremedy ") || errors.contains("tracefs"))
}

/// Skips the test if no event was permitted, and fails it otherwise.
#[track_caller]
pub(crate) fn skip_if_refused(output: &Output) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(is_refused(output), "{output:?}");
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(!required, "{errors}");
    eprintln!("skipped: {errors}");
}

/// A folder for the files of a test, removed on drop.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("perfkit-record-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
