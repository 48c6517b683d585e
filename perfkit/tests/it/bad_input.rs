//! Errors and exit codes of `record` and `stat` if something is missing, full, closed or not
//! permitted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::recording::{Folder, perfkit, record};

/// A command that the kernel interrupts often enough for more than 64 KiB of samples.
const BURN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Fails unless a run ended with an exit code and one line of error, which contains a text and no
/// escape sequence.
#[track_caller]
fn one_line(output: &Output, code: i32, expected: &str) {
    let errors = text(&output.stderr);
    assert_eq!((output.status.code(), errors.lines().count()), (Some(code), 1), "{errors}");
    assert!(errors.starts_with("perfkit: ") && errors.contains(expected), "{errors}");
    assert!(!errors.contains('\u{1b}') && !errors.contains("os error"), "{errors}");
}

#[test]
fn command_that_cannot_be_started_exits_as_in_a_shell_and_leaves_the_old_recording() {
    let folder = Folder::new();
    let (file, old) = (folder.path("a.data"), folder.path("a.data.old"));
    let path = file.to_str().unwrap();
    let plain = folder.path("plain");
    fs::write(&plain, "no program").unwrap();
    let Some(_) = record(&["-e", "cpu-clock", "-o", path, "true"]) else { return };
    let before = fs::read(&file).unwrap();
    for (program, code) in [("./no-such\u{1b}[31m-program", 127), (plain.to_str().unwrap(), 126), ("/", 126)]
    {
        let output = record(&["-e", "cpu-clock", "-o", path, program, "-x"]).unwrap();
        one_line(&output, code, if code == 127 { "No such file" } else { "Permission denied" });
        assert!(fs::read(&file).unwrap() == before && !old.exists(), "{program}");
        let counted = perfkit().args(["stat", "-e", "page-faults", program]).output().unwrap();
        one_line(&counted, code, if code == 127 { "No such file" } else { "Permission denied" });
    }
    // A file of counts stays too.
    let (kept, none) = (folder.path("kept.txt"), folder.path("none.txt"));
    fs::write(&kept, "before").unwrap();
    for counts in [&kept, &none] {
        let mut counter = perfkit();
        counter.args(["stat", "-e", "page-faults", "-o"]).arg(counts).arg("/nonexistent");
        one_line(&counter.output().unwrap(), 127, "No such file");
    }
    assert!(fs::read(&kept).unwrap() == b"before" && !none.exists());
    let mut counter = perfkit();
    counter.args(["stat", "-e", "page-faults", "-x", "\\t", "-o"]).arg(&kept).arg("true");
    assert!(counter.output().unwrap().status.success());
    assert!(fs::read_to_string(&kept).unwrap().contains("\t\tpage-faults\t"));
    let new = folder.path("new.data");
    record(&["-e", "cpu-clock", "-o", new.to_str().unwrap(), "/nonexistent"]).unwrap();
    assert!(!new.exists());
}

#[test]
fn signal_of_a_command_is_in_the_exit_code() {
    let folder = Folder::new();
    let file = folder.path("a.data");
    for (signal, code) in [("KILL", 137), ("SEGV", 139), ("TERM", 143)] {
        let script = format!("kill -{signal} $$");
        let arguments = ["-e", "cpu-clock", "-o", file.to_str().unwrap(), "sh", "-c", &script];
        let Some(output) = record(&arguments) else { return };
        one_line(&output, code, " in ");
        let counted = perfkit().args(["stat", "-e", "page-faults", "sh", "-c", &script]).output().unwrap();
        assert_eq!(counted.status.code(), Some(code), "{counted:?}");
    }
}

#[test]
fn process_or_thread_that_is_gone_is_named() {
    let mut child = Command::new("true").spawn().unwrap();
    let gone = child.id().to_string();
    child.wait().unwrap();
    let folder = Folder::new();
    let file = folder.path("a.data");
    for option in ["-p", "-t"] {
        let recorded = perfkit().args(["record", option, &gone, "-o"]).arg(&file).output().unwrap();
        one_line(&recorded, 1, &format!("{gone}: it has exited, or never existed"));
        assert!(!file.exists());
        one_line(&perfkit().args(["stat", option, &gone]).output().unwrap(), 1, &gone);
    }
}

