//! Live rings and counters. The page faults of a thread are a [stream] of events, and each [sampler](samplers)
//! reads them from its own ring.

mod count;
mod drain;
mod read;
mod samplers;
#[cfg(test)]
mod steady;
mod stream;

pub(crate) use count::count;
pub(crate) use drain::drain;
pub(crate) use read::read;

/// Returns the event, or prints why it cannot be opened. With `PERFKIT_REQUIRE_LIVE=1` that fails, because every
/// machine has what the tests here need.
#[cfg(test)]
#[track_caller]
fn open_or_skip<T, E: std::fmt::Display>(opened: Result<T, E>) -> Option<T> {
    let failed = |error: E| {
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{error}");
        eprintln!("skipped: {error}");
    };
    opened.map_err(failed).ok()
}
