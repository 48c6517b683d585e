//! The asynchronous example, run.

#![allow(clippy::unwrap_used)] // also in what the tests share

#[allow(dead_code)] // its `main`
#[path = "../examples/tokio.rs"]
mod example;

#[test]
fn one_task_reads_many_rings_to_their_ends() {
    let samples = match example::watch(6, 20) {
        Ok(samples) => samples,
        Err(refused) => {
            assert!(std::env::var_os("PERFKIT_REQUIRE_LIVE").is_none(), "{refused}");
            return eprintln!("skipped: {refused}");
        }
    };
    assert!(samples.len() == 6 && samples.iter().all(|&samples| samples >= 20), "{samples:?}");
}
