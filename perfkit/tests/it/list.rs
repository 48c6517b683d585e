//! `perfkit list` and `perfkit doctor` on the running system.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use serde_json::Value;

fn perfkit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_perfkit")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn generic_events_are_listed_with_their_aliases() {
    let listed = text(&perfkit(&["list"]));
    for word in ["Hardware events", "instructions", "context-switches", "or cs", "L1-dcache-load-misses"] {
        assert!(listed.contains(word), "{word} in {listed}");
    }
    let filtered = perfkit(&["list", "page-f*"]);
    assert_eq!(text(&filtered).lines().filter(|line| line.starts_with("  ")).count(), 1);
    assert!(filtered.status.success());
}

/// Runs the program as a user without capabilities; `None`, with the reason, if that is not
/// possible.
fn unprivileged(arguments: &[&str]) -> Option<Output> {
    let nobody = 65534;
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfkit"));
    match command.args(arguments).uid(nobody).gid(nobody).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: cannot run as another user: {error}");
            None
        }
    }
}

#[test]
fn list_of_nothing_says_why() {
    let Some(output) = unprivileged(&["list", "sched"]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    // If users may read tracefs, the tracepoints are listed.
    if output.stdout.is_empty() {
        assert!(errors.contains("perfkit: Tracepoints: /sys/kernel/"), "{errors}");
        assert!(errors.contains("no event matches `sched`"), "{errors}");
    }
}

#[test]
fn check_falls_back_to_user_space_as_stat_does() {
    let Some(output) = unprivileged(&["list", "page-faults", "--check"]) else { return };
    let listed = text(&output);
    assert!(listed.lines().any(|line| line.starts_with("  ok  page-faults")), "{listed}");
}

#[test]
fn heading_of_events_that_do_not_open_has_the_reason() {
    let listed = text(&perfkit(&["list", "hw"]));
    let checked = text(&perfkit(&["list", "cycles", "--check"]));
    let opens = checked.lines().any(|line| line.starts_with("  ok  cycles"));
    assert_eq!(listed.starts_with("Hardware events:"), opens, "{listed} {checked}");
    assert_eq!(listed.starts_with("Hardware events (do not open here: "), !opens, "{listed} {checked}");
}

#[test]
fn forms_of_events_are_listed_and_found_by_other_words() {
    for (word, form) in [("raw", "rHEX"), ("breakpoint", "mem:ADDR"), ("uprobe:", "uprobe:FILE:FUNCTION")] {
        assert!(text(&perfkit(&["list", word])).contains(form), "{word}");
    }
    let checked = text(&perfkit(&["list", "form", "--check", "--json"]));
    assert!(!checked.is_empty() && !checked.contains("opens"), "{checked}");
}

#[test]
fn filter_without_a_match_is_a_failure() {
    let output = perfkit(&["list", "no-such-event"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-event"));
}

#[test]
fn each_checked_event_opens_or_has_a_reason() {
    let output = perfkit(&["list", "sw", "--check", "--json"]);
    let events: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 12, "{output:?}");
    for event in &events {
        assert!(event["opens"] == true || event["reason"].is_string(), "{event}");
    }
}

#[test]
fn doctor_explains_everything_that_is_not_ok() {
    let output = perfkit(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let abilities = report["abilities"].as_array().unwrap();
    let is_refused = |ability: &Value| ability["state"] == "refused";
    for ability in abilities {
        assert!(ability["state"] == "ok" || !ability["reason"].as_str().unwrap().is_empty(), "{ability}");
    }
    let expected = i32::from(abilities.iter().any(is_refused));
    assert_eq!(output.status.code(), Some(expected), "{report}");
    assert!(report["system"]["kernel"].is_string());
    assert!(text(&perfkit(&["doctor"])).contains("count own tasks in user space"));
}

#[test]
fn doctor_prints_each_reason_once_and_short_facts() {
    let mut reports = vec![text(&perfkit(&["doctor"]))];
    reports.extend(unprivileged(&["doctor"]).map(|output| text(&output)));
    for report in reports {
        let (facts, _) = report.split_once("Tried").unwrap();
        // A path and a remedy may be longer than the value of a fact.
        let longest = facts.lines().filter(|line| !line.contains('/')).map(str::len).max();
        assert!(longest < Some(100), "{report}");
        let mut causes: Vec<_> = report.lines().filter(|line| line.starts_with("  cause ")).collect();
        let count = causes.len();
        causes.sort_unstable();
        causes.dedup();
        assert_eq!(causes.len(), count, "{report}");
    }
}
