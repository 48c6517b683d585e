use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// Type and name of a PMU, from [`Feature::PMU_MAPPINGS`](crate::format::Feature::PMU_MAPPINGS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmuMapping<'a> {
    /// The attr's type.
    pub kind: u32,
    /// Name of the PMU.
    pub name: &'a [u8],
}

impl<'a> Read<'a> for PmuMapping<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self { kind: bytes.u32("type of a PMU")?, name: bytes.string("name of a PMU")? })
    }
}

/// A capability of a PMU, as in its folder `caps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability<'a> {
    /// Name, such as `max_precise`.
    pub name: &'a [u8],
    /// Value, such as `3`.
    pub value: &'a [u8],
}

impl<'a> Read<'a> for Capability<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            name: bytes.string("name of a capability")?,
            value: bytes.string("value of a capability")?,
        })
    }
}

/// A PMU of a hybrid CPU, from
/// [`Feature::HYBRID_TOPOLOGY`](crate::format::Feature::HYBRID_TOPOLOGY).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybridPmu<'a> {
    /// Name, such as `cpu_core`.
    pub name: &'a [u8],
    /// List of its CPUs.
    pub cpus: &'a [u8],
}

impl<'a> Read<'a> for HybridPmu<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self { name: bytes.string("name of a PMU")?, cpus: bytes.string("CPUs of a PMU")? })
    }
}

/// The capabilities of a PMU, from [`Feature::PMU_CAPS`](crate::format::Feature::PMU_CAPS).
#[derive(Clone, Copy, Debug)]
pub struct PmuCapabilities<'a> {
    /// The capabilities.
    pub capabilities: List<'a, Capability<'a>>,
    /// Name of the PMU.
    pub name: &'a [u8],
}

impl<'a> Read<'a> for PmuCapabilities<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            capabilities: super::counted(bytes, "capabilities")?,
            name: bytes.string("name of a PMU")?,
        })
    }
}
