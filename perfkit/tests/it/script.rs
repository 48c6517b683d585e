//! `perfkit script`, compared with snapshots and the perf tool.

use std::fs;
use std::path::Path;
use std::process::Command;

use perf_abi::SampleType;

use crate::support::captures::Captures;
use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record, record_workload};
use crate::support::snapshot::expect_snapshot;

/// Returns the text of `perfkit script` or `perf script`.
fn script(mut program: Command, file: &Path, options: &[&str]) -> Option<String> {
    let output = program.arg("script").arg("-i").arg(file).args(options).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn samples_of_captured_files_have_the_text_of_the_snapshots() {
    let captures = Captures::new();
    let cases: [(&str, &str, &[&str]); 5] = [
        ("callchain", "cpuclock-fp.data", &[]),
        ("cpu", "regs-cpuwide.data", &[]),
        ("tracepoint", "sched-raw.data", &[]),
        ("fields", "cpuclock-fp.data", &["-F", "pid,tid,time,event,ip,dso", "--ns", "-G"]),
        ("changed-fields", "cpuclock-fp.data", &["-F", "+pid,-dso,-symoff", "--time", ",2999.93"]),
    ];
    for (name, file, options) in cases {
        let output = captures.run(&[&["script", "-i", file], options].concat());
        assert!(output.status.success(), "{output:?}");
        let found = String::from_utf8_lossy(&output.stdout);
        // The first samples show all forms.
        let found: String = found.lines().take(60).flat_map(|line| [line, "\n"]).collect();
        expect_snapshot("script", name, &found);
    }
}

#[test]
fn each_field_can_be_printed_alone() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let mut made = Made::new();
    made.comm(7, b"fields");
    made.map(7, 0x1000, b"/no/such/file", None);
    made.map(7, 0x5000, b"//anon", None);
    made.sample(7, 0x1010);
    made.sample(7, 0x5010);
    made.write(&file);
    for (field, expected) in [
        ("srcline", "  [unknown]\n  [unknown]\n"),
        ("sym", "  [unknown]\n  [unknown]\n"),
        // Code of a runtime has the object by which the scripts of flame graphs know it.
        ("dso", "  (/no/such/file)\n  (/tmp/perf-7.map)\n"),
        ("ip", "             1010\n             5010\n"),
        ("period", "      1000 \n      1000 \n"),
    ] {
        assert_eq!(script(perfkit(), &file, &["-F", field]).unwrap(), expected, "{field}");
    }
}

#[test]
fn stacks_are_printed_with_the_fields_of_their_frames_only() {
    let captures = Captures::new();
    for (fields, has_stacks) in [("comm,tid,time,event", false), ("comm,event,ip", true)] {
        let output = captures.run(&["script", "-i", "cpuclock-fp.data", "-F", fields]);
        let found = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !found.is_empty(), "{output:?}");
        assert_eq!(found.lines().any(str::is_empty), has_stacks, "{fields}: {found}");
    }
}

#[test]
fn fixed_period_is_printed_as_by_the_perf_tool() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let path = file.to_str().unwrap();
    if record(&["-q", "-e", "page-faults", "-c", "3", "-o", path, "--", "ls"]).is_none() {
        return;
    }
    let found = script(perfkit(), &file, &["-F", "comm,period,event"]).unwrap();
    assert!(!found.is_empty() && found.lines().all(|line| line.ends_with(" 3 page-faults: ")), "{found}");
    let fields = ["-G", "-F", "comm,tid,time,period,event,ip"];
    let Some(expected) = script(Command::new("perf"), &file, &fields) else {
        eprintln!("skipped: no perf tool");
        return;
    };
    assert_eq!(script(perfkit(), &file, &fields).unwrap(), expected);
}

/// A sample in the text of a script: its head, and the address and the rest of each frame.
type Sample = (String, Vec<(String, String)>);

fn samples(text: &str) -> Vec<Sample> {
    let mut samples = Vec::<Sample>::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix('\t'), samples.last_mut()) {
            (Some(frame), Some((_, frames))) => {
                let (address, name) = frame.trim_start().split_once(' ').unwrap_or((frame, ""));
                frames.push((address.to_owned(), name.to_owned()));
            }
            _ => samples.push((line.to_owned(), Vec::new())),
        }
    }
    samples
}

