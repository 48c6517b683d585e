//! The feature sections: what a tool writes about the machine and the recording.

use crate::bytes::Bytes;
use crate::format::Feature;
use crate::record::BuildId;
use crate::{ByteOrder, List, Result};

mod bpf;
mod cache;
mod clock;
mod cpus;
mod domains;
mod event_desc;
mod memory;
mod pmu;
mod small;
mod table;
mod tracing_data;

pub use bpf::{BpfProgram, Btf};
pub use cache::CacheLevel;
pub use clock::ClockData;
pub use cpus::{CoreId, CpuCount, CpuTopology, Dies};
pub use domains::{CpuDomains, Domain, DomainInfo};
pub use event_desc::EventDesc;
pub use memory::{MemoryNode, MemoryTopology, NumaNode};
pub use pmu::{Capability, HybridPmu, PmuCapabilities, PmuMapping};
pub use small::{AuxtraceIndex, Compression, ElfMachine, GroupDesc, SampleTime};
pub(crate) use table::FeatureTable;
pub use tracing_data::{FormatText, TraceSystem, TracingData};

/// A feature section as it is in the file.
#[derive(Clone, Copy, Debug)]
pub struct FeatureSection<'a> {
    /// The feature.
    pub feature: Feature,
    /// The content.
    pub bytes: &'a [u8],
    order: ByteOrder,
    offset: u64,
}

