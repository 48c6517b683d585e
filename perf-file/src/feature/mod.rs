//! The feature sections: what a tool writes about the machine and the recording.

use crate::bytes::Bytes;
use crate::format::Feature;
use crate::list::Read;
use crate::{ByteOrder, List, Result};
#[cfg(any(test, feature = "std"))]
use crate::{encoder::Encoder, list::Write};

mod build_id;
mod machine;
mod recording;
mod table;
mod tracing_data;

pub use build_id::BuildId;
pub use machine::{
    CacheLevel, CoreId, CpuCount, CpuDomains, CpuTopology, Dies, Domain, DomainInfo, ElfMachine, HybridPmu,
    MemoryNode, MemoryTopology, NumaNode, PmuCapabilities, PmuCapability, PmuMapping,
};
pub use recording::{
    AuxtraceIndex, BpfProgram, Btf, ClockData, Compression, EventDesc, GroupDesc, SampleTime,
};
pub(crate) use table::FeatureTable;
pub use tracing_data::{FormatText, TraceSystem, TracingData};

/// A feature section as it is in the file.
#[derive(Clone, Copy, Debug)]
pub struct FeatureSection<'a> {
    /// Number of the feature.
    pub feature: Feature,
    /// The content.
    pub bytes: &'a [u8],
    order: ByteOrder,
    offset: u64,
}

/// The content of a feature section: what [`FeatureSection::data`] reads and
/// [`Features::set`](crate::writer::Features::set) writes. Strings are the raw bytes before their NUL.
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
    CpuPmuCapabilities(List<'a, PmuCapability<'a>>),
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
            Feature::NRCPUS => Data::CpuCount(Read::read(bytes, "")?),
            Feature::TOTAL_MEM => Data::TotalMemory(bytes.u64("memory")?),
            Feature::CMDLINE => Data::CommandLine(Read::read(bytes, "arguments")?),
            Feature::EVENT_DESC => Data::Events(EventDesc::list(bytes)?),
            Feature::CPU_TOPOLOGY => Data::CpuTopology(Read::read(bytes, "")?),
            Feature::NUMA_TOPOLOGY => Data::NumaNodes(Read::read(bytes, "nodes")?),
            Feature::BRANCH_STACK | Feature::STAT => Data::Marker,
            Feature::PMU_MAPPINGS => Data::PmuMappings(Read::read(bytes, "PMUs")?),
            Feature::GROUP_DESC => Data::Groups(Read::read(bytes, "groups")?),
            Feature::AUXTRACE => {
                let count = bytes.u64("AUX trace records")?;
                Data::Auxtrace(List::take(bytes, count, "AUX trace records")?)
            }
            Feature::CACHE => {
                let version = bytes.u32("version")?;
                check_version(bytes, version.into())?;
                Data::Caches(Read::read(bytes, "caches")?)
            }
            Feature::SAMPLE_TIME => Data::SampleTime(Read::read(bytes, "")?),
            Feature::MEM_TOPOLOGY => Data::MemoryTopology(Read::read(bytes, "")?),
            Feature::CLOCKID => Data::ClockResolution(bytes.u64("resolution")?),
            Feature::DIR_FORMAT => Data::DirectoryFormat(bytes.u64("version")?),
            Feature::BPF_PROG_INFO => Data::BpfPrograms(Read::read(bytes, "programs")?),
            Feature::BPF_BTF => Data::Btf(Read::read(bytes, "BTF objects")?),
            Feature::COMPRESSED => Data::Compression(Read::read(bytes, "")?),
            Feature::CPU_PMU_CAPS => Data::CpuPmuCapabilities(Read::read(bytes, "capabilities")?),
            Feature::CLOCK_DATA => {
                let version = bytes.u32("version")?;
                check_version(bytes, version.into())?;
                Data::ClockData(Read::read(bytes, "")?)
            }
            Feature::HYBRID_TOPOLOGY => Data::HybridPmus(Read::read(bytes, "PMUs")?),
            Feature::PMU_CAPS => Data::PmuCapabilities(Read::read(bytes, "PMUs")?),
            Feature::CPU_DOMAIN_INFO => Data::CpuDomains(Read::read(bytes, "")?),
            Feature::E_MACHINE => Data::ElfMachine(Read::read(bytes, "")?),
            Feature::CLN_SIZE => Data::CacheLineSize(bytes.u32("cache line")?),
            _ => Data::Unknown(self.bytes),
        })
    }
}

#[cfg(any(test, feature = "std"))]
impl FeatureData<'_> {
    /// Writes the content: the bytes that [`FeatureSection::data`] reads. Returns `false` if it cannot be written in
    /// the byte order of `out`.
    pub(crate) fn write(&self, out: &mut Encoder) -> bool {
        match self {
            Self::TracingData(data) => data.write(out),
            Self::BuildIds(ids) => ids.write_entries(out),
            Self::Text(text) => text.write(out),
            Self::CpuCount(count) => count.write(out),
            Self::TotalMemory(number) | Self::ClockResolution(number) | Self::DirectoryFormat(number) => {
                number.write(out);
            }
            Self::CommandLine(arguments) => arguments.write(out),
            Self::Events(events) => EventDesc::write_list(*events, out),
            Self::CpuTopology(topology) => return topology.write(out),
            Self::NumaNodes(nodes) => nodes.write(out),
            Self::Marker => {}
            Self::PmuMappings(pmus) => pmus.write(out),
            Self::Groups(groups) => groups.write(out),
            Self::Auxtrace(index) => {
                out.u64(index.len() as u64);
                index.write_entries(out);
            }
            Self::Caches(caches) => {
                out.u32(VERSION as u32);
                caches.write(out);
            }
            Self::SampleTime(times) => times.write(out),
            Self::MemoryTopology(topology) => topology.write(out),
            Self::BpfPrograms(programs) => programs.write(out),
            Self::Btf(objects) => objects.write(out),
            Self::Compression(compression) => compression.write(out),
            Self::CpuPmuCapabilities(capabilities) => capabilities.write(out),
            Self::ClockData(clocks) => {
                out.u32(VERSION as u32);
                clocks.write(out);
            }
            Self::HybridPmus(pmus) => pmus.write(out),
            Self::PmuCapabilities(pmus) => pmus.write(out),
            Self::CpuDomains(info) => info.write(out),
            Self::ElfMachine(machine) => machine.write(out),
            Self::CacheLineSize(bytes) => bytes.write(out),
            Self::Unknown(bytes) => {
                out.bytes(bytes);
            }
        }
        true
    }
}

/// The version of [`Feature::CACHE`], [`Feature::MEM_TOPOLOGY`] and [`Feature::CLOCK_DATA`], the only one so far.
const VERSION: u64 = 1;

fn check_version(bytes: &Bytes<'_>, version: u64) -> Result<()> {
    if version == VERSION { Ok(()) } else { Err(bytes.unsupported("version", version)) }
}

#[cfg(test)]
mod tests;
