//! Runs the soak example for two seconds.

#![allow(clippy::unwrap_used)] // also in shared functions

#[allow(dead_code)] // its `main`
#[path = "../examples/soak.rs"]
mod soak;

use std::time::Duration;

#[test]
fn every_record_is_delivered_or_counted_as_lost() {
    if cfg!(target_pointer_width = "32") {
        return eprintln!("skipped: its tracepoint does not fire for 32-bit tasks");
    }
    let outcome = match soak::run(Duration::from_secs(2), 1) {
        Ok(outcome) => outcome,
        Err(refused) => {
            assert!(std::env::var_os("PERFKIT_REQUIRE_LIVE").is_none(), "{refused}");
            return eprintln!("skipped: {refused}");
        }
    };
    println!("{outcome}");
    assert!(outcome.is_exact(), "{outcome}");
    assert!(outcome.lost > 0 && outcome.reported > 0 && outcome.delivered > 0, "{outcome}");
}
