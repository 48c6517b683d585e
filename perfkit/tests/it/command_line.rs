//! The command line of `perfkit record` and `perfkit stat`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(arguments: &[&str]) -> Output {
    perfkit().args(arguments).output().unwrap()
}

/// Fails unless the command line is refused with a text that contains `expected`.
#[track_caller]
fn refused(arguments: &[&str], expected: &str) -> String {
    let output = run(arguments);
    let errors = text(&output.stderr);
    assert!(output.status.code() == Some(2) && errors.contains(expected), "{arguments:?}: {errors}");
    errors
}

#[test]
fn command_needs_no_dashes_before_it() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let file = file.to_str().unwrap();
    let Some(output) = record(&["-e", "task-clock", "-o", file, "sh", "-c", "exit 4"]) else { return };
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    // Options after the command are the command's.
    let counted = run(&["stat", "-e", "page-faults", "echo", "-e", "text", "--json"]);
    assert!(text(&counted.stdout).contains("text --json"), "{counted:?}");
    let dashes = run(&["stat", "-e", "page-faults", "--", "echo", "--", "x"]);
    assert_eq!(text(&dashes.stdout), "-- x\n");
}

#[test]
fn unknown_options_have_no_misleading_advice() {
    for option in ["--per-thread", "-u", "--intr-regs", "--uid=5"] {
        let errors = refused(&["record", option, "true"], "is not supported");
        assert!(errors.contains("perf's `-") && !errors.contains("as a value"), "{errors}");
    }
    // Other commands report it as unknown.
    refused(&["dump", "--overwrite"], "unknown option `--overwrite`");
    assert!(!refused(&["record", "--foo", "true"], "unknown option `--foo`").contains("-- --foo"));
    refused(&["stat", "--repaet", "3", "true"], "a similar option is `--repeat`");
    refused(&["kmem"], "use `perf kmem`, which reads these recordings, too");
    for command in ["probe", "bench", "kvm", "buildid-cache"] {
        let errors =
            refused(&[command], &format!("perf's `{command}` is not supported: use `perf {command}`"));
        assert!(!errors.contains("recordings"), "{errors}");
    }
    refused(&["inject"], "use `perf inject`, which reads these recordings, too");
    refused(&["report", "a.data", "b.data"], "unexpected argument `b.data`");
    refused(&["--color", "never", "flamegraph", "a.data", "b.data"], "unexpected argument `b.data`");
    let errors = refused(&["dump", "a.data", "b.data"], "unexpected argument `b.data`");
    assert!(!errors.contains("-i FILE"), "{errors}");
}

#[test]
fn wrong_numbers_are_refused_in_plain_words() {
    for (arguments, expected) in [
        (["record", "-F", "0", "true"], "samples per second"),
        (["record", "-c", "0", "true"], "the events between two samples"),
        (["stat", "-r", "-1", "true"], "a number of runs"),
        (["stat", "-p", "burn", "true"], "expected the id of a process"),
        (["record", "-t", "0", "true"], "expected the id of a thread"),
        (["record", "-m", "0", "true"], "a number of pages"),
        (["record", "--call-graph", "no", "true"], "expected `fp`, `fp,defer`, `dwarf`"),
        (["record", "-j", "all", "true"], "any_call"),
    ] {
        let errors = refused(&arguments, expected);
        assert!(!errors.contains("digit") && !errors.contains("non-zero"), "{errors}");
    }
    refused(
        &["record", "--filter", "x == 1", "-e", "page-faults", "true"],
        "--filter needs a tracepoint before it",
    );
}

