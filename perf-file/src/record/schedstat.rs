use crate::Result;
use crate::bytes::Bytes;

/// Scheduler statistics of a CPU or of one of its scheduling domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_schedstat_cpu")]
#[doc(alias = "perf_record_schedstat_domain")]
pub struct Schedstat<'a> {
    /// Time of the reading.
    pub timestamp: u64,
    /// Number of the CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// The domain; `None` for the statistics of the CPU itself.
    pub domain: Option<u16>,
    /// The counters, in the byte order of the file. Their layout depends on the version.
    pub counters: &'a [u8],
}

impl<'a> Schedstat<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>, is_domain: bool) -> Result<Self> {
        let (timestamp, cpu, version) = (body.u64("timestamp")?, body.u32("cpu")?, body.u16("version")?);
        let domain = body.u16("domain")?;
        Ok(Self { timestamp, cpu, version, domain: is_domain.then_some(domain), counters: body.rest() })
    }
}
