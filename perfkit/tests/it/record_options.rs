//! Options of `perfkit record` that change what is recorded.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::recording::{Folder, perfkit, record};
use crate::support::running::Running;
use perf_abi::AttrFlags;
use perf_decode::{Record, Sample};
use perf_file::Reader;

/// Burns more than some ms of CPU time.
const BURN: &str = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";

/// Calls `note` with each sample of a recording.
fn for_each_sample(file: &Path, mut note: impl FnMut(Sample<'_>)) {
    let bytes = fs::read(file).unwrap();
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_some()
            && let Record::Sample(sample) = record.decode().unwrap()
        {
            note(sample);
        }
    }
}

fn samples(file: &Path) -> u64 {
    let mut samples = 0;
    for_each_sample(file, |_| samples += 1);
    samples
}

/// Records into a file of `folder`, and returns it.
fn recorded(folder: &Folder, arguments: &[&str]) -> Option<PathBuf> {
    let file = folder.path("a.data");
    let output = record(&[&["-o", file.to_str().unwrap()], arguments].concat())?;
    assert!(output.status.success(), "{output:?}");
    Some(file)
}

#[test]
fn filter_limits_the_samples_of_a_tracepoint() {
    let folder = Folder::new();
    let command = ["dd", "if=/dev/zero", "of=/dev/null", "bs=13", "count=50", "status=none"];
    let events = ["-e", "syscalls:sys_enter_write", "--filter", "count == 13"];
    let Some(file) = recorded(&folder, &[&events[..], &command].concat()) else { return };
    assert_eq!(samples(&file), 50);
    // On all CPUs, with the losses of all events of the file.
    let Some(file) = recorded(&folder, &[&["-a"], &events[..], &command].concat()) else { return };
    assert!(samples(&file) >= 50);
}

#[test]
fn several_processes_are_recorded_until_the_last_has_exited() {
    let folder = Folder::new();
    // Each burns once it is recorded.
    let script = format!("read go; {BURN}");
    let mut tasks = [0, 1].map(|_| {
        let mut task = Command::new("sh");
        task.args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap()
    });
    let ids = tasks.each_ref().map(std::process::Child::id);
    let list = ids.map(|id| id.to_string()).join(",");
    let file = folder.path("a.data");
    let mut record = perfkit();
    record.args(["record", "-e", "task-clock", "-c", "1000000", "-p", &list, "-o"]).arg(&file);
    let mut record = Running::start(&mut record);
    let is_recorded = record.prints("recording processes");
    for task in &mut tasks {
        task.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    for task in &mut tasks {
        assert!(task.wait().unwrap().success());
    }
    if !is_recorded {
        return;
    }
    let output = record.end();
    assert!(output.status.success(), "{output:?}");
    let mut found = BTreeSet::new();
    for_each_sample(&file, |sample| {
        found.insert(sample.pid().unwrap());
    });
    assert_eq!(found, BTreeSet::from(ids));
}

#[test]
fn stacks_are_recorded_for_unwinding_by_debug_information() {
    let folder = Folder::new();
    let event = ["-e", "task-clock", "-c", "1000000", "--call-graph", "dwarf,4096"];
    let Some(file) = recorded(&folder, &[&event[..], &["sh", "-c", BURN]].concat()) else { return };
    let mut stacks = 0;
    for_each_sample(&file, |sample| {
        assert!(sample.callchain().is_some());
        stacks += usize::from(sample.stack_user().is_some_and(|stack| !stack.bytes().is_empty()));
    });
    assert!(stacks > 0);
}

#[test]
fn deferred_callchains_are_recorded_or_given_up_with_the_release_that_has_them() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let arguments =
        ["-o", file.to_str().unwrap(), "--call-graph", "fp,defer", "-e", "cpu-clock:u", "-e", "task-clock:u"];
    let Some(output) = record(&[&arguments[..], &["sh", "-c", BURN]].concat()) else { return };
    assert!(output.status.success(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let bytes = fs::read(&file).unwrap();
    let reader = Reader::from_bytes(&bytes).unwrap();
    let flags: Vec<_> = reader.events().as_slice().iter().map(|event| event.attr.flags).collect();
    let has = |flag| flags.iter().filter(|flags| flags.contains(flag)).count();
    let (deferred, receivers) = (has(AttrFlags::DEFER_CALLCHAIN), has(AttrFlags::DEFER_OUTPUT));
    let is_given_up = stderr.contains("DEFER_CALLCHAIN given up (since Linux 6.19)");
    assert_eq!((deferred, receivers), if is_given_up { (0, 0) } else { (2, 1) }, "{stderr}");
    assert!(samples(&file) > 0);
}

#[test]
fn rings_have_the_size_that_the_user_gave() {
    let folder = Folder::new();
    let Some(file) = recorded(&folder, &["-e", "task-clock", "-c", "1000000", "-m", "8", "sh", "-c", BURN])
    else {
        return;
    };
    assert!(samples(&file) > 0);
}

#[test]
fn event_that_asks_for_the_kernel_is_refused_where_it_is_not_permitted() {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if !rustix::process::geteuid().is_root() || level.trim().parse::<i32>().unwrap() < 2 {
        return eprintln!("skipped: needs root, to become nobody, and perf_event_paranoid of 2");
    }
    let as_nobody = |event: &str| {
        let mut command = perfkit();
        command.args(["record", "-e", event, "-o", "/dev/null", "sh", "-c", BURN]);
        let output = command.uid(65534).gid(65534).output().ok()?;
        Some((output.status.success(), String::from_utf8(output.stderr).unwrap()))
    };
    let Some((succeeded, text)) = as_nobody("cpu-clock:k") else {
        return eprintln!("skipped: nobody cannot execute the program");
    };
    assert!(!succeeded && text.contains("perf_event_paranoid"), "{text}");
    let (succeeded, text) = as_nobody("cpu-clock:u").unwrap();
    assert!(succeeded && !text.contains("user space") && !text.contains("kernel map"), "{text}");
    let (succeeded, text) = as_nobody("cpu-clock").unwrap();
    assert!(succeeded && text.contains("user space only"), "{text}");
}

#[test]
fn recording_works_without_sys() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let script = format!(
        "umount -l /sys && exec \"$0\" record -e task-clock -c 1000000 -a -o {} sh -c '{BURN}'",
        file.display()
    );
    let mut unshare = Command::new("unshare");
    let output = unshare.args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_perfkit")]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    if text.contains("umount:") || text.contains("unshare") {
        return eprintln!("skipped: {text}");
    }
    assert!(output.status.success(), "{text}");
    assert!(samples(&file) > 0);
}