#[test]
fn control_characters_of_arguments_are_escaped() {
    let escape = "\u{1b}[31m";
    for arguments in [
        &["record", "-o", "/nonexistent/\u{1b}[31m", "true"][..],
        &["record", "./\u{1b}[31m"],
        &["stat", "-e", "page-faults", "./\u{1b}[31m"],
        &["stat", "-e", "page-faults", "echo", escape],
        &["stat", "-e", escape, "true"],
        &["stat", "-G", escape, "true"],
        &["dump", "/nonexistent/\u{1b}[31m"],
        &["list", escape],
        &[escape],
        &["record", "--\u{1b}[31m"],
    ] {
        let output = perfkit().args(arguments).current_dir("/").stdout(Stdio::null()).output().unwrap();
        assert!(!output.stderr.contains(&0x1b), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn colors_are_not_in_a_pipe_unless_asked_for() {
    let has_escape = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.stderr.is_empty(), "{output:?}");
        output.stdout.contains(&0x1b)
    };
    assert!(!has_escape(&["doctor"]));
    assert!(has_escape(&["doctor", "--color", "always"]));
    assert!(has_escape(&["--color=always", "doctor"]));
    assert!(!has_escape(&["doctor", "--color", "never"]));
    assert!(!has_escape(&["--color", "always", "doctor", "--json"]));
    refused(&["doctor", "--color", "blue"], "[possible values: auto, always, never]");
    // The command's option, not perfkit's.
    let counted = run(&["stat", "-e", "page-faults", "echo", "--color"]);
    assert_eq!(text(&counted.stdout), "--color\n");
}

#[test]
fn recordings_are_for_their_owner_only() {
    let folder = Folder::new();
    let (file, old) = (folder.path("a.data"), folder.path("a.data.old"));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let mut shell = Command::new("sh");
    let script = format!("umask 0; {} record -e task-clock -o \"$0\" true", env!("CARGO_BIN_EXE_perfkit"));
    let output = shell.args(["-c", &script]).arg(&file).output().unwrap();
    if !output.status.success() {
        return crate::support::recording::skip_if_refused(&output);
    }
    assert_eq!((mode(&file), mode(&old)), (0o600, 0o640));
}

#[test]
fn recording_to_a_closed_standard_output_is_an_error() {
    let script = format!("{} record -o - true >&-", env!("CARGO_BIN_EXE_perfkit"));
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let errors = text(&output.stderr);
    assert!(output.status.code() == Some(1) && errors.contains("standard output is closed"), "{errors}");
}

/// Python's `DEVNULL` and `daemon(3)` open it for reading and writing.
#[test]
fn output_that_is_discarded_is_no_error_of_a_command_that_prints() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"sort");
    made.sample(7, 0x1000);
    made.write(&folder.path("perf.data"));
    for words in [
        "dump perf.data",
        "dump --features perf.data",
        "report",
        "report --json",
        "script",
        "diff perf.data perf.data",
        #[cfg(feature = "flamegraph")]
        "flamegraph",
        "list sw",
        "doctor",
        "completions bash",
        "stat -e cpu-clock -a --timeout 10",
        "stat -e cpu-clock true",
        "trace -e sched:sched_switch true",
    ] {
        let script =
            format!("{} {words} 1<>/dev/null 2<>/dev/null </dev/null", env!("CARGO_BIN_EXE_perfkit"));
        let mut command = Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        if !output.status.success() {
            let script = script.replace("<>", ">>").replace("/dev/null 2>>/dev/null", "/dev/null");
            let mut command = Command::new("sh");
            let output = command.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
            let errors = text(&output.stderr);
            assert!(errors.contains("tracefs") || errors.contains("\nremedy "), "{words}: {errors}");
        }
    }
}

#[test]
fn recording_goes_to_a_pipe_unless_a_file_is_named() {
    let folder = Folder::new();
    let mut recorder = perfkit();
    recorder.args(["record", "-e", "task-clock", "echo", "text"]).current_dir(folder.path(""));
    let output = recorder.output().unwrap();
    if !output.status.success() {
        return crate::support::recording::skip_if_refused(&output);
    }
    assert!(perf_file::Reader::from_pipe(&*output.stdout).is_ok(), "{output:?}");
    assert!(text(&output.stderr).contains("text\n"), "{output:?}");
    assert!(!folder.path("perf.data").exists());
}

#[test]
fn failed_output_is_reported_with_its_name_and_the_samples_until_then() {
    let Some(output) = record(&["-e", "task-clock", "-o", "/dev/full", "true"]) else { return };
    let errors = text(&output.stderr);
    assert!(errors.contains("/dev/full: cannot write the "), "{errors}");
    let counted = run(&["stat", "-e", "page-faults", "-o", "/dev/full", "true"]);
    assert!(text(&counted.stderr).contains("/dev/full: No space left"), "{counted:?}");
    // A pipe whose reader exits after some bytes.
    let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let script = format!(
        "{} record -e task-clock -c 20000 -o - sh -c '{burn}' | head -c 5000 >/dev/null",
        env!("CARGO_BIN_EXE_perfkit")
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let errors = text(&output.stderr);
    assert!(
        errors.contains("standard output: cannot write the ") && errors.contains(" until then, "),
        "{errors}"
    );
}

#[test]
fn success_is_one_line() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    let burn = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let arguments = ["-e", "task-clock:u", "-c", "100000", "-o", file.to_str().unwrap(), "sh", "-c", burn];
    let Some(output) = record(&arguments) else { return };
    let errors = text(&output.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains(" samples in ") && errors.contains("none lost"), "{errors}");
    assert!(!errors.contains("side-band") && !errors.contains("os error"), "{errors}");
    let quiet = record(&[&["-q"], &arguments[..]].concat()).unwrap();
    assert_eq!(text(&quiet.stderr), "");
    let none = record(&["-e", "emulation-faults:u", "-o", file.to_str().unwrap(), "true"]).unwrap();
    assert!(text(&none.stderr).contains("nothing was sampled"), "{none:?}");
}

#[test]
fn refused_event_of_a_command_has_a_cause_and_no_thread() {
    let output = run(&["record", "-e", "r00c0", "-o", "/dev/null", "true"]);
    let errors = text(&output.stderr);
    if !output.status.success() {
        assert!(errors.contains("\ncause ") && errors.contains("\nremedy "), "{errors}");
        assert!(!errors.contains("thread ") && !errors.contains("os error"), "{errors}");
    }
}
