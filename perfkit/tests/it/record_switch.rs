//! `perfkit record --switch-output`: files that are complete, one after another.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::recording::{Folder, perfkit, record, skip_if_refused};
use perf_decode::Record;
use perf_file::format::Feature;
use perf_file::{PerfData, Reader};
use rustix::process::{Pid, Signal, kill_process};

/// Samples, losses, names and mapped files of a recording.
#[derive(Debug, Default)]
struct Content {
    samples: u64,
    lost: u64,
    names: BTreeSet<String>,
    mappings: usize,
    /// Times of the samples, which one thread has.
    times: BTreeSet<u64>,
}

fn content(bytes: &[u8]) -> Content {
    let mut content = Content::default();
    let mut reader = Reader::from_bytes(bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        match record.decode().unwrap() {
            Record::Sample(sample) => {
                content.samples += 1;
                content.times.extend(sample.time());
            }
            // Losses of the event that samples, not of the event with side-band records.
            Record::LostSamples(_) | Record::Lost(_) if record.event().unwrap().0 != 0 => {}
            Record::LostSamples(lost) => content.lost += lost.lost(),
            Record::Lost(lost) => content.lost += lost.lost(),
            Record::Comm(comm) => _ = content.names.insert(String::from_utf8_lossy(comm.comm()).into_owned()),
            Record::Mmap2(_) => content.mappings += 1,
            _ => {}
        }
    }
    content
}

/// Returns the content of all files of a folder by name, each of which is complete.
fn contents(folder: &Path) -> Vec<Content> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let content = |path| {
        let bytes = fs::read(path).unwrap();
        let features = PerfData::new(&bytes).unwrap().header().features();
        assert!(
            features.contains(Feature::EVENT_DESC) && features.contains(Feature::BUILD_ID),
            "{features:?}"
        );
        content(&bytes)
    };
    paths.iter().map(content).collect()
}

#[test]
fn files_sum_to_one_recording_without_a_gap() {
    const WRITES: u64 = 60_000;
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let options =
        ["-e", "syscalls:sys_enter_write", "-m", "16", "--switch-output=300K", "-o", file.to_str().unwrap()];
    let count = format!("count={WRITES}");
    let command = ["--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", &count, "status=none"];
    let Some(output) = record(&[&options[..], &command].concat()) else { return };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let contents = contents(&folder.path(""));
    assert!(!file.exists() && contents.len() > 1, "{errors}");
    let (samples, lost) = contents.iter().fold((0, 0), |sum, file| (sum.0 + file.samples, sum.1 + file.lost));
    assert_eq!(samples + lost, WRITES, "{lost} lost: {errors}");
    assert!(errors.contains(&format!("{samples} samples in {} files", contents.len())), "{errors}");
}

#[test]
fn signal_and_snapshot_begin_files_that_stand_alone() {
    let folder = Folder::new();
    let (file, ctl) = (folder.path("data/perf.data"), folder.path("ctl"));
    fs::create_dir(folder.path("data")).unwrap();
    assert!(Command::new("mkfifo").arg(&ctl).status().unwrap().success());
    let mut commands = fs::OpenOptions::new().read(true).write(true).open(&ctl).unwrap();
    let mut command = perfkit();
    command.args([
        "record",
        "-a",
        "-e",
        "cpu-clock",
        "-F",
        "499",
        "--switch-output",
        "--switch-max-files",
        "3",
    ]);
    command.arg("--control").arg(format!("fifo:{}", ctl.display())).arg("-o").arg(&file);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("recording all CPUs") {
        if errors.read_line(&mut text).unwrap() == 0 {
            let output = child.wait_with_output().unwrap();
            return skip_if_refused(&Output { stderr: text.into(), ..output });
        }
    }
    for _ in 0..3 {
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::USR2).unwrap();
        let files = text.matches(" in ").count();
        while text.matches(" in ").count() == files {
            assert!(errors.read_line(&mut text).unwrap() > 0, "{text}");
        }
    }
    commands.write_all(b"snapshot\nstop\n").unwrap();
    errors.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{text}");
    assert!(text.contains("in 5 files"), "{text}");
    let contents = contents(&folder.path("data"));
    assert_eq!(contents.len(), 3, "{text}");
    for content in contents {
        // Of processes that began before the recording.
        assert!(content.names.len() > 3 && content.mappings > 10, "{content:?}");
    }
}

/// A shell that has started `yes`, and burns until this test has seen enough.
const PARTS: &str = "yes >/dev/null & i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; kill $!";

/// Fails unless each file with samples describes the processes of [`PARTS`], and none has another
/// process.
#[track_caller]
fn assert_describes_only_its_tasks(folder: &Path, errors: &str) {
    let contents = contents(folder);
    let allowed = ["sh", "yes", "kill"].map(str::to_owned).into();
    for content in &contents {
        assert!(content.names.is_subset(&allowed), "{:?}: {errors}", content.names);
    }
    // The first describes them by the records of their start, and the last may begin after their
    // end.
    let middle = &contents[..contents.len() - 1];
    let has_all = |content: &Content| ["sh", "yes"].iter().all(|name| content.names.contains(*name));
    assert!(middle.iter().all(|content| has_all(content) && content.mappings > 3), "{middle:?}: {errors}");
}

#[test]
fn each_part_of_a_command_describes_its_processes_and_no_other() {
    for switch in ["--every=150ms", "--switch-output=60K"] {
        let folder = Folder::new();
        let file = folder.path("perf.data");
        let options = ["-e", "task-clock", "-c", "100000", "-m", "4", switch, "-o", file.to_str().unwrap()];
        let Some(output) = record(&[&options[..], &["--", "sh", "-c", PARTS]].concat()) else { return };
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(fs::read_dir(folder.path("")).unwrap().count() > 2, "{switch}: {errors}");
        assert_describes_only_its_tasks(&folder.path(""), &errors);
    }
}

