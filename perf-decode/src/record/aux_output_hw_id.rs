use core::fmt;

use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};

/// Hardware number by which an event with `aux_output` is known in the AUX data.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 hw_id` |
///
/// The trailer's id names the event. Since Linux 5.16.
#[doc(alias = "PERF_RECORD_AUX_OUTPUT_HW_ID")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct AuxOutputHwId {
    /// The number; its form is the PMU's own.
    pub hw_id: u64,
}

impl Parse<'_> for AuxOutputHwId {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for AuxOutputHwId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hw_id {:#x}", self.hw_id)
    }
}
