use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// Scheduling domains, from [`Feature::CPU_DOMAIN_INFO`](crate::format::Feature::CPU_DOMAIN_INFO).
#[derive(Clone, Copy, Debug)]
pub struct DomainInfo<'a> {
    /// Version of `/proc/schedstat`.
    pub schedstat_version: u32,
    /// Highest number of domains of a CPU.
    pub max_domains: u32,
    /// The CPUs with their domains.
    pub cpus: List<'a, CpuDomains<'a>>,
}

/// The scheduling domains of a CPU.
#[derive(Clone, Copy, Debug)]
pub struct CpuDomains<'a> {
    /// Number of the CPU.
    pub cpu: u32,
    /// Its domains, the smallest first.
    pub domains: List<'a, Domain<'a>>,
}

/// A scheduling domain of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain<'a> {
    /// Level, from 0.
    pub number: u32,
    /// Name, such as `MC`; empty before version 17 of `/proc/schedstat`.
    pub name: &'a [u8],
    /// The CPUs as a mask, as `/proc/schedstat` prints it.
    pub mask: &'a [u8],
    /// The CPUs as a list.
    pub cpus: &'a [u8],
}

/// The first version whose domains have names.
const NAMED: u32 = 17;

impl<'a> DomainInfo<'a> {
    pub(super) fn parse(bytes: &mut Bytes<'a>) -> Result<Self> {
        let schedstat_version = bytes.u32("version of schedstat")?;
        let max_domains = bytes.u32("number of domains")?;
        bytes.set_context(schedstat_version);
        Ok(Self { schedstat_version, max_domains, cpus: List::take_all(bytes)? })
    }
}

impl<'a> Read<'a> for CpuDomains<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self { cpu: bytes.u32("CPU of domains")?, domains: super::counted(bytes, "domains")? })
    }
}

impl<'a> Read<'a> for Domain<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        let number = bytes.u32("number of a domain")?;
        if bytes.context() < NAMED {
            return Ok(Self { number, name: b"", mask: b"", cpus: b"" });
        }
        Ok(Self {
            number,
            name: bytes.string("name of a domain")?,
            mask: bytes.string("mask of a domain")?,
            cpus: bytes.string("CPUs of a domain")?,
        })
    }
}
