use core::fmt;

use zerocopy::FromBytes;

use crate::body::{Body, Parse};
use crate::{Result, word};

/// The user part of callchains that were sampled in the kernel, for events with `defer_output`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 cookie` |
/// | 2 | `u64 nr` |
/// | 3.. | `u64 ips[nr]` |
///
/// It belongs to every earlier sample of the task whose callchain ends in a deferred marker and this
/// cookie. Some samples never get theirs: the task died, the ring was full. Since Linux 6.19.
#[doc(alias = "PERF_RECORD_CALLCHAIN_DEFERRED")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallchainDeferred<'a> {
    /// What the samples are found by; it means nothing else.
    pub cookie: u64,
    /// User addresses, innermost first, without a marker.
    pub ips: &'a [u64],
}

#[derive(FromBytes)]
#[repr(C)]
struct Head {
    cookie: u64,
    nr: u64,
}

impl<'a> Parse<'a> for CallchainDeferred<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (Head { cookie, nr }, ips) = body.head()?;
        Ok(Self { cookie, ips: body.elements(word::bytes(ips), nr, "ips")? })
    }
}

impl fmt::Display for CallchainDeferred<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cookie {:#x} nr {}", self.cookie, self.ips.len())?;
        self.ips.iter().try_for_each(|ip| write!(f, " {ip:#x}"))
    }
}
