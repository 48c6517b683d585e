//! `perfkit record --control` and `--delay`, as harnesses of benchmarks use them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read as _, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::recording::{Folder, perfkit, record};
use perf_decode::Record;
use perf_file::Reader;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A recording that another program controls, by FIFOs that are open in both directions, as in a
/// harness.
struct Controlled {
    folder: Folder,
    child: Child,
    commands: File,
    acks: File,
}

fn fifo(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

impl Controlled {
    /// Starts a recording with these options; `None`, and the test is skipped, if the kernel
    /// permits no event.
    fn start(arguments: &[&str]) -> Option<Self> {
        record(&["-o", "/dev/null", "-e", "task-clock", "--", "true"])?;
        let folder = Folder::new();
        let (commands, acks) = (fifo(&folder.path("ctl")), fifo(&folder.path("ack")));
        let control = format!("fifo:{},{}", folder.path("ctl").display(), folder.path("ack").display());
        let mut command = perfkit();
        command
            .args(["record", "-o"])
            .arg(folder.path("a.data"))
            .args(["--control", &control])
            .args(arguments);
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        Some(Self { folder, child, commands, acks })
    }

    /// Sends commands, and waits for as many acknowledgements.
    fn send(&mut self, commands: &str) {
        self.commands.write_all(commands.as_bytes()).unwrap();
        for _ in commands.lines() {
            // A minute, which no recorder takes.
            let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(&self.acks, PollFlags::IN)], Some(&limit)).unwrap();
            assert!(ready > 0, "no acknowledgement of {commands:?}");
            let mut ack = [0; 5];
            self.acks.read_exact(&mut ack).unwrap();
            assert_eq!(&ack, b"ack\n\0");
        }
    }

    /// Waits for the end. Returns the exit code, the messages and the number of samples.
    fn finish(mut self) -> (Option<i32>, String, usize) {
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let code = self.child.wait().unwrap().code();
        let samples = samples(&fs::read(self.folder.path("a.data")).unwrap());
        (code, errors, samples)
    }
}

/// Ends the recorder of a test that failed.
impl Drop for Controlled {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn samples(bytes: &[u8]) -> usize {
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let mut samples = 0;
    while let Some(record) = reader.next().unwrap() {
        samples += usize::from(matches!(record.decode(), Ok(Record::Sample(_))));
    }
    samples
}

/// Burns CPU time in this process.
fn burn() {
    for round in 0..3_000_000_u64 {
        std::hint::black_box(round);
    }
}

#[test]
fn samples_are_those_between_enable_and_disable() {
    let pid = std::process::id().to_string();
    // This process itself, as in a harness. Other tests run in it, so it samples anyway while it is
    // enabled.
    let arguments = ["-D", "-1", "-e", "task-clock", "-c", "100000", "-p", &pid];
    let Some(mut disabled) = Controlled::start(&arguments) else { return };
    disabled.send("ping\n");
    burn();
    disabled.send("stop\n");
    let (code, errors, samples) = disabled.finish();
    assert_eq!((code, samples), (Some(0), 0), "{errors}");

    let mut enabled = Controlled::start(&arguments).unwrap();
    enabled.send("enable\n");
    burn();
    enabled.send("disable\nping\nping\n");
    enabled.send("stop\n");
    let (code, errors, samples) = enabled.finish();
    assert_eq!(code, Some(0), "{errors}");
    assert!(samples > 0, "{errors}");
}

#[test]
fn event_is_enabled_by_its_name() {
    let pid = std::process::id().to_string();
    let arguments = ["-D", "-1", "-e", "task-clock/name=a/,cpu-clock/name=b/", "-c", "100000", "-p", &pid];
    let Some(mut controlled) = Controlled::start(&arguments) else { return };
    controlled.send("enable b\nenable c\nevlist\n");
    burn();
    controlled.send("stop\n");
    let file = controlled.folder.path("a.data");
    controlled.child.wait().unwrap();
    let output = perfkit().args(["script", "-i"]).arg(&file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(" b: ") && !text.contains(" a: "), "{text}");
    let (.., errors, _) = controlled.finish();
    assert!(errors.contains("no event is named c") && errors.contains("perfkit: b\n"), "{errors}");
}

#[test]
fn stop_ends_the_command() {
    let Some(mut controlled) = Controlled::start(&["-e", "task-clock", "--", "sleep", "1000"]) else {
        return;
    };
    controlled.send("ping\nstop\n");
    let (code, errors, _) = controlled.finish();
    assert_eq!(code, Some(143), "{errors}");
}

#[test]
fn mappings_of_a_disabled_command_are_recorded() {
    let arguments = ["-D", "-1", "-e", "task-clock", "-c", "100000", "--", "sleep", "1000"];
    let Some(mut controlled) = Controlled::start(&arguments) else { return };
    controlled.send("ping\nstop\n");
    let file = controlled.folder.path("a.data");
    controlled.child.wait().unwrap();
    let output = perfkit().args(["dump"]).arg(&file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("COMM") && text.contains("MMAP2"), "{text}");
    assert!(!text.contains("SAMPLE "), "{text}");
}

#[test]
fn unknown_commands_have_no_acknowledgement() {
    let Some(mut controlled) = Controlled::start(&["-e", "task-clock", "--", "sleep", "1000"]) else {
        return;
    };
    controlled.commands.write_all(b"bogus \x1b[31m\n").unwrap();
    // The first acknowledgement is for the second command, so the third waits for its own.
    controlled.send("ping\nstop\n");
    let (_, errors, _) = controlled.finish();
    assert!(errors.contains("unknown command") && !errors.contains('\x1b'), "{errors}");
}

#[test]
fn acknowledgements_that_nobody_reads_end_nothing() {
    let Some(mut controlled) = Controlled::start(&["-e", "task-clock", "--", "sleep", "1000"]) else {
        return;
    };
    let commands = controlled.commands.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        let mut commands = commands;
        // More than the pipe of acknowledgements holds.
        commands.write_all(&b"ping\n".repeat(20_000)).unwrap();
        commands.write_all(b"stop\n").unwrap();
    });
    writer.join().unwrap();
    let (code, errors, _) = {
        // The FIFO has this reader, which does not read.
        let _unread = controlled.acks.as_fd().try_clone_to_owned().unwrap();
        controlled.acks = File::open("/dev/null").unwrap();
        controlled.finish()
    };
    assert_eq!(code, Some(143), "{errors}");
    assert!(errors.contains("acknowledgements not sent, because nobody read them"), "{errors}");
}

