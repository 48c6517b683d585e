//! `perfkit list` and `perfkit doctor` on the running system.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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
    for word in ["Hardware events:", "instructions", "context-switches", "or cs", "L1-dcache-load-misses"] {
        assert!(listed.contains(word), "{word} in {listed}");
    }
    let filtered = perfkit(&["list", "page-f*"]);
    assert_eq!(text(&filtered).lines().filter(|line| line.starts_with("  ")).count(), 1);
    assert!(filtered.status.success());
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
