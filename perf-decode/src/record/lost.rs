use core::fmt;

use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};

/// The ring was full and records were dropped; written with the next record that found room.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 id` |
/// | 2 | `u64 lost` |
///
/// What is lost after the last record that fitted shows only in a read with `PERF_FORMAT_LOST`.
/// Since Linux 2.6.31.
#[doc(alias = "PERF_RECORD_LOST")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct Lost {
    /// Id of the event whose record found room, not of the one that lost.
    pub id: u64,
    /// Records of any kind dropped from the ring since the last such record.
    pub lost: u64,
}

impl Parse<'_> for Lost {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lost {} (id {})", self.lost, self.id)
    }
}