#[test]
fn lines_of_a_fresh_recording_are_those_of_the_perf_tool() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let path = file.to_str().unwrap();
    if !record_workload(path) {
        return;
    }
    let Some(expected) = script(Command::new("perf"), &file, &["--no-inline"]) else {
        eprintln!("skipped: no perf tool");
        return;
    };
    let found = script(perfkit(), &file, &["--no-inline"]).unwrap();
    let (found, expected) = (samples(&found), samples(&expected));
    assert!(expected.len() > 20, "{} samples", expected.len());
    let heads = |samples: &[Sample]| samples.iter().map(|(head, _)| head.clone()).collect::<Vec<_>>();
    assert_eq!(heads(&found), heads(&expected));
    let (mut equal, mut different) = (0, Vec::new());
    for ((_, found), (_, expected)) in found.iter().zip(&expected) {
        assert_eq!(found.len(), expected.len(), "{found:?}, {expected:?}");
        for (found, expected) in found.iter().zip(expected) {
            // After an exec, the perf tool still finds the address of the call in the old program.
            let is_unmapped = found.1 == "[unknown] ([unknown])";
            assert!(found.0 == expected.0 || is_unmapped, "{found:?}, {expected:?}");
            // The perf tool names the function at a return address, which is the next one after a
            // call that does not return.
            if found.1 == expected.1 || expected.1.contains("+0x0 ") {
                equal += 1;
            } else {
                different.push((found, expected));
            }
        }
    }
    // Other symbols of the same address, such as `__GI___close` and `close`.
    let offset = |name: &str| name.rsplit_once('+').map(|(_, offset)| offset.to_owned());
    different
        .retain(|(found, expected)| offset(&found.1) != offset(&expected.1) || offset(&found.1).is_none());
    // The perf tool has neither a name nor a start for a function without a symbol: `libz.so.1+0x2f30`.
    let is_start = |name: &str| name.matches("+0x").count() == 2;
    different.retain(|(found, expected)| !expected.1.starts_with("[unknown]") || !is_start(&found.1));
    assert!(different.len() * 100 <= equal, "{equal} frames are equal, and not {different:?}");
}

#[test]
fn metadata_that_is_missing_or_damaged_is_noted() {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data/cpuclock-fp.data");
    let whole = fs::read(data).unwrap();
    let word = |offset: usize| u64::from_ne_bytes(whole[offset..offset + 8].try_into().unwrap());
    let end = usize::try_from(word(40) + word(48)).unwrap();
    let mut interrupted = whole[..end].to_vec();
    // The size of the records is written at the end.
    interrupted[48..56].fill(0);
    let without_features = [&whole[..72], &[0; 32], &whole[104..end]].concat();
    let not_finished = "perfkit: the recording was not finished: it has no build ids and no other metadata\n";
    let damaged = "perfkit: the build ids and other metadata of the recording are damaged: offset 0x";
    for (name, bytes, expected) in [
        ("interrupted", &interrupted[..], Some(not_finished)),
        ("without features", &without_features, Some(not_finished)),
        ("truncated", &whole[..whole.len() - 10], Some(damaged)),
        ("whole", &whole, None),
    ] {
        let file = folder.path(name);
        fs::write(&file, bytes).unwrap();
        let output = perfkit().arg("script").arg("-i").arg(&file).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{name}: {output:?}");
        match expected {
            Some(expected) => assert!(errors.starts_with(expected), "{name}: {errors}"),
            None => assert!(!errors.contains("metadata"), "{name}: {errors}"),
        }
    }
}

#[test]
fn payloads_of_tracepoints_are_printed_as_the_kernel_does() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let path = file.to_str().unwrap();
    let events = "sched:sched_switch,sched:sched_process_exec,syscalls:sys_enter_openat,syscalls:sys_exit_openat,\
                  kmem:kfree";
    if record(&["-q", "-e", events, "-o", path, "--", "sh", "-c", "cat /etc/passwd | sort"]).is_none() {
        return;
    }
    let Some(expected) = script(Command::new("perf"), &file, &[]) else {
        eprintln!("skipped: no perf tool");
        return;
    };
    let found = script(perfkit(), &file, &[]).unwrap();
    assert!(found.contains("flags: 0x") && found.contains(" ==> next_comm="), "{found}");
    assert_eq!(found.lines().count(), expected.lines().count());
    for (found, expected) in found.lines().zip(expected.lines()) {
        // The kernel's symbols may not be readable, or have others at the same address.
        let known = |line: &str| line.split("call_site=").next().unwrap_or(line).to_owned();
        assert_eq!(known(found), known(expected));
    }
}

