//! Running `perfkit dump`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    /// Lines of standard output.
    pub(crate) lines: Vec<String>,
    /// Lines of standard error.
    pub(crate) errors: Vec<String>,
}

impl Run {
    /// Returns the lines as JSON.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Returns whether the exit code is 0 and standard error is empty.
    pub(crate) fn is_clean(&self) -> bool {
        (self.code, self.errors.len()) == (Some(0), 0)
    }

    /// Returns whether the exit code is 1 and standard error has one line.
    pub(crate) fn has_one_error(&self) -> bool {
        (self.code, self.errors.len()) == (Some(1), 1)
    }
}

fn lines(output: Vec<u8>) -> Vec<String> {
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

/// Returns `perfkit dump`.
pub(crate) fn perfkit() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfkit"));
    command.arg("dump");
    command
}

/// Dumps a `perf.data` file.
pub(crate) fn dump_file(file: &Path, more: &[&str]) -> Run {
    run(perfkit().arg(file).args(more))
}

/// Dumps standard input, which is a file or a pipe.
pub(crate) fn dump_stdin(stdin: Stdio, more: &[&str]) -> Run {
    run(perfkit().arg("-").args(more).stdin(stdin))
}

fn run(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run { code: output.status.code(), lines: lines(output.stdout), errors: lines(output.stderr) }
}

/// Dumps a `perf.data` file to a pipe that is closed after `count` lines.
pub(crate) fn dump_to_closed_pipe(file: &Path, count: usize, more: &[&str]) -> Run {
    let mut command = perfkit();
    command.arg(file).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    // Drops `out`, which closes the pipe.
    let read = out.lines().take(count).map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    Run { code: output.status.code(), lines: read, errors: lines(output.stderr) }
}