/// The content of a feature section. Strings are the raw bytes before their NUL.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FeatureData<'a> {
    /// [`Feature::TRACING_DATA`].
    TracingData(TracingData<'a>),
    /// [`Feature::BUILD_ID`].
    BuildIds(List<'a, BuildId<'a>>),
    /// [`Feature::HOSTNAME`], [`Feature::OSRELEASE`], [`Feature::VERSION`], [`Feature::ARCH`],
    /// [`Feature::CPUDESC`] and [`Feature::CPUID`].
    Text(&'a [u8]),
    /// [`Feature::NRCPUS`].
    CpuCount(CpuCount),
    /// [`Feature::TOTAL_MEM`], in kB.
    TotalMemory(u64),
    /// [`Feature::CMDLINE`]: the path of the tool and its arguments.
    CommandLine(List<'a, &'a [u8]>),
    /// [`Feature::EVENT_DESC`].
    Events(List<'a, EventDesc<'a>>),
    /// [`Feature::CPU_TOPOLOGY`].
    CpuTopology(CpuTopology<'a>),
    /// [`Feature::NUMA_TOPOLOGY`].
    NumaNodes(List<'a, NumaNode<'a>>),
    /// [`Feature::BRANCH_STACK`] and [`Feature::STAT`]: markers without content.
    Marker,
    /// [`Feature::PMU_MAPPINGS`].
    PmuMappings(List<'a, PmuMapping<'a>>),
    /// [`Feature::GROUP_DESC`].
    Groups(List<'a, GroupDesc<'a>>),
    /// [`Feature::AUXTRACE`].
    Auxtrace(List<'a, AuxtraceIndex>),
    /// [`Feature::CACHE`].
    Caches(List<'a, CacheLevel<'a>>),
    /// [`Feature::SAMPLE_TIME`].
    SampleTime(SampleTime),
    /// [`Feature::MEM_TOPOLOGY`].
    MemoryTopology(MemoryTopology<'a>),
    /// [`Feature::CLOCKID`]: resolution of the clock in ns.
    ClockResolution(u64),
    /// [`Feature::DIR_FORMAT`]: version of the directory's format.
    DirectoryFormat(u64),
    /// [`Feature::BPF_PROG_INFO`].
    BpfPrograms(List<'a, BpfProgram<'a>>),
    /// [`Feature::BPF_BTF`].
    Btf(List<'a, Btf<'a>>),
    /// [`Feature::COMPRESSED`].
    Compression(Compression),
    /// [`Feature::CPU_PMU_CAPS`].
    CpuPmuCapabilities(List<'a, Capability<'a>>),
    /// [`Feature::CLOCK_DATA`].
    ClockData(ClockData),
    /// [`Feature::HYBRID_TOPOLOGY`].
    HybridPmus(List<'a, HybridPmu<'a>>),
    /// [`Feature::PMU_CAPS`].
    PmuCapabilities(List<'a, PmuCapabilities<'a>>),
    /// [`Feature::CPU_DOMAIN_INFO`].
    CpuDomains(DomainInfo<'a>),
    /// [`Feature::E_MACHINE`].
    ElfMachine(ElfMachine),
    /// [`Feature::CLN_SIZE`]: length of a cache line in bytes.
    CacheLineSize(u32),
    /// A feature that this crate does not know.
    Unknown(&'a [u8]),
}

impl<'a> FeatureSection<'a> {
    pub(crate) const fn new(feature: Feature, bytes: &'a [u8], order: ByteOrder, offset: u64) -> Self {
        Self { feature, bytes, order, offset }
    }

    #[cfg(feature = "std")]
    pub(crate) const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the offset of the content, in bytes from the start of the file.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Parses the content. Trailing bytes are ignored, because newer tools append fields.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if a field is past the end of the section,
    /// [`Reason::Unsupported`](crate::Reason::Unsupported) for a version that this crate does not
    /// know.
    pub fn data(&self) -> Result<FeatureData<'a>> {
        use FeatureData as Data;
        let mut bytes = Bytes::new(self.bytes, self.order, self.offset);
        let bytes = &mut bytes;
        Ok(match self.feature {
            Feature::TRACING_DATA => Data::TracingData(TracingData::parse(self.bytes, self.offset)?),
            Feature::BUILD_ID => Data::BuildIds(BuildId::list(bytes)?),
            Feature::HOSTNAME
            | Feature::OSRELEASE
            | Feature::VERSION
            | Feature::ARCH
            | Feature::CPUDESC
            | Feature::CPUID => Data::Text(bytes.string("string")?),
            Feature::NRCPUS => Data::CpuCount(CpuCount::parse(bytes)?),
            Feature::TOTAL_MEM => Data::TotalMemory(bytes.u64("memory")?),
            Feature::CMDLINE => Data::CommandLine(counted(bytes, "arguments")?),
            Feature::EVENT_DESC => Data::Events(EventDesc::list(bytes)?),
            Feature::CPU_TOPOLOGY => Data::CpuTopology(CpuTopology::parse(bytes)?),
            Feature::NUMA_TOPOLOGY => Data::NumaNodes(counted(bytes, "nodes")?),
            Feature::BRANCH_STACK | Feature::STAT => Data::Marker,
            Feature::PMU_MAPPINGS => Data::PmuMappings(counted(bytes, "PMUs")?),
            Feature::GROUP_DESC => Data::Groups(counted(bytes, "groups")?),
            Feature::AUXTRACE => Data::Auxtrace(AuxtraceIndex::list(bytes)?),
            Feature::CACHE => Data::Caches(CacheLevel::list(bytes)?),
            Feature::SAMPLE_TIME => Data::SampleTime(SampleTime::parse(bytes)?),
            Feature::MEM_TOPOLOGY => Data::MemoryTopology(MemoryTopology::parse(bytes)?),
            Feature::CLOCKID => Data::ClockResolution(bytes.u64("resolution")?),
            Feature::DIR_FORMAT => Data::DirectoryFormat(bytes.u64("version")?),
            Feature::BPF_PROG_INFO => Data::BpfPrograms(counted(bytes, "programs")?),
            Feature::BPF_BTF => Data::Btf(counted(bytes, "BTF objects")?),
            Feature::COMPRESSED => Data::Compression(Compression::parse(bytes)?),
            Feature::CPU_PMU_CAPS => Data::CpuPmuCapabilities(counted(bytes, "capabilities")?),
            Feature::CLOCK_DATA => Data::ClockData(ClockData::parse(bytes)?),
            Feature::HYBRID_TOPOLOGY => Data::HybridPmus(counted(bytes, "PMUs")?),
            Feature::PMU_CAPS => Data::PmuCapabilities(counted(bytes, "PMUs")?),
            Feature::CPU_DOMAIN_INFO => Data::CpuDomains(DomainInfo::parse(bytes)?),
            Feature::E_MACHINE => Data::ElfMachine(ElfMachine::parse(bytes)?),
            Feature::CLN_SIZE => Data::CacheLineSize(bytes.u32("cache line")?),
            _ => Data::Unknown(self.bytes),
        })
    }
}

/// Takes a list after its number of entries, a `u32`.
fn counted<'a, T: crate::list::Entry<'a>>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<List<'a, T>> {
    let count = bytes.u32(what)?;
    List::take(bytes, count.into(), what)
}

/// Takes a version and checks that it is a known one.
fn version(bytes: &mut Bytes<'_>, version: u64, known: u64) -> Result<()> {
    if version == known { Ok(()) } else { Err(bytes.unsupported("version", version)) }
}

#[cfg(test)]
mod tests;