#[test]
fn addresses_of_data_have_the_column_of_the_perf_tool() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let path = file.to_str().unwrap();
    if record(&["-q", "-e", "page-faults", "-c", "1", "-d", "-o", path, "--", "sort", "/etc/services"])
        .is_none()
    {
        return;
    }
    let options = ["-F", "comm,tid,addr,ip"];
    let Some(expected) = script(Command::new("perf"), &file, &options) else {
        eprintln!("skipped: no perf tool");
        return;
    };
    assert!(!expected.is_empty());
    assert_eq!(script(perfkit(), &file, &options).unwrap(), expected);
}

#[test]
fn task_that_has_exited_has_the_id_of_the_perf_tool() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let mut made = Made::new();
    made.sample(u32::MAX, 0x1010);
    made.write(&file);
    let found = script(perfkit(), &file, &["-F", "comm,pid,tid,event", "-c", ":-1"]).unwrap();
    assert_eq!(found, "             :-1    -1/-1    cpu-clock: \n");
}

/// Leaves out the type and the outcome of speculation of each branch, which perf before 6.2 does
/// not print.
fn without_new_fields(text: &str) -> String {
    let word = |word: &str| match word.split('/').collect::<Vec<_>>().as_slice() {
        [from, to, predicted, in_tx, abort, cycles, ..] if from.starts_with("0x") => {
            [*from, to, predicted, in_tx, abort, cycles].join("/")
        }
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ") + "\n";
    text.lines().map(line).collect()
}

#[test]
fn compilers_get_the_branches_mappings_and_tasks_that_the_perf_tool_prints() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let mut made = Made::with_fields("cycles", SampleType::BRANCH_STACK);
    made.comm(10, b"loop");
    made.map(10, 0x40_0000, b"/bin/no such", Some(&[7; 20]));
    made.sample_with(10, 0x40_0010, &[2, 0x40_0020, 0x40_0004, 0b10, 0x40_0002, 0x40_0018, 0b1 | 7 << 4]);
    made.sample_with(10, 0x40_0018, &[0]);
    made.write(&file);
    // The command lines of llvm-profgen and perf2bolt.
    let lines: [&[&str]; 7] = [
        &["-F", "pid,brstack", "-f"],
        &["-F", "pid,ip,brstack", "-f"],
        &["-F", "ip,sym,brstack"],
        &["-F", "pid,event,ip", "-f"],
        &["--show-mmap-events", "-F", "comm,pid"],
        &["--show-mmap-events", "-F", "ip,brstack", "--pid", "10"],
        &["--show-task-events", "--no-itrace", "-f"],
    ];
    let found = script(perfkit(), &file, lines[5]).unwrap();
    let expected = "PERF_RECORD_MMAP 10/10: [0x400000(0x1000) @ 0]: x /bin/no such\n           400010 \
        0x400020/0x400004/P/-/-/0//-  0x400002/0x400018/M/-/-/7//- \n           400018\n";
    assert_eq!(found, expected);
    for line in lines {
        let found = script(perfkit(), &file, line).unwrap();
        let Some(expected) = script(Command::new("perf"), &file, line) else {
            eprintln!("skipped: no perf tool");
            return;
        };
        assert_eq!(without_new_fields(&found), without_new_fields(&expected), "{line:?}");
    }
    // perf2bolt expects this failure if the samples have no address of data.
    let output =
        perfkit().args(["script", "-F", "pid,event,addr,ip", "-f", "-i"]).arg(&file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "Samples for 'cycles' event do not have ADDR attribute set. Cannot print 'addr' field";
    assert!(output.status.code() == Some(1) && text.contains(expected), "{text}");
    let list = perfkit().args(["buildid-list", "-f", "-i"]).arg(&file).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&list.stdout), format!("{} /bin/no such\n", "07".repeat(20)));
}