#[test]
fn unknown_event_has_the_nearest_names() {
    for command in ["record", "stat"] {
        let output = perfkit().args([command, "-e", "cylces", "true"]).output().unwrap();
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.starts_with("perfkit: unknown event `cylces`, the nearest name"), "{errors}");
        assert!(errors.contains("cycles"), "{errors}");
        let output = perfkit().args([command, "-e", "cpu-clock,\u{1b}[31mred", "true"]).output().unwrap();
        assert!(output.status.code() == Some(1) && !output.stderr.contains(&0x1b), "{output:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_named_before_the_command_runs() {
    let folder = Folder::new();
    let ran = folder.path("ran");
    let script = format!("touch {}", ran.display());
    let (missing, directory) = ("/nonexistent/\u{1b}[31m.data", folder.path(""));
    for (path, expected) in
        [(missing, "/nonexistent/\\u{1b}[31m.data: No such file"), (directory.to_str().unwrap(), "directory")]
    {
        let arguments = ["-e", "cpu-clock", "-o", path, "sh", "-c", &script];
        let Some(output) = record(&arguments) else { return };
        one_line(&output, 1, expected);
        let counted =
            perfkit().args(["stat", "-e", "page-faults", "-o", path, "sh", "-c", &script]).output().unwrap();
        one_line(&counted, 1, expected);
    }
    assert!(!ran.exists());
}

/// Runs a shell with a file system of 64 KiB at `$0`, whose mount no other process sees. `None` if
/// that is not permitted.
fn with_small_disk(folder: &Path, script: &str) -> Option<Output> {
    let script = format!("mount -t tmpfs -o size=64k none \"$0\" || exit 99; {script}");
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", &script])
        .arg(folder)
        .env("PERFKIT", env!("CARGO_BIN_EXE_perfkit"))
        .output();
    match output {
        Ok(output) if output.status.code() != Some(99) && !text(&output.stderr).contains("unshare") => {
            Some(output)
        }
        other => {
            eprintln!("skipped: {other:?}");
            None
        }
    }
}

#[test]
fn full_disk_is_reported_and_what_was_written_can_be_read() {
    let folder = Folder::new();
    let script = format!(
        "$PERFKIT record -e cpu-clock -c 20000 -o \"$0/a.data\" sh -c '{BURN}'; code=$?; \
         $PERFKIT dump \"$0/a.data\" | grep -c SAMPLE; exit $code"
    );
    let Some(output) = with_small_disk(&folder.path(""), &script) else { return };
    let errors = text(&output.stderr);
    if errors.contains("\nremedy ") {
        return crate::support::recording::skip_if_refused(&output);
    }
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("a.data: cannot write the ") && errors.contains("No space left"), "{errors}");
    assert!(errors.contains(" until then, "), "{errors}");
    let samples = text(&output.stdout).trim().parse::<u64>().unwrap();
    assert!(samples > 0, "{errors}");
}

#[test]
fn recording_that_cannot_begin_on_a_full_disk_leaves_no_file() {
    let folder = Folder::new();
    let script = "head -c 100000 /dev/zero > \"$0/full\" 2>/dev/null; \
        $PERFKIT record -e cpu-clock -o \"$0/full\" true; code=$?; ls \"$0\"; exit $code";
    let Some(output) = with_small_disk(&folder.path(""), script) else { return };
    if text(&output.stderr).contains("\nremedy ") {
        return crate::support::recording::skip_if_refused(&output);
    }
    one_line(&output, 1, "full: cannot write the ");
    // The file that was there has its name, not `full.old`.
    assert_eq!(text(&output.stdout), "full\n");
}

#[test]
fn reader_that_closes_the_pipe_is_an_error_for_a_recording_only() {
    let program = env!("CARGO_BIN_EXE_perfkit");
    let script = format!(
        "{{ {program} record -e cpu-clock -c 20000 -o - sh -c '{BURN}'; echo $? >&3; }} 3>&2 | head -c 10 >/dev/null"
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let errors = text(&output.stderr);
    if errors.contains("\nremedy ") {
        return;
    }
    assert!(errors.contains("standard output: cannot write the ") && errors.ends_with("\n1\n"), "{errors}");
    let script = format!("{{ {program} list; echo $? >&2; }} | head -n 1 >/dev/null");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(text(&output.stderr), "0\n");
}

#[test]
fn recording_is_not_written_to_a_terminal() {
    let command = format!("{} record -e cpu-clock -o - true", env!("CARGO_BIN_EXE_perfkit"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null());
    let Ok(output) = script.output() else { return eprintln!("skipped: no script") };
    let shown = text(&output.stdout);
    if shown.contains("remedy ") {
        return;
    }
    assert!(shown.contains("standard output is a terminal") && output.status.code() == Some(1), "{shown}");
}

#[test]
fn user_without_permission_gets_the_reason_and_a_remedy() {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if !rustix::process::geteuid().is_root() || level.trim().parse::<i32>().unwrap() < 2 {
        return eprintln!("skipped: needs root, to become nobody, and perf_event_paranoid of 2");
    }
    let folder = Folder::new();
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let file = folder.path("a.data");
    let as_nobody = |arguments: &[&str]| {
        let mut command = perfkit();
        command.args(arguments).uid(65534).gid(65534).current_dir(folder.path(""));
        command.output().ok()
    };
    // A folder of another user.
    let Some(output) = as_nobody(&["record", "-e", "cpu-clock:u", "-o", "a.data", "true"]) else {
        return eprintln!("skipped: nobody cannot execute the program");
    };
    one_line(&output, 1, "a.data: Permission denied");
    let counted = as_nobody(&["stat", "-e", "page-faults:u", "-o", file.to_str().unwrap(), "true"]).unwrap();
    one_line(&counted, 1, "a.data: Permission denied");
    for arguments in [
        &["record", "-a", "-o", "/dev/null", "true"][..],
        &["stat", "-a", "true"],
        &["record", "-p", "1", "-o", "/dev/null", "true"],
        &["stat", "-p", "1", "true"],
    ] {
        let output = as_nobody(arguments).unwrap();
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("\ncause ") && errors.contains("\nremedy "), "{arguments:?}: {errors}");
    }
}
