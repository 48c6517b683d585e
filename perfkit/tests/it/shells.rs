//! `perfkit completions` and `perfkit man`, read by the programs that use them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::recording::{Folder, perfkit};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Runs a program, or prints that it is missing.
fn run_if_there(command: &mut Command) -> Option<Output> {
    let output = command.stdin(Stdio::null()).output();
    if output.is_err() {
        eprintln!("skipped: no {}", command.get_program().to_string_lossy());
    }
    output.ok()
}

/// Writes the script of a shell into a file.
fn script(folder: &Folder, shell: &str) -> std::path::PathBuf {
    let output = perfkit().args(["completions", shell]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let file = folder.path(shell);
    fs::write(&file, output.stdout).unwrap();
    file
}

#[test]
fn completions_have_the_options_and_no_hidden_command() {
    let folder = Folder::new();
    for shell in SHELLS {
        let text = fs::read_to_string(script(&folder, shell)).unwrap();
        assert!(text.contains("call-graph") && text.contains("doctor"), "{shell}");
        assert!(!text.contains("workload"), "{shell}");
    }
}

#[test]
fn shells_accept_their_completions() {
    let folder = Folder::new();
    for shell in ["bash", "fish", "zsh"] {
        let script = script(&folder, shell);
        let Some(output) = run_if_there(Command::new(shell).arg("-n").arg(script)) else { continue };
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
}

#[test]
fn bash_completes_a_command_and_its_options() {
    let folder = Folder::new();
    let script = script(&folder, "bash");
    let complete = |words: &[&str]| {
        let (word, before) = words.split_last().unwrap();
        let text = format!(
            "source {}; COMP_WORDS=(perfkit {} '{word}'); COMP_CWORD={}; _perfkit perfkit '{word}' '{}'; \
             echo \"${{COMPREPLY[@]}}\"",
            script.display(),
            before.join(" "),
            words.len(),
            before.last().unwrap_or(&"perfkit"),
        );
        let output = run_if_there(Command::new("bash").args(["-c", &text]))?;
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    let Some(command) = complete(&["rec"]) else { return };
    assert_eq!(command, "record");
    assert_eq!(complete(&["record", "--call-g"]).unwrap(), "--call-graph");
    assert_eq!(complete(&["stat", "--color", "a"]).unwrap(), "auto always");
}

#[test]
fn unknown_shell_is_refused_with_those_that_are_known() {
    let output = perfkit().args(["completions", "tcsh"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("bash, elvish, fish, powershell, zsh"), "{errors}");
}

#[test]
fn each_command_has_a_manual_page_without_warnings() {
    let folder = Folder::new();
    let pages = folder.path("share/man1");
    let output = perfkit().arg("man").arg(&pages).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let mut names = Vec::new();
    for entry in fs::read_dir(&pages).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        for (program, arguments) in
            [("groff", &["-man", "-ww", "-z", "-Kutf8"][..]), ("mandoc", &["-T", "lint", "-W", "error"])]
        {
            let Some(output) = run_if_there(Command::new(program).args(arguments).arg(&path)) else {
                continue;
            };
            assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
        }
    }
    for name in ["perfkit.1", "perfkit-record.1", "perfkit-stat.1", "perfkit-man.1"] {
        assert!(names.iter().any(|page| page == name), "{names:?}");
    }
    let hidden = |name: &String| name.contains("workload") || name.contains("help");
    assert!(!names.iter().any(hidden), "{names:?}");
    shown_page_has_the_lines_of_the_examples(&pages.join("perfkit-record.1"));
}

fn shown_page_has_the_lines_of_the_examples(page: &Path) {
    let mut man = Command::new("man");
    man.env("MANWIDTH", "90").env("LC_ALL", "C").arg("-l").arg(page);
    let Some(output) = run_if_there(&mut man) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || text.is_empty() {
        // Minimal installations have a man that only says so.
        return eprintln!("skipped: {output:?}");
    }
    for title in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    assert!(text.lines().any(|line| line.trim_start().starts_with("perfkit record -g CMD  ")), "{text}");
}

#[test]
fn pages_that_cannot_be_written_are_one_line() {
    for folder in ["/dev/null/pages", "/proc/pages\u{1b}[31m"] {
        let output = perfkit().args(["man", folder]).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
        assert!(errors.starts_with("perfkit: /") && !errors.contains('\u{1b}'), "{errors}");
    }
}
