//! `perfkit locks`: the JSON of a recording, and a lock of known waits, live.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::recording::{Folder, perfkit, skip_if_refused};

/// Holds a lock for which another thread waits.
#[test]
#[ignore = "the program that is recorded"]
fn workload() {
    let lock = Mutex::new(());
    let (locked, is_locked) = mpsc::channel();
    thread::scope(|scope| {
        let guard = lock.lock().unwrap();
        scope.spawn(|| wait_for_lock(&lock, &locked));
        is_locked.recv().unwrap();
        thread::sleep(Duration::from_millis(50));
        drop(guard);
    });
}

#[inline(never)]
fn wait_for_lock(lock: &Mutex<()>, begun: &mpsc::Sender<()>) {
    begun.send(()).unwrap();
    drop(std::hint::black_box(lock.lock().unwrap()));
}

#[test]
fn lock_of_a_command_has_its_function_its_waits_and_its_waker() {
    let folder = Folder::new();
    let program = std::env::current_exe().unwrap();
    let mut command = perfkit();
    command.env("TMPDIR", folder.path("")).args(["locks", "--kind", "user", "--json", "--"]).arg(program);
    let output = command.args(["--ignored", "--exact", "locks::workload"]).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    // The command prints to standard output, too.
    let Some(line) = text.lines().find(|line| line.starts_with('{')) else {
        return skip_if_refused(&output);
    };
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0, "a temporary file is left");
    let value: Value = serde_json::from_str(line).unwrap();
    let locks = value["locks"].as_array().unwrap();
    let is_it = |lock: &&Value| lock["function"].as_str().is_some_and(|name| name.ends_with("wait_for_lock"));
    let lock = locks.iter().find(is_it).unwrap_or_else(|| panic!("{text}"));
    assert_eq!((&lock["kind"], lock["waits"]["count"].as_u64()), (&"futex".into(), Some(1)));
    // The lock is held for 50 ms from about the time at which the thread begins to wait.
    assert!(lock["waits"]["total"].as_u64().unwrap() >= 25_000_000, "{lock}");
    assert_eq!(lock["wakers"][0]["count"], 1);
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/locks-json.md");
    let document = fs::read_to_string(document).unwrap();
    let objects = [&value, lock, &lock["waits"], &lock["waiters"][0], &lock["waiters"][0]["stack"][0]];
    for key in objects.iter().flat_map(|object| object.as_object().unwrap().keys()) {
        assert!(document.contains(&format!("| `{key}` |")), "docs/locks-json.md has no `{key}`");
    }
}

#[test]
fn locks_of_the_kernel_are_rows_by_function_or_address() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/perf-profile/tests/data/locks.data");
    let locks = |arguments: &[&str]| {
        let mut command: Command = perfkit();
        let output = command.arg("locks").arg("-i").arg(&path).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let rows = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
    let text = locks(&["-l"]);
    assert!(text.contains(" rwsem:W 0x") && rows(&text) > 5, "{text}");
    assert_eq!(rows(&locks(&["-l", "-E", "2"])), 2);
    assert_eq!(rows(&locks(&["--kind", "user"])), 0);
}
