//! The example with samples of this machine.

#![allow(clippy::unwrap_used)] // a failure fails the test

#[allow(dead_code)] // its `main`
#[path = "../examples/all_cpus.rs"]
mod all_cpus;

use std::io;
use std::process::Command;
use std::time::Duration;

/// Periods in which a busy program must have been on a CPU.
const PERIODS: usize = 600;

#[test]
fn program_that_runs_already_has_names() {
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let mut periods = Vec::new();
    // The shell is usually stripped, so that its functions are called by their file.
    let has_file = |line: &str| line.starts_with("sh;") && (line.contains("+0x") || line.contains(";["));
    let is_named = |text: &String| text.lines().any(has_file);
    let ended = all_cpus::run(Duration::from_millis(100), |text| {
        periods.push(String::from_utf8_lossy(text).into_owned());
        let is_over = periods.last().is_some_and(is_named) || periods.len() >= PERIODS;
        if is_over { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    busy.kill().unwrap();
    busy.wait().unwrap();
    if periods.is_empty() {
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{ended:?}");
        return eprintln!("skipped: {ended:?}");
    }
    assert!(periods.last().is_some_and(is_named), "{periods:#?}");
}
