use core::fmt;

use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};

/// The hardware dropped samples before they came to the ring.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 lost` |
///
/// Since Linux 4.2. The perf tool writes the same record into its files for what a read with
/// `PERF_FORMAT_LOST` told it.
#[doc(alias = "PERF_RECORD_LOST_SAMPLES")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct LostSamples {
    /// Samples that may be missing.
    pub lost: u64,
}

impl Parse<'_> for LostSamples {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for LostSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lost {}", self.lost)
    }
}
