//! Runs the soak examples for two seconds each.

#![allow(clippy::unwrap_used)] // also in shared functions

use std::fmt::Display;
use std::time::Duration;

#[allow(dead_code)] // its `main`
#[path = "../examples/soak.rs"]
mod soak;
#[allow(dead_code)] // its `main`
#[path = "../examples/sorted_soak.rs"]
mod sorted_soak;

const TIME: Duration = Duration::from_secs(2);

/// Prints the outcome; `None` if events are not permitted here.
fn outcome<T: Display, E: Display>(run: impl FnOnce() -> Result<T, E>) -> Option<T> {
    if cfg!(target_pointer_width = "32") {
        eprintln!("skipped: its tracepoints do not fire for 32-bit tasks");
        return None;
    }
    match run() {
        Ok(outcome) => {
            println!("{outcome}");
            Some(outcome)
        }
        Err(refused) => {
            assert!(std::env::var_os("PERFKIT_REQUIRE_LIVE").is_none(), "{refused}");
            eprintln!("skipped: {refused}");
            None
        }
    }
}

#[test]
fn every_record_is_delivered_or_counted_as_lost() {
    let Some(outcome) = outcome(|| soak::run(TIME, 1)) else { return };
    assert!(outcome.is_exact(), "{outcome}");
    assert!(outcome.lost > 0 && outcome.reported > 0 && outcome.delivered > 0, "{outcome}");
}

#[test]
fn every_record_of_all_cpus_is_delivered_or_lost_and_disorder_is_counted() {
    let Some(outcome) = outcome(|| sorted_soak::run(TIME, 16)) else { return };
    assert!(outcome.is_exact(), "{outcome}");
    assert!(outcome.lost > 0 && outcome.delivered > 0, "{outcome}");
}