#[test]
fn parts_are_about_as_large_as_the_limit() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let options = ["-e", "task-clock", "-c", "100000", "-m", "4", "--switch-output=100K", "-o"];
    let options = [&options[..], &[file.to_str().unwrap(), "--", "sh", "-c", PARTS]].concat();
    if record(&options).is_none() {
        return;
    }
    let sizes: Vec<u64> = fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .collect();
    assert!(sizes.len() > 2, "{sizes:?}");
    // The content of all rings, and the description of the machine.
    let most = 102_400 + 4 * 4096 * thread::available_parallelism().unwrap().get() as u64 + 40_000;
    assert!(sizes.iter().all(|size| *size <= most), "{sizes:?}, at most {most}");
}

#[test]
fn snapshot_of_a_command_describes_its_processes_and_no_other() {
    let folder = Folder::new();
    let (file, ready) = (folder.path("data/perf.data"), folder.path("ready"));
    fs::create_dir(folder.path("data")).unwrap();
    // Its own forks are overwritten when the snapshot is taken.
    let forks = "i=0; while [ $i -lt 2000 ]; do (:); i=$((i+1)); done";
    let script = format!("(yes >/dev/null 2>&1 & echo $! >yes); {forks}; echo >ready; exec sleep 60");
    let mut command = perfkit();
    command.args(["record", "-e", "task-clock", "-c", "1000000", "-m", "1", "--overwrite", "-o"]).arg(&file);
    command.args(["--", "sh", "-c", &script]).current_dir(folder.path("")).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !ready.exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    if let Ok(yes) = fs::read_to_string(folder.path("yes")) {
        kill_process(Pid::from_raw(yes.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    }
    if !ready.exists() {
        return skip_if_refused(&output);
    }
    let contents = contents(&folder.path("data"));
    let [snapshot] = &contents[..] else { panic!("{contents:?}") };
    let allowed = ["sh", "yes", "sleep"].map(str::to_owned).into();
    assert!(snapshot.samples > 0 && snapshot.names.is_subset(&allowed), "{snapshot:?}");
    // An orphan, whose parent has exited.
    assert!(snapshot.names.contains("yes"), "{snapshot:?}");
}

#[test]
fn each_part_of_a_process_describes_it_and_no_other() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let mut shell = Command::new("sh");
    shell.args(["-c", "yes >/dev/null & echo $!; wait"]).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut yes = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut yes).unwrap();
    let pids = format!("{},{}", shell.id(), yes.trim());
    let mut command = perfkit();
    command.args(["record", "-e", "task-clock", "-c", "1000000", "-p", &pids, "--every=100ms", "-o"]);
    let mut child = command.arg(&file).stderr(Stdio::piped()).spawn().unwrap();
    // Ended by the signal, or because it may not record.
    while child.try_wait().unwrap().is_none() && fs::read_dir(folder.path("")).unwrap().count() <= 3 {
        thread::sleep(Duration::from_millis(10));
    }
    if child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    kill_process(Pid::from_raw(yes.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    shell.wait().unwrap();
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(fs::read_dir(folder.path("")).unwrap().count() > 2, "{errors}");
    assert_describes_only_its_tasks(&folder.path(""), &errors);
}

#[test]
fn snapshots_have_the_last_records_and_each_once() {
    let folder = Folder::new();
    let (file, ctl) = (folder.path("data/perf.data"), folder.path("ctl"));
    fs::create_dir(folder.path("data")).unwrap();
    assert!(Command::new("mkfifo").arg(&ctl).status().unwrap().success());
    let mut commands = fs::OpenOptions::new().read(true).write(true).open(&ctl).unwrap();
    commands.write_all(b"snapshot\nsnapshot\n").unwrap();
    let control = format!("fifo:{}", ctl.display());
    let options = ["-e", "syscalls:sys_enter_write", "-m", "4", "--overwrite", "--control", &control];
    // Writes until both snapshots are there, however late they come, and then once more.
    let writes = "dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none";
    let script = format!("while {writes}; [ $(ls data/perf.data.* | wc -l) -lt 2 ]; do :; done; {writes}");
    let arguments = ["-o", file.to_str().unwrap(), "--", "timeout", "60", "sh", "-c", &script];
    let recorded =
        perfkit().arg("record").args(options).args(arguments).current_dir(folder.path("")).output();
    let output = recorded.unwrap();
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut times = BTreeSet::new();
    let contents = contents(&folder.path("data"));
    assert_eq!(contents.len(), 3, "{errors}");
    for content in &contents {
        // 16 KiB hold fewer.
        assert!(content.samples < 1000, "{content:?}");
        assert!(content.times.iter().all(|time| times.insert(*time)), "a record is in two files");
    }
    // `perf.data` is the first by name and has the end.
    assert!(contents[0].samples > 0 && contents[0].times.last() == times.last(), "{errors}");
    assert!(errors.contains("in 2 files and "), "{errors}");
}

#[test]
fn output_that_cannot_be_switched_is_one_line() {
    let command = ["--", "true"];
    for (options, message) in [
        (&["--switch-output=1s", "-o", "-"][..], "standard output: expected a file"),
        (&["--switch-output=1s", "-o", "/dev/null"][..], "/dev/null: expected a file"),
        (&["--switch-output=x"][..], "expected `signal`, a size"),
        (&["--switch-max-files=0", "--switch-output"][..], "expected a number of files"),
    ] {
        let output = perfkit()
            .args(["record", "-q", "-e", "task-clock"])
            .args(options)
            .args(command)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains(message), "{errors}");
    }
}
