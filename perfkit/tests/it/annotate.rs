//! Tests of `perfkit annotate`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit};

/// A program of one function, whose code is in the first page of its file.
const SOURCE: &str = "void _start(void)\n{\n    volatile long n = 0;\n    for (;;)\n        n += 3;\n}\n";

/// Makes the program and a recording of it with three samples at the first instruction of `_start`;
/// `None` without a C compiler.
fn recorded(folder: &Folder) -> Option<()> {
    fs::write(folder.path("loop.c"), SOURCE).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O1", "-nostdlib", "-static", "-Wl,-z,noseparate-code", "-Wl,--build-id", "-o"]);
    compiler.arg(folder.path("loop")).arg(folder.path("loop.c"));
    if !compiler.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no C compiler");
        return None;
    }
    let program = fs::read(folder.path("loop")).unwrap();
    let entry = u64::from_le_bytes(program[24..32].try_into().unwrap());
    let mut made = Made::new();
    made.comm(10, b"loop");
    let path = folder.path("loop");
    // The first segment begins at a whole page, and has the start of the file.
    made.map(10, entry & !0xfff, path.to_str().unwrap().as_bytes(), None);
    for _ in 0..3 {
        made.sample(10, entry);
    }
    made.write(&folder.path("perf.data"));
    Some(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn annotate(folder: &Folder, arguments: &[&str]) -> Output {
    perfkit().args(["annotate", "-i"]).arg(folder.path("perf.data")).args(arguments).output().unwrap()
}

#[test]
fn instructions_have_their_samples_source_lines_and_jumps() {
    let folder = Folder::new();
    let Some(()) = recorded(&folder) else { return };
    for arguments in [&[][..], &["_start"], &["-s", "_start", "-M", "intel", "--stdio2"]] {
        let output = annotate(&folder, arguments);
        let (printed, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && errors.is_empty(), "{output:?}");
        assert!(printed.contains("# cpu-clock: 3 samples, 0.000 s, 100.00 % of the event\n"), "{printed}");
        // Without a build id in the recording, the file may be another one.
        assert!(printed.contains("known by its path alone"), "{printed}");
        let rows: Vec<_> = printed.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows.iter().filter(|row| row.contains('%') && row.contains("100.00%")).count(), 1);
        assert!(rows.iter().any(|row| row.contains("loop.c:5  n += 3;")), "{printed}");
        assert!(printed.contains("►") && printed.contains("└"), "{printed}");
    }
    let quiet = annotate(&folder, &["-q", "--no-source"]);
    assert!(!text(&quiet.stdout).contains("loop.c") && !text(&quiet.stdout).contains('#'), "{quiet:?}");
}

#[test]
fn each_key_of_the_json_is_documented() {
    let folder = Folder::new();
    let Some(()) = recorded(&folder) else { return };
    let output = annotate(&folder, &["--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let function = &value["functions"][0];
    let instructions = function["instructions"].as_array().unwrap();
    assert_eq!((&instructions[0]["samples"], &function["total"]["samples"]), (&3.into(), &3.into()));
    assert!(instructions.iter().any(|instruction| instruction["jump"].is_number()), "{value}");
    let mut at = instructions[0]["address"].as_u64().unwrap();
    for instruction in instructions {
        assert_eq!(instruction["address"], at);
        at += instruction["length"].as_u64().unwrap();
    }
    let document =
        |name| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name));
    let documents = document("annotate-json.md").unwrap() + &document("report-json.md").unwrap();
    for object in [&value, function, &instructions[0], &value["event"]] {
        for key in object.as_object().unwrap().keys() {
            assert!(documents.contains(&format!("| `{key}` |")), "docs/annotate-json.md has no `{key}`");
        }
    }
}

#[test]
fn function_without_code_is_an_error_with_its_reason() {
    let folder = Folder::new();
    let Some(()) = recorded(&folder) else { return };
    let missing = annotate(&folder, &["_stat"]);
    let errors = text(&missing.stderr);
    assert_eq!(missing.status.code(), Some(1));
    assert!(errors.contains("no sample is in a function _stat; the nearest is _start"), "{errors}");
    fs::remove_file(folder.path("loop")).unwrap();
    let gone = annotate(&folder, &["_start"]);
    let errors = text(&gone.stderr);
    assert!(errors.contains("samples have an address without a name"), "{errors}");
}
