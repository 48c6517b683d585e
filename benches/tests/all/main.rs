//! All consumers of a workload read the same values, and the crates of this project read them
//! without allocating.

mod allocations;
mod decoders;
mod interchange;
mod perf_data;
mod samplers;
mod steady;

/// Returns the event, or prints why it cannot be opened. With `PERFKIT_REQUIRE_LIVE=1` it fails
/// instead, because these tests run on every machine.
#[track_caller]
fn open_or_skip<T, E: std::fmt::Display>(opened: Result<T, E>) -> Option<T> {
    let failed = |error: E| {
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{error}");
        eprintln!("skipped: {error}");
    };
    opened.map_err(failed).ok()
}
