//! The whole time of threads: on a CPU, ready for one, and waiting.

mod spans;
mod wait_kind;
mod wall_time;

pub use spans::{Span, SpanKind, ThreadSpans};
pub use wait_kind::wait_kind;
pub use wall_time::WallTime;
#[cfg(feature = "perf-data")]
pub(crate) use wall_time::{CountedTimes, correct_waits};
