//! `perfkit dump` as its users run it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What one run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<String>,
    pub(crate) complaints: Vec<String>,
}

impl Run {
    /// The lines as JSON.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Whether nothing was wrong.
    pub(crate) fn is_clean(&self) -> bool {
        (self.code, self.complaints.len()) == (Some(0), 0)
    }

    /// Whether it ended as programs do that meet damage: with one line that says so.
    pub(crate) fn complained_once(&self) -> bool {
        (self.code, self.complaints.len()) == (Some(1), 1)
    }
}

fn lines(output: Vec<u8>) -> Vec<String> {
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

fn command(file: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfkit"));
    command.arg("dump").arg("--ring").arg(file).args(more);
    command
}

/// Dumps a file.
pub(crate) fn dump(file: &Path, more: &[&str]) -> Run {
    let output = command(file, more).output().unwrap();
    Run { code: output.status.code(), lines: lines(output.stdout), complaints: lines(output.stderr) }
}

/// Dumps a file for a reader who leaves after `count` lines, or before the first.
pub(crate) fn left_early(file: &Path, count: usize, more: &[&str]) -> Run {
    let mut child = command(file, more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    // This uses up `out`, which closes the pipe.
    let read = out.lines().take(count).map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    Run { code: output.status.code(), lines: read, complaints: lines(output.stderr) }
}

/// Writes `bytes` to a file of this name, which no other test may use, and dumps it.
pub(crate) fn dump_bytes(name: &str, bytes: &[u8], more: &[&str]) -> Run {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    dump(&path, more)
}

/// The records of a file that nothing is wrong with.
pub(crate) fn sound(name: &str, bytes: &[u8]) -> Vec<Value> {
    let run = dump_bytes(name, bytes, &["--json"]);
    assert!(run.is_clean(), "{name}: {run:?}");
    run.records()
}

/// As [`sound`], the fields alone.
pub(crate) fn fields(name: &str, bytes: &[u8]) -> Vec<Value> {
    sound(name, bytes).iter_mut().map(|record| record["fields"].take()).collect()
}
