//! Runs the sorted soak example for two seconds.

#![allow(clippy::unwrap_used)] // also in shared functions

#[allow(dead_code)] // its `main`
#[path = "../examples/sorted_soak.rs"]
mod sorted_soak;

use std::time::Duration;

#[test]
fn every_record_of_all_cpus_is_delivered_or_lost_and_disorder_is_counted() {
    if cfg!(target_pointer_width = "32") {
        return eprintln!("skipped: its tracepoints do not fire for 32-bit tasks");
    }
    let outcome = match sorted_soak::run(Duration::from_secs(2), 16) {
        Ok(outcome) => outcome,
        Err(refused) => {
            assert!(std::env::var_os("PERFKIT_REQUIRE_LIVE").is_none(), "{refused}");
            return eprintln!("skipped: {refused}");
        }
    };
    println!("{outcome}");
    assert!(outcome.is_exact(), "{outcome}");
    assert!(outcome.lost > 0 && outcome.delivered > 0, "{outcome}");
}
