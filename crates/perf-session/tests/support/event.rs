//! Single events.

use perf_session::EventSpec;
use perf_session::ring::{Errno, Event, Target};

use super::{skip, skip_in_any_case};

/// Opens the event. If it is not permitted, or this machine does not have it, prints the reason and
/// returns `None`.
///
/// With `PERFKIT_REQUIRE_LIVE=1` in the environment, a missing permission fails the test.
#[track_caller]
pub(crate) fn open_or_skip(spec: &EventSpec, target: Target<'_>) -> Option<Event> {
    let error = match Event::open(&spec.attr(), target) {
        Ok(event) => return Some(event),
        Err(error) => error,
    };
    match error.errno() {
        Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV) => skip_in_any_case(error),
        Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS) => skip(error),
        _ => panic!("{}: {error}", spec.label()),
    }
    None
}