#[test]
fn descriptors_are_inherited_and_a_reader_that_dies_ends_nothing() {
    if record(&["-o", "/dev/null", "-e", "task-clock", "--", "true"]).is_none() {
        return;
    }
    let folder = Folder::new();
    // The shell passes its standard input as 5, and a pipe whose reader is dead as 6.
    let script = format!(
        "exec 5<&0; {{ \"$0\" record -o {} -e task-clock --control fd:5,6 -- sleep 1000; echo $? >&2; }} 6>&1 1>&2 | true",
        folder.path("a.data").display()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_perfkit")]);
    let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut commands = child.stdin.take().unwrap();
    let mut errors = BufReader::new(File::from(OwnedFd::from(child.stderr.take().unwrap())));
    commands.write_all(b"ping\nping\nping\n").unwrap();
    let mut text = String::new();
    while !text.contains("no further acknowledgements") {
        assert!(errors.read_line(&mut text).unwrap() > 0, "{text}");
    }
    commands.write_all(b"stop\n").unwrap();
    errors.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    assert!(text.ends_with("143\n"), "{text}");
}

#[test]
fn samples_begin_after_the_delay() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let first_time = |delay: &str| {
        let burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let options = ["-D", delay, "-e", "task-clock", "-c", "100000", "-o", file.to_str().unwrap(), "--"];
        record(&[&options[..], &["sh", "-c", burn]].concat())?;
        Some(samples(&fs::read(&file).unwrap()))
    };
    let Some(all) = first_time("0") else { return };
    assert!(all > 0);
    // Longer than the command takes, on any machine.
    assert_eq!(first_time("1000000"), Some(0));
}

#[test]
fn channels_that_do_not_exist_are_one_line() {
    let folder = Folder::new();
    fs::write(folder.path("file"), "").unwrap();
    for (channel, message) in [
        ("fifo:/no/such/fifo".to_owned(), "/no/such/fifo: No such file"),
        (format!("fifo:{}", folder.path("file").display()), "expected a FIFO"),
        ("fd:77".to_owned(), "/proc/self/fd/77"),
        ("pipe:1".to_owned(), "expected fifo:COMMANDS"),
    ] {
        let output = perfkit().args(["record", "--control", &channel, "--", "true"]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
    let output = perfkit().args(["record", "-D", "-1", "--", "true"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("-D -1 needs --control"), "{errors}");
}
