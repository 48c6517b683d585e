//! `perfkit record` on the running kernel.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use crate::support::recording::{Folder, perfkit, record};
use perf_decode::Record;
use perf_file::format::{Feature, record_type};
use perf_file::{PerfData, Reader};
use rustix::process::{Pid, Signal, kill_process};

/// Burns more than the period of the samples, on any machine: each round is at least some
/// instructions.
const BURN: &str = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";

/// A sample for each 100 µs on a CPU.
const EVENTS: [&str; 4] = ["-e", "task-clock", "-c", "100000"];

/// The records of a recording, counted.
#[derive(Debug, Default)]
struct Content {
    samples: usize,
    callchains: usize,
    programs: Vec<String>,
    files: usize,
    rounds: usize,
    compressed: usize,
}

fn content(bytes: &[u8]) -> Content {
    let mut content = Content::default();
    let mut reader = Reader::from_bytes(bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        match record.kind() {
            record_type::FINISHED_ROUND => content.rounds += 1,
            record_type::COMPRESSED => content.compressed += 1,
            kind if kind.0 >= record_type::FIRST.0 => {}
            _ => match record.decode().unwrap() {
                Record::Sample(sample) => {
                    content.samples += 1;
                    content.callchains += usize::from(sample.callchain().is_some());
                }
                Record::Comm(comm) => {
                    let name = String::from_utf8_lossy(comm.comm());
                    content.programs.push(name.into_owned());
                }

                Record::Mmap2(_) => content.files += 1,
                _ => {}
            },
        }
    }
    content
}

#[test]
fn command_is_recorded_from_its_exec_on() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let arguments = ["-g", "-o", file.to_str().unwrap(), "--", "sh", "-c", BURN];
    let Some(output) = record(&[&EVENTS[..], &arguments].concat()) else { return };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let bytes = fs::read(&file).unwrap();
    let found = content(&bytes);
    assert!(found.samples > 0 && found.callchains == found.samples && found.rounds > 0, "{found:?}");
    assert!(found.programs.contains(&"sh".to_owned()) && found.files > 1, "{found:?}");
    assert!(!found.programs.contains(&"perfkit".to_owned()), "{found:?}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains(&format!("perfkit: {} samples", found.samples)), "{errors}");

    let features = PerfData::new(&bytes).unwrap().header().features();
    let expected = [
        Feature::OSRELEASE,
        Feature::VERSION,
        Feature::NRCPUS,
        Feature::CMDLINE,
        Feature::EVENT_DESC,
        Feature::SAMPLE_TIME,
        Feature::BUILD_ID,
    ];
    assert!(expected.into_iter().all(|feature| features.contains(feature)), "{features:?}");
}

#[test]
fn pipe_form_and_compressed_records_have_the_same_content() {
    let compressed = ["-z", "-o", "-", "--", "sh", "-c", BURN];
    let Some(output) = record(&[&EVENTS[..], &compressed].concat()) else { return };
    let found = content(&output.stdout);
    assert!(found.samples > 0 && found.compressed > 0 && found.files > 1, "{found:?}");
    assert!(Reader::from_pipe(&*output.stdout).is_ok());
    // The command's own output does not disturb the recording.
    let output = record(&[&EVENTS[..], &["-o", "-", "--", "echo", "text"]].concat()).unwrap();
    assert!(content(&output.stdout).programs.contains(&"echo".to_owned()));
    assert!(String::from_utf8_lossy(&output.stderr).lines().any(|line| line == "text"), "{output:?}");
}

#[test]
fn exit_status_of_the_command_is_passed_on() {
    let folder = Folder::new();
    let status = |command: &[&str]| {
        let file = folder.path("b.data");
        let arguments = ["-e", "task-clock", "-o", file.to_str().unwrap(), "--"];
        Some(record(&[&arguments[..], command].concat())?.status.code())
    };
    let Some(code) = status(&["sh", "-c", "exit 3"]) else { return };
    assert_eq!(code, Some(3));
    assert_eq!(status(&["sh", "-c", "kill -KILL $$"]), Some(Some(137)));
    assert_eq!(status(&["/no/such/command"]), Some(Some(127)));
    assert_eq!(status(&["/"]), Some(Some(126)));
}

#[test]
fn existing_file_is_kept_as_old() {
    let folder = Folder::new();
    let (file, old) = (folder.path("c.data"), folder.path("c.data.old"));
    fs::write(&file, "before").unwrap();
    let arguments = ["-e", "task-clock", "-o", file.to_str().unwrap(), "--", "true"];
    if record(&arguments).is_some() {
        assert_eq!(fs::read(old).unwrap(), b"before");
        assert!(fs::read(file).unwrap().starts_with(&perf_file::format::MAGIC.to_ne_bytes()));
    }
}

/// A recorder of a command that has started and burns until it is terminated. `None`, and the test
/// is skipped, if the kernel permits no event.
fn start_burning(mut recorder: Command, file: &Path) -> Option<Child> {
    // It ends without the recorder, too.
    let command = "echo started; while kill -0 $PPID 2>/dev/null; do :; done";
    recorder.args(EVENTS).arg("-o").arg(file).args(["--", "sh", "-c", command]);
    let mut child = recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut started = [0; 8];
    if child.stdout.as_mut().unwrap().read_exact(&mut started).is_err() {
        crate::support::recording::skip_if_refused(&child.wait_with_output().unwrap());
        return None;
    }
    Some(child)
}

fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

