use core::fmt;

use perf_abi::AuxFlags;
use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};

/// New data lies in the AUX area, for events whose hardware traces into one.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 aux_offset` |
/// | 2 | `u64 aux_size` |
/// | 3 | `u64 flags` |
///
/// Since Linux 4.1.
#[doc(alias = "PERF_RECORD_AUX")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct Aux {
    /// Where the data starts: bytes, running on for ever; reduce it by the size of the area.
    pub aux_offset: u64,
    /// Bytes of data.
    pub aux_size: u64,
    /// What befell the data.
    pub flags: AuxFlags,
}

impl Parse<'_> for Aux {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for Aux {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {:#x} size {:#x} flags {}", self.aux_offset, self.aux_size, self.flags)
    }
}
