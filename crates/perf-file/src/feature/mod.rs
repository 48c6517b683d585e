//! The feature sections: what a tool writes about the machine and the recording.

use core::marker::PhantomData;

use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::Feature;
use crate::list::{List, LongList, Read, read_as};
use crate::order::ByteOrder;
#[cfg(any(test, feature = "std"))]
use crate::{encoder::Encoder, list::Write, list::write_as};

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
    AuxtraceIndex, BpfProgram, Btf, ClockData, Compression, EventDesc, GroupDesc, RunTimes, SampleTime,
    ThreadAtStart, ThreadStates,
};
pub(crate) use table::FeatureTable;
pub use tracing_data::{FormatText, TraceSystem, TracingData};

/// A feature section as it is in the file.
#[derive(Clone, Copy, Debug)]
pub struct FeatureSection<'a> {
    /// Number of the feature.
    pub feature: Feature,
    /// The bytes of the section.
    pub bytes: &'a [u8],
    order: ByteOrder,
    offset: u64,
}

/// Declares the contents of the feature sections: the features, the variant with its type, the name
/// in errors and, if the type does not determine it, the form. Reading and writing follow from the
/// rows.
macro_rules! data {
    ($($(#[$doc:meta])* $($feature:ident)|+ => $variant:ident($type:ty) = $what:literal $(in $form:ty)?;)+) => {
        /// The content of a feature section: what [`FeatureSection::data`] reads and
        /// [`Features::set`](crate::writer::Features::set) writes. Strings are the raw bytes before
        /// their NUL.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum FeatureData<'a> {
            $(
                #[doc = concat!($("[`", stringify!($feature), "`](Feature::", stringify!($feature), ") "),+)]
                $(#[$doc])*
                $variant($type),
            )+
            /// [`BRANCH_STACK`](Feature::BRANCH_STACK) and [`STAT`](Feature::STAT): markers without
            /// content.
            Marker,
            /// A feature that this crate does not know.
            Unknown(&'a [u8]),
        }

        impl<'a> FeatureData<'a> {
            fn read(feature: Feature, bytes: &mut Bytes<'a>) -> Result<Self> {
                Ok(match feature {
                    $($(Feature::$feature)|+ => Self::$variant(read_as!(bytes, $what $(, $form)?)),)+
                    Feature::BRANCH_STACK | Feature::STAT => Self::Marker,
                    _ => Self::Unknown(bytes.rest()),
                })
            }
        }

        #[cfg(any(test, feature = "std"))]
        impl Write for FeatureData<'_> {
            fn write(&self, out: &mut Encoder) {
                match self {
                    $(Self::$variant(value) => write_as!(value, out $(, $form)?),)+
                    Self::Marker => {}
                    Self::Unknown(bytes) => {
                        out.bytes(bytes);
                    }
                }
            }
        }
    };
}

data! {
    TRACING_DATA => TracingData(TracingData<'a>) = "tracing data";
    BUILD_ID => BuildIds(List<'a, BuildId<'a>>) = "build id" in build_id::BuildIds;
    /// empty if the tool found nothing.
    HOSTNAME | OSRELEASE | VERSION | ARCH | CPUDESC | CPUID => Text(&'a [u8]) = "string" in Text;
    NRCPUS => CpuCount(CpuCount) = "CPUs";
    /// in kB.
    TOTAL_MEM => TotalMemory(u64) = "memory";
    /// with the path of the tool before its arguments.
    CMDLINE => CommandLine(List<'a, &'a [u8]>) = "arguments";
    EVENT_DESC => Events(List<'a, EventDesc<'a>>) = "events" in recording::Events;
    CPU_TOPOLOGY => CpuTopology(CpuTopology<'a>) = "topology";
    NUMA_TOPOLOGY => NumaNodes(List<'a, NumaNode<'a>>) = "nodes";
    PMU_MAPPINGS => PmuMappings(List<'a, PmuMapping<'a>>) = "PMUs";
    GROUP_DESC => Groups(List<'a, GroupDesc<'a>>) = "groups";
    AUXTRACE => Auxtrace(List<'a, AuxtraceIndex>) = "AUX trace records" in LongList;
    CACHE => Caches(List<'a, CacheLevel<'a>>) = "caches" in Versioned<u32>;
    SAMPLE_TIME => SampleTime(SampleTime) = "times";
    MEM_TOPOLOGY => MemoryTopology(MemoryTopology<'a>) = "memory blocks" in Versioned<u64>;
    /// in ns.
    CLOCKID => ClockResolution(u64) = "resolution";
    /// the version of the directory's format.
    DIR_FORMAT => DirectoryFormat(u64) = "version";
    BPF_PROG_INFO => BpfPrograms(List<'a, BpfProgram<'a>>) = "programs";
    BPF_BTF => Btf(List<'a, Btf<'a>>) = "BTF objects";
    COMPRESSED => Compression(Compression) = "compression";
    CPU_PMU_CAPS => CpuPmuCapabilities(List<'a, PmuCapability<'a>>) = "capabilities";
    CLOCK_DATA => ClockData(ClockData) = "clocks" in Versioned<u32>;
    HYBRID_TOPOLOGY => HybridPmus(List<'a, HybridPmu<'a>>) = "PMUs";
    PMU_CAPS => PmuCapabilities(List<'a, PmuCapabilities<'a>>) = "PMUs";
    CPU_DOMAIN_INFO => CpuDomains(DomainInfo<'a>) = "domains";
    E_MACHINE => ElfMachine(ElfMachine) = "machine";
    /// in bytes.
    CLN_SIZE => CacheLineSize(u32) = "cache line";
    THREAD_STATES => ThreadStates(ThreadStates<'a>) = "threads" in Versioned<u32>;
}

/// The form of a section that is a string. The perf tool of Linux 3.14 leaves the section
/// without a byte where it finds nothing, such as the name of the CPU on ARM.
struct Text;

impl Text {
    fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<&'a [u8]> {
        if bytes.is_empty() { Ok(&[]) } else { Read::read(bytes, what) }
    }

    #[cfg(any(test, feature = "std"))]
    fn write(value: &&[u8], out: &mut Encoder) {
        value.write(out);
    }
}

/// The form of a section that starts with its version, as a number of the type `N`.
struct Versioned<N>(PhantomData<N>);

/// The version of all sections that have one of this form, the only one so far.
const VERSION: u32 = 1;

impl<N> Versioned<N> {
    fn read<'a, T: Read<'a>>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<T>
    where
        N: Read<'a> + Into<u64>,
    {
        let version = N::read(bytes, "version")?.into();
        if version != VERSION.into() {
            return Err(bytes.unsupported("version", version));
        }
        T::read(bytes, what)
    }

    #[cfg(any(test, feature = "std"))]
    fn write<T: Write>(value: &T, out: &mut Encoder)
    where
        N: Write + From<u32>,
    {
        N::from(VERSION).write(out);
        value.write(out);
    }
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
        FeatureData::read(self.feature, &mut Bytes::new(self.bytes, self.order, self.offset))
    }
}

#[cfg(test)]
mod tests;
