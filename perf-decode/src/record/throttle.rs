use core::fmt;

use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};

/// Sampling came too fast and was stopped until the next tick (THROTTLE), or goes on (UNTHROTTLE).
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 time` |
/// | 2 | `u64 id` |
/// | 3 | `u64 stream_id` |
///
/// Between the two there are no samples. Since Linux 2.6.31.
#[doc(alias = "PERF_RECORD_THROTTLE")]
#[doc(alias = "PERF_RECORD_UNTHROTTLE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct Throttle {
    /// Nanoseconds of the event's clock.
    pub time: u64,
    /// Id of the opened event.
    pub id: u64,
    /// Id of the event or of the inherited copy that was throttled.
    pub stream_id: u64,
}

impl Parse<'_> for Throttle {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time {} id {} stream_id {}", self.time, self.id, self.stream_id)
    }
}
