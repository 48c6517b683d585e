//! A second process that reads a pinned map: the last or the next agent.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The path of the pinned map, in the environment of the process.
const PATH: &str = "PK_AGENT_MAP";

/// A process that reads the map at a path.
pub(crate) struct Agent(Child, BufReader<ChildStdout>);

impl Agent {
    /// Runs the ignored test `test` of this binary as a process, and waits until its reader is
    /// open.
    pub(crate) fn start(test: &str, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(PATH, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Self(child, lines);
        agent.line_with("ready");
        agent
    }

    /// Reads lines of the process to the one with this word.
    fn line_with(&mut self, word: &str) -> String {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(self.1.read_line(&mut line).unwrap(), 0, "the process ended without {word}");
        }
        line
    }

    /// Lets the process read, drop its reader and end, and returns the number of records that it
    /// got.
    pub(crate) fn stop(mut self) -> u64 {
        self.0.stdin.take().unwrap().write_all(b"stop\n").unwrap();
        let records = self.line_with("records ").trim().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(self.0.wait().unwrap().success());
        records
    }

    /// Kills the process, so that it closes nothing itself.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Returns the path of the map that this process reads, or `None` if it is not an [`Agent`].
pub(crate) fn path() -> Option<PathBuf> {
    std::env::var_os(PATH).map(PathBuf::from)
}

/// The process of an [`Agent`] after it has opened its reader. `read` returns the number of
/// records.
pub(crate) fn run(read: impl FnOnce() -> u64) {
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("records {}", read());
}
