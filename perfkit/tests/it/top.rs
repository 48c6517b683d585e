//! `perfkit top` on the running kernel.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
#[cfg(feature = "tui")]
use std::process::ExitStatus;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::report::keys;
#[cfg(feature = "tui")]
use crate::support::pseudoterminal::Terminal;
use crate::support::recording::{perfkit, skip_if_refused};
use crate::support::running::Burning;

/// Fails unless an object has the version and the keys of `docs/top-json.md`. Another page has the
/// keys of the losses.
#[track_caller]
fn is_documented(object: &Value) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/top-json.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(object["version"] == 1 && page.contains("top --json`, version 1\n"), "{object}");
    let mut object = object.clone();
    object["losses"].take();
    let mut found = Vec::new();
    keys(&object, &mut found);
    let documented = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let documented: BTreeSet<&str> = documented.collect();
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), documented, "docs/top-json.md");
}

/// Printed with the first table. Words further to the left may not be printed in full, because the
/// screen skips characters that equal the previous line, "naming the first functions".
#[cfg(feature = "tui")]
const TABLE: &str = "lost";

/// Starts `perfkit top`.
fn top(arguments: &[&str]) -> Child {
    let mut command = perfkit();
    command.args(["top", "-e", "task-clock", "-c", "1000000", "-d", "0.3"]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn tables_follow_until_the_process_exits() {
    let burning = Burning::new();
    let mut top = top(&["-p", &burning.pid(), "--json", "-s", "pid,comm,sym"]);
    let mut lines = BufReader::new(top.stdout.take().unwrap()).lines();
    let tables: Vec<Value> =
        lines.by_ref().take(3).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    drop(burning);
    let rest = lines.count();
    let output = top.wait_with_output().unwrap();
    if tables.is_empty() {
        return skip_if_refused(&output);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(rest > 0 && errors.contains("exited"), "{errors}");
    let last = tables.last().unwrap();
    is_documented(last);
    assert_eq!(last["sort"], serde_json::json!(["pid", "comm", "sym"]));
    let rows = last["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["comm"] == "sh" && row["events"][0]["self"].as_u64() > Some(0)),
        "{last}"
    );
}

#[test]
fn rows_are_those_of_control_groups() {
    let burning = Burning::new();
    let mut top = top(&["-p", &burning.pid(), "--json", "-s", "cgroup"]);
    let mut lines = BufReader::new(top.stdout.take().unwrap()).lines();
    let table = lines.find_map(|line| {
        let table: Value = serde_json::from_str(&line.unwrap()).unwrap();
        (table["samples"].as_u64() > Some(0)).then_some(table)
    });
    drop((burning, lines));
    let output = top.wait_with_output().unwrap();
    let Some(table) = table else { return skip_if_refused(&output) };
    // Its path in the hierarchy, or `/` without one.
    let cgroup = table["rows"][0]["cgroup"].as_str();
    assert!(cgroup.is_some_and(|path| path.starts_with('/')), "{table} {output:?}");
}

#[test]
fn interrupt_ends_the_tables_of_a_pipe_which_have_no_escape_codes() {
    let burning = Burning::new();
    let mut top = top(&["-p", &burning.pid(), "-n", "-g", "-E", "3"]);
    let mut out = BufReader::new(top.stdout.take().unwrap());
    let mut text = String::new();
    let is_there = out.read_line(&mut text).unwrap() > 0;
    if is_there {
        assert!(Command::new("kill").args(["-INT", &top.id().to_string()]).status().unwrap().success());
    }
    out.read_to_string(&mut text).unwrap();
    let output = top.wait_with_output().unwrap();
    if !is_there {
        return skip_if_refused(&output);
    }
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("# perfkit top: ") && text.contains("Samples"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    for table in text.trim_end().split("\n\n") {
        let rows = table.lines().filter(|line| !line.starts_with('#')).count();
        assert!(rows <= 3, "{table}");
    }
}

#[test]
fn closed_pipe_ends_it_without_an_error() {
    let burning = Burning::new();
    let mut top = top(&["-p", &burning.pid()]);
    let mut line = String::new();
    let is_there = BufReader::new(top.stdout.take().unwrap()).read_line(&mut line).unwrap() > 0;
    let output = top.wait_with_output().unwrap();
    if !is_there {
        return skip_if_refused(&output);
    }
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn process_that_is_not_there_is_one_line() {
    let output = top(&["-p", "2147483647"]).wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.lines().count() == 1 && errors.contains("2147483647"), "{errors}");
}

#[cfg(feature = "tui")]
#[test]
fn signal_ends_it_on_a_terminal_that_is_stopped() {
    let burning = Burning::new();
    for form in [&[][..], &["--stdio"]] {
        let terminal = Terminal::new();
        let mut command = perfkit();
        command.args(["top", "-e", "task-clock", "-c", "1000000", "-d", "0.3", "-p", &burning.pid()]);
        command.args(form).env("TERM", "xterm");
        let mut top = terminal.start(command);
        if !terminal.wait_for(TABLE, &mut top) {
            let (.., text) = terminal.finish(top);
            return eprintln!("skipped: {text}");
        }
        terminal.stop();
        assert!(Command::new("kill").arg(top.id().to_string()).status().unwrap().success());
        let (_, is_plain, _) = terminal.finish(top);
        assert!(is_plain, "{form:?}");
    }
}

/// Runs `perfkit top` on a terminal that hangs up, also while the screen is drawn. Returns the exit
/// status.
#[cfg(feature = "tui")]
fn hung_up(command: &str, wrapper: &[&str], arguments: &[&str]) -> Option<ExitStatus> {
    let terminal = Terminal::new();
    let mut wrapped = Command::new(wrapper[0]);
    wrapped.args(&wrapper[1..]).arg(command).args(arguments).env("TERM", "xterm");
    let mut top = terminal.start(wrapped);
    if !terminal.wait_for(TABLE, &mut top) {
        let (.., text) = terminal.finish(top);
        eprintln!("skipped: {text}");
        return None;
    }
    Some(terminal.hang_up(top))
}

#[cfg(feature = "tui")]
#[test]
fn end_of_the_terminal_ends_the_screen() {
    let burning = Burning::new();
    let arguments = ["top", "-e", "task-clock", "-c", "1000000", "-p", &burning.pid()];
    let program = env!("CARGO_BIN_EXE_perfkit");
    // A terminal that does not control the session, the controlling terminal, whose hang-up sends
    // SIGHUP, and a program that ignores SIGHUP.
    let ignoring = "trap '' HUP; exec \"$0\" \"$@\"";
    for wrapper in [&["env"][..], &["setsid", "--ctty"], &["setsid", "--ctty", "sh", "-c", ignoring]] {
        if Command::new(wrapper[0]).arg("--version").output().is_err() {
            return eprintln!("skipped: there is no {}", wrapper[0]);
        }
        // The second draws nearly all the time, on a terminal that nobody reads.
        for more in [&["-d", "2"][..], &["-d", "0.1"], &["-d", "0.1", "-g"]] {
            let Some(status) = hung_up(program, wrapper, &[&arguments[..], more].concat()) else { return };
            assert!(status.success(), "{wrapper:?} {more:?}: {status}");
        }
    }
}

#[cfg(feature = "tui")]
#[test]
fn signal_ends_the_screen_and_restores_the_terminal() {
    let burning = Burning::new();
    for signal in ["INT", "TERM", "HUP"] {
        let terminal = Terminal::new();
        assert!(terminal.is_plain());
        let mut command = perfkit();
        command.args(["top", "-e", "task-clock", "-c", "1000000", "-d", "0.3", "-p", &burning.pid()]);
        command.env("TERM", "xterm");
        let mut top = terminal.start(command);
        if !terminal.wait_for(TABLE, &mut top) {
            let (.., text) = terminal.finish(top);
            return eprintln!("skipped: {text}");
        }
        assert!(!terminal.is_plain());
        let pid = top.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
        let (status, is_plain, output) = terminal.finish(top);
        assert!(status.success() && is_plain, "{signal}: {status:?} {is_plain}");
        let (_, rest) = output.split_once("\u{1b}[?1049l").expect("the end of the screen");
        assert!(rest.contains("\u{1b}[?25h"), "{signal}: no cursor: {rest}");
    }
}