#[track_caller]
fn assert_finished(output: &Output, file: &Path) {
    // The command got SIGTERM.
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    let bytes = fs::read(file).unwrap();
    assert!(!PerfData::new(&bytes).unwrap().header().is_interrupted());
    assert!(content(&bytes).programs.contains(&"sh".to_owned()));
}

#[test]
fn interrupted_recording_ends_cleanly() {
    let folder = Folder::new();
    let file = folder.path("d.data");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut recorder = perfkit();
        recorder.arg("record");
        let Some(child) = start_burning(recorder, &file) else { return };
        send(&child, signal);
        assert_finished(&child.wait_with_output().unwrap(), &file);
    }
}

#[test]
fn full_disk_is_an_error() {
    let arguments = ["-e", "task-clock", "-o", "/dev/full", "--", "true"];
    let Some(output) = record(&arguments) else { return };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("/dev/full: cannot write the ") && errors.contains("No space left"), "{errors}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn closed_pipe_is_an_error() {
    // The reader of the pipe does not read.
    let mut recorder = perfkit();
    recorder.args(["record", "-e", "task-clock", "-o", "-", "--", "true"]);
    let mut child = recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if errors.contains("cannot write") {
        assert!(errors.contains("Broken pipe") && output.status.code() == Some(1), "{output:?}");
    } else {
        crate::support::recording::skip_if_refused(&output);
    }
}

#[test]
fn tracepoints_are_recorded_with_their_formats() {
    let folder = Folder::new();
    let file = folder.path("e.data");
    let arguments =
        ["-e", "sched:sched_process_exec", "-o", file.to_str().unwrap(), "--", "sh", "-c", "ls / >&2"];
    let output = perfkit().arg("record").args(arguments).output().unwrap();
    if !output.status.success() {
        return crate::support::recording::skip_if_refused(&output);
    }
    let bytes = fs::read(&file).unwrap();
    let data = PerfData::new(&bytes).unwrap().feature(Feature::TRACING_DATA).unwrap().unwrap();
    let text = String::from_utf8_lossy(data.bytes).into_owned();
    assert!(text.contains("name: sched_process_exec") && text.contains("header_page"), "{text}");
    // One for the shell's own, if that is traced, and one for `ls`.
    assert!(content(&bytes).samples > 0);
}

#[test]
fn process_is_described_as_it_was_before() {
    let folder = Folder::new();
    let file = folder.path("f.data");
    let mut sleep = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let pid = sleep.id().to_string();
    let mut recorder = perfkit();
    recorder.args(["record", "-e", "task-clock", "-p", &pid, "-o"]).arg(&file).args(["--", "true"]);
    let output = recorder.output().unwrap();
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    if !output.status.success() {
        return crate::support::recording::skip_if_refused(&output);
    }
    let found = content(&fs::read(&file).unwrap());
    assert!(found.programs.contains(&"sleep".to_owned()) && found.files > 0, "{found:?}");
}

#[test]
fn process_of_a_thread_is_described() {
    let folder = Folder::new();
    let file = folder.path("f.data");
    // A test does not run in the first thread of its process.
    let tid = rustix::thread::gettid().to_string();
    let arguments = ["-e", "task-clock", "-t", &tid, "-o", file.to_str().unwrap(), "--", "true"];
    if record(&arguments).is_none() {
        return;
    }
    let found = content(&fs::read(&file).unwrap());
    let name = fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap();
    assert!(found.programs.contains(&name.trim_end().to_owned()) && found.files > 0, "{found:?}");
}

#[test]
fn process_of_several_threads_is_described_once() {
    let folder = Folder::new();
    let file = folder.path("f.data");
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let second = thread::Builder::new().name("pk-second".to_owned());
    let second = second.spawn(move || {
        tell.send(rustix::thread::gettid()).unwrap();
        // Until the other end is dropped.
        let _ = ended.recv();
    });
    let tids = format!("{},{}", rustix::thread::gettid(), told.recv().unwrap());
    let arguments = ["-e", "task-clock", "-t", &tids, "-o", file.to_str().unwrap(), "--", "true"];
    let output = record(&arguments);
    drop(end);
    second.unwrap().join().unwrap();
    if output.is_some() {
        let found = content(&fs::read(&file).unwrap());
        assert_eq!(found.programs.iter().filter(|name| *name == "pk-second").count(), 1, "{found:?}");
    }
}

#[test]
fn perf_tool_reads_a_recording() {
    let folder = Folder::new();
    let file = folder.path("g.data");
    let arguments = ["-z", "-o", file.to_str().unwrap(), "--", "sh", "-c", BURN];
    if record(&[&EVENTS[..], &arguments].concat()).is_none() {
        return;
    }
    // Some distributions install a script, which fails if it has no tool for this kernel.
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let perf = |arguments: &[&str]| {
        let mut perf = Command::new("perf");
        perf.args(arguments).arg("-i").arg(&file).env("HOME", folder.path("")).stdin(Stdio::null());
        let output = perf.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let list = perf(&["evlist", "-v"]);
    assert!(list.starts_with("task-clock"), "{list}");
    let header = perf(&["report", "--header-only"]);
    assert!(header.contains("perf version : perfkit"), "{header}");
    let samples = perf(&["script", "-F", "comm,event"]);
    if samples.is_empty() {
        // A tool without zstd.
        return eprintln!("skipped: perf reads no compressed records");
    }
    let found = content(&fs::read(&file).unwrap()).samples;
    assert_eq!(
        samples.lines().filter(|line| line.contains("sh") && line.contains("task-clock")).count(),
        found
    );
    assert!(perf(&["report", "--stdio"]).contains("sh"));
}
