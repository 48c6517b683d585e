//! Runtimes that name their functions: `doctor --process`, `jit` and `record --jit`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::{Child, Command, Output};

use crate::support::recording::{Folder, perfkit, record};

/// Process whose program has the name of a runtime: a copy of `sleep`.
struct Named(Child);

impl Named {
    fn start(folder: &Folder, name: &str) -> Self {
        let program = folder.path(name);
        fs::copy("/bin/sleep", &program).unwrap();
        Self(Command::new(program).arg("600").spawn().unwrap())
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = perfkit().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

#[test]
fn process_of_a_runtime_without_names_has_the_remedy() {
    let folder = Folder::new();
    let node = Named::start(&folder, "node");
    let (code, out, _) = run(&["doctor", "--process", &node.id()]);
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("Node.js") && out.contains("start it with NODE_OPTIONS='--perf-basic-prof"),
        "{out}"
    );
    let python = Named::start(&folder, "python3.14");
    let (_, out, _) = run(&["doctor", "--json", "--process", &python.id()]);
    assert!(out.contains("Python 3.14") && out.contains(&format!("perfkit jit {}", python.id())), "{out}");
    let (_, out, _) = run(&["doctor", "--process", &std::process::id().to_string()]);
    assert!(out.contains("compiled ahead of time") && out.contains("in its files"), "{out}");
}

#[test]
fn process_that_cannot_name_its_functions_has_the_reason() {
    let folder = Folder::new();
    let node = Named::start(&folder, "node");
    let (code, _, errors) = run(&["jit", &node.id()]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("start it with NODE_OPTIONS"), "{errors}");
    // The program that hands over the script is the process' own, which here knows no such option.
    let python = Named::start(&folder, "python3.14");
    let (code, out, errors) = run(&["jit", &python.id()]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{errors}");
    assert!(errors.contains("python3.14: exit status: 1"), "{errors}");
    let left = format!("perfkit-{}-", python.id());
    let is_left = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&left);
    assert!(!fs::read_dir("/tmp").unwrap().flatten().any(is_left));
    let (code, _, errors) = run(&["jit", &std::process::id().to_string()]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("none of the runtimes"), "{errors}");
    let (code, _, errors) = run(&["jit", &u32::MAX.to_string()]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("No such file"), "{errors}");
}

#[test]
fn command_gets_the_variables_that_name_functions() {
    let folder = Folder::new();
    let data = folder.path("jit.data");
    let script = "test \"$PYTHONPERFSUPPORT\" = 1 && test \"$DOTNET_PerfMapEnabled\" = 1 || exit 9";
    let arguments = ["--jit", "-e", "task-clock", "-o", data.to_str().unwrap(), "sh", "-c", script];
    let Some(output) = record(&arguments) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("set for the command: PYTHONPERFSUPPORT=1"), "{errors}");
    assert_eq!(run(&["record", "--jit", "-a"]).0, Some(2), "no command");
}
