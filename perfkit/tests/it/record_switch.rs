//! `perfkit record --switch-output`: files that are complete, one after the other.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

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
            // Of the event that samples, not of the one with the side-band records.
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

#[test]
fn each_file_of_a_command_has_its_name_and_mappings() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let options =
        ["-e", "task-clock", "-c", "1000000", "--every", "200ms", "-o", file.to_str().unwrap(), "--"];
    let burn = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done";
    let Some(output) = record(&[&options[..], &["sh", "-c", burn]].concat()) else { return };
    let contents = contents(&folder.path(""));
    assert!(contents.len() > 1, "{output:?}");
    for content in contents {
        assert!(
            content.samples == 0 || (content.names.contains("sh") && content.mappings > 1),
            "{content:?}"
        );
    }
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
