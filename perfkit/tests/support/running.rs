//! Programs that run during a test.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::recording::{Folder, skip_if_refused};

/// Time limit of a wait, much longer than a busy machine needs.
const LIMIT: Duration = Duration::from_secs(600);

/// Waits until a condition is met. Returns whether it was met within [`LIMIT`].
pub(crate) fn is_met(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + LIMIT;
    while !condition() && Instant::now() < end {
        sleep(Duration::from_millis(10));
    }
    condition()
}

/// A shell that uses its CPU until it is dropped, and some minutes at most.
pub(crate) struct Burning(Child);

impl Burning {
    pub(crate) fn new() -> Self {
        let burn = "i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done";
        Self(Command::new("sh").args(["-c", burn]).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Burning {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that prints to files, so that it waits for no reader. Killed on drop.
pub(crate) struct Running {
    child: Child,
    folder: Folder,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let folder = Folder::new();
        let file = |name| Stdio::from(File::create(folder.path(name)).unwrap());
        let child = command.stdout(file("out")).stderr(file("err")).spawn().unwrap();
        Self { child, folder }
    }

    /// Waits until it has printed a text. Returns `false`, and skips the test, if it ended because
    /// the kernel permits no event.
    #[track_caller]
    pub(crate) fn prints(&mut self, text: &str) -> bool {
        let is_printed = |running: &Self| {
            ["out", "err"].iter().any(|name| String::from_utf8_lossy(&running.read(name)).contains(text))
        };
        let mut has_ended = false;
        assert!(
            is_met(|| {
                has_ended = self.child.try_wait().unwrap().is_some();
                has_ended || is_printed(self)
            }),
            "it does not print {text:?}"
        );
        if has_ended && !is_printed(self) {
            let status = self.child.wait().unwrap();
            skip_if_refused(&self.output(status.into_raw()));
            return false;
        }
        true
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Returns whether the program has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end, and returns what it printed.
    #[track_caller]
    pub(crate) fn end(mut self) -> Output {
        let mut status = None;
        assert!(
            is_met(|| {
                status = self.child.try_wait().unwrap();
                status.is_some()
            }),
            "the program continues"
        );
        self.output(status.unwrap().into_raw())
    }

    fn output(&self, status: i32) -> Output {
        let status = std::process::ExitStatus::from_raw(status);
        Output { status, stdout: self.read("out"), stderr: self.read("err") }
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path(name)).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only after the process was reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
