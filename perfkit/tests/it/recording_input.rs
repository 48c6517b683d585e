//! Recordings that cannot be read, or arrive slowly: the exit code and the line on standard error.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::support::recording::Folder;
use crate::support::run::{dump_file, dump_stdin, dump_to_closed_pipe, perfkit};

fn path(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data");
    data.join(format!("{name}.data"))
}

/// Returns bytes without a pattern.
fn random_bytes(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[test]
fn file_that_is_no_recording_is_one_line_and_exit_code_1() {
    let folder = Folder::new();
    let whole = fs::read(path("cgroup")).unwrap();
    let escapes = "\u{1b}[31mred\u{7}";
    for (name, bytes, expected) in [
        ("empty", &b""[..], "expected a perf.data file, found no bytes: the file or pipe is empty"),
        ("short", b"PERF", "expected"),
        ("random", &random_bytes(4096), "expected a perf.data file, found \""),
        ("text", b"hello world, this is a text", "expected a perf.data file, found \"hello wo\""),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0", "found a file compressed with gzip; decompress it first"),
        (escapes, b"\x1b]0;title\x07", "found \"\\x1b]0;titl\""),
        ("header", &whole[..60], "expected"),
        ("damaged header", &[&whole[..8], &[0xff; 300]].concat(), "expected"),
    ] {
        let file = folder.path(name);
        fs::write(&file, bytes).unwrap();
        let run = dump_file(&file, &[]);
        assert!(run.has_one_error() && run.lines.is_empty(), "{name}: {run:?}");
        let error = run.errors.first().unwrap();
        assert!(error.starts_with("perfkit: /") && error.contains(expected), "{name}: {error}");
        assert!(!error.contains(char::is_control), "{name}: {error:?}");
    }
}

#[test]
fn path_that_does_not_open_is_one_line_and_exit_code_1() {
    let folder = Folder::new();
    let file = folder.path("a file");
    fs::write(&file, b"").unwrap();
    let nowhere = folder.path("nowhere");
    for (path, expected) in [
        (nowhere.clone(), "nowhere: No such file or directory; `perfkit record` makes a recording"),
        (nowhere.join("perf.data"), "No such file or directory; `perfkit record` makes a recording"),
        (file.join("perf.data"), "Not a directory"),
        (folder.path("."), "expected a file `data` in the directory, found none"),
        (PathBuf::from("/dev/null"), "/dev/null: expected a perf.data file, found no bytes"),
        (PathBuf::from("/dev/zero"), "/dev/zero: expected a perf.data file, found \"\\x00"),
    ] {
        let run = dump_file(&path, &[]);
        assert!(run.has_one_error() && run.lines.is_empty(), "{run:?}");
        assert!(run.errors.first().is_some_and(|line| line.contains(expected)), "{run:?}");
    }
}

#[test]
fn file_without_permission_is_one_line_and_exit_code_1() {
    let folder = Folder::new();
    let file = folder.path("closed.data");
    fs::copy(path("cgroup"), &file).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&file).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    let run = dump_file(&file, &[]);
    assert!(run.has_one_error(), "{run:?}");
    assert!(run.errors.first().is_some_and(|line| line.contains("Permission denied")), "{run:?}");
}

#[test]
fn truncated_recording_is_read_up_to_the_end_of_each_length() {
    let folder = Folder::new();
    for name in ["cgroup", "pipe", "zstd", "sched-raw"] {
        let whole = fs::read(path(name)).unwrap();
        let count = dump_file(&path(name), &["--json"]).lines.len();
        for len in (0..whole.len()).step_by(whole.len() / 12).chain([whole.len() - 1]) {
            let file = folder.path("truncated.data");
            fs::write(&file, &whole[..len]).unwrap();
            for options in [&["--json"][..], &["--json", "--sorted"], &["--flat"]] {
                let run = dump_file(&file, options);
                // A file that lacks only features has all records, and a pipe may end between two.
                assert!(run.is_clean() || run.has_one_error(), "{name} {len}: {run:?}");
                assert!(run.lines.len() <= count + 1, "{name} {len}: {run:?}");
            }
        }
    }
}

#[test]
fn pipe_that_is_written_byte_by_byte_is_read_as_a_whole() {
    for name in ["pipe", "pipe-tracepoint"] {
        let bytes = fs::read(path(name)).unwrap();
        let mut child = perfkit()
            .args(["-i", "-", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = thread::spawn(move || {
            for byte in bytes {
                stdin.write_all(&[byte]).unwrap();
            }
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, perfkit().arg(path(name)).arg("--json").output().unwrap().stdout, "{name}");
    }
}

#[test]
fn named_pipe_is_read_as_standard_input() {
    let folder = Folder::new();
    let fifo = folder.path("fifo");
    if !Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo");
        return;
    }
    for (name, code) in [("pipe", 0), ("cgroup", 1)] {
        let bytes = fs::read(path(name)).unwrap();
        let to = fifo.clone();
        // The reader may close it, because the file form cannot be read from a pipe.
        let writer = thread::spawn(move || drop(File::create(to).unwrap().write_all(&bytes)));
        let run = dump_file(&fifo, &["--json"]);
        writer.join().unwrap();
        assert_eq!(run.code, Some(code), "{run:?}");
        let has_reason = run.errors.iter().any(|line| line.contains("expected the pipe form"));
        assert_eq!(has_reason, code == 1, "{run:?}");
    }
}

#[test]
fn standard_input_has_its_name_in_errors() {
    let run = dump_stdin(File::open("/dev/null").unwrap().into(), &[]);
    assert!(run.has_one_error(), "{run:?}");
    assert!(run.errors.first().is_some_and(|line| line.starts_with("perfkit: standard input: expected ")));
}

#[test]
fn viewer_that_closes_the_pipe_is_no_error() {
    for options in [&["--flat"][..], &["--flat", "--json"], &["-F", "time,stack"], &["--sorted"]] {
        let run = dump_to_closed_pipe(&path("big-stack"), 1, options);
        assert!(run.is_clean() && run.lines.len() == 1, "{options:?}: {run:?}");
    }
}

#[test]
fn progress_is_on_a_terminal_alone() {
    let mut child =
        perfkit().arg(path("big-stack")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty() && !text.contains('\u{1b}'), "{output:?}");
}

#[test]
fn recording_that_comes_through_a_pipe_is_named_by_the_error() {
    let folder = Folder::new();
    let mut command = perfkit();
    command.current_dir(folder.path(".")).stdin(Stdio::piped());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.ends_with("makes a recording, and the name - is standard input\n"), "{errors}");
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("makes a recording\n"), "{output:?}");
}
