//! Output to a pipe that is full, because its reader does not read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{PipeWriter, Read as _, Write as _, pipe};
use std::process::{Command, Output, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::support::recording::{perfkit, skip_if_refused};
use crate::support::running::is_met;

/// Capacity of a pipe in bytes.
const CAPACITY: usize = 1 << 16;

fn is_full(writer: &PipeWriter) -> bool {
    poll(&mut [PollFd::new(writer, PollFlags::OUT)], Some(&Timespec::default())).unwrap() == 0
}

/// Runs `perfkit` with a pipe that has space for a number of bytes, and sends a signal when it is
/// full. Returns the outcome and the text in the pipe, `None` if the kernel permits no event.
fn interrupted(signal: &str, space: usize, arguments: &[&str]) -> Option<(Output, Vec<u8>)> {
    let (mut reader, mut writer) = pipe().unwrap();
    let mut filled = 0;
    while filled < CAPACITY - space && !is_full(&writer) {
        filled += writer.write(&[0; 4096]).unwrap();
    }
    let mut command = perfkit();
    command.args(arguments).stdout(writer.try_clone().unwrap()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It has a handle of the pipe.
    drop(command);
    assert!(is_met(|| is_full(&writer) || child.try_wait().unwrap().is_some()), "little output");
    if child.try_wait().unwrap().is_some() {
        skip_if_refused(&child.wait_with_output().unwrap());
        return None;
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
    let has_ended = is_met(|| child.try_wait().unwrap().is_some());
    if !has_ended {
        child.kill().unwrap();
    }
    assert!(has_ended, "{arguments:?} continues after SIG{signal}");
    drop(writer);
    let mut text = Vec::new();
    reader.read_to_end(&mut text).unwrap();
    Some((child.wait_with_output().unwrap(), text.split_off(filled)))
}

#[test]
fn first_signal_ends_a_command_whose_output_nobody_reads() {
    let commands: [&[&str]; 3] = [
        &["top", "-e", "cpu-clock", "-d", "0.1"],
        &["trace", "-e", "sched:sched_switch"],
        &["stat", "-I", "10", "-e", "cpu-clock"],
    ];
    for arguments in commands {
        for signal in ["TERM", "INT"] {
            let Some((output, text)) = interrupted(signal, 4096, arguments) else { return };
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
            let reason = "standard output: the rest is not written";
            assert!(errors.lines().count() == 1 && errors.contains(reason), "{arguments:?}: {errors}");
            assert!(text.ends_with(b"\n"), "{arguments:?}: {}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn first_signal_ends_a_recording_that_nobody_reads() {
    let burn = "i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done";
    let arguments = ["record", "-e", "cpu-clock", "-F", "4000", "-o", "-", "sh", "-c", burn];
    let Some((output, _)) = interrupted("TERM", CAPACITY, &arguments) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the rest is not written") && errors.contains("not complete"), "{errors}");
}
