//! Sections about the machine: CPUs, memory, PMUs.

use crate::bytes::Bytes;
use crate::error::Result;
use crate::list::{List, LongList, Read, Rest, fields};

#[cfg(any(test, feature = "std"))]
use crate::{encoder::Encoder, list::Write, order::ByteOrder};

fields! {
    /// Numbers of CPUs, from [`Feature::NRCPUS`](crate::format::Feature::NRCPUS).
    pub struct CpuCount {
        /// The highest number of a present CPU, plus 1.
        pub available: u32 = "available CPUs",
        /// CPUs that were online.
        pub online: u32 = "online CPUs",
    }

    /// Core and package of a CPU.
    pub struct CoreId {
        /// Number of the core in its package; -1 if unknown.
        pub core: i32 = "core",
        /// Number of the package; -1 if unknown.
        pub package: i32 = "package",
    }

    /// A CPU cache, from [`Feature::CACHE`](crate::format::Feature::CACHE).
    #[doc(alias = "cpu_cache_level")]
    pub struct CacheLevel<'a> {
        /// Level, from 1.
        pub level: u32 = "level of a cache",
        /// Length of a line in bytes.
        pub line_size: u32 = "line size of a cache",
        /// Number of sets.
        pub sets: u32 = "sets of a cache",
        /// Associativity.
        pub ways: u32 = "ways of a cache",
        /// `Data`, `Instruction` or `Unified`.
        pub kind: &'a [u8] = "type of a cache",
        /// Size as sysfs prints it, such as `32K`.
        pub size: &'a [u8] = "size of a cache",
        /// List of the CPUs that share the cache.
        pub cpus: &'a [u8] = "CPUs of a cache",
    }

    /// A NUMA node, from [`Feature::NUMA_TOPOLOGY`](crate::format::Feature::NUMA_TOPOLOGY).
    pub struct NumaNode<'a> {
        /// Number of the node.
        pub node: u32 = "number of a node",
        /// Its memory in kB.
        pub total: u64 = "memory of a node",
        /// Its free memory in kB, when the file was written.
        pub free: u64 = "free memory of a node",
        /// List of its CPUs.
        pub cpus: &'a [u8] = "CPUs of a node",
    }

    /// Type and name of a PMU, from
    /// [`Feature::PMU_MAPPINGS`](crate::format::Feature::PMU_MAPPINGS).
    pub struct PmuMapping<'a> {
        /// The attr's type.
        pub kind: u32 = "type of a PMU",
        /// Its name, such as `cpu`.
        pub name: &'a [u8] = "name of a PMU",
    }

    /// A capability of a PMU, as in its folder `caps`.
    pub struct PmuCapability<'a> {
        /// Name, such as `max_precise`.
        pub name: &'a [u8] = "name of a capability",
        /// Value, such as `3`.
        pub value: &'a [u8] = "value of a capability",
    }

    /// The capabilities of a PMU, from [`Feature::PMU_CAPS`](crate::format::Feature::PMU_CAPS).
    pub struct PmuCapabilities<'a> {
        /// The entries of `caps` in sysfs.
        pub capabilities: List<'a, PmuCapability<'a>> = "capabilities",
        /// Name of the PMU.
        pub name: &'a [u8] = "name of a PMU",
    }

    /// A PMU of a hybrid CPU, from
    /// [`Feature::HYBRID_TOPOLOGY`](crate::format::Feature::HYBRID_TOPOLOGY).
    pub struct HybridPmu<'a> {
        /// Name, such as `cpu_core`.
        pub name: &'a [u8] = "name of a PMU",
        /// List of its CPUs.
        pub cpus: &'a [u8] = "CPUs of a PMU",
    }

    /// Machine of the host, from [`Feature::E_MACHINE`](crate::format::Feature::E_MACHINE).
    pub struct ElfMachine {
        /// `e_machine` of ELF files: 62 is x86-64, 183 `AArch64`.
        pub machine: u32 = "ELF machine",
        /// `e_flags` of ELF files.
        pub flags: u32 = "ELF flags",
    }

    /// The memory blocks of each node, from
    /// [`Feature::MEM_TOPOLOGY`](crate::format::Feature::MEM_TOPOLOGY).
    pub struct MemoryTopology<'a> {
        /// Size of a block in bytes.
        pub block_size: u64 = "size of a memory block",
        /// The nodes that have memory.
        pub nodes: List<'a, MemoryNode<'a>> = "nodes" in LongList,
    }

    /// Scheduling domains, from
    /// [`Feature::CPU_DOMAIN_INFO`](crate::format::Feature::CPU_DOMAIN_INFO).
    pub struct DomainInfo<'a> {
        /// Version of `/proc/schedstat`.
        pub schedstat_version: u32 = "version of schedstat" in SchedstatVersion,
        /// Highest number of domains of a CPU.
        pub max_domains: u32 = "number of domains",
        /// The CPUs with their domains.
        pub cpus: List<'a, CpuDomains<'a>> = "domains" in Rest,
    }

    /// A scheduling domain of a CPU.
    pub struct Domain<'a> {
        /// Level, from 0.
        pub number: u32 = "number of a domain",
        /// Name, such as `MC`; empty before version 17 of `/proc/schedstat`.
        pub name: &'a [u8] = "name of a domain" in DomainText,
        /// The CPUs as a mask, as `/proc/schedstat` prints it.
        pub mask: &'a [u8] = "mask of a domain" in DomainText,
        /// The CPUs as a list.
        pub cpus: &'a [u8] = "CPUs of a domain" in DomainText,
    }

    /// The scheduling domains of a CPU.
    pub struct CpuDomains<'a> {
        /// Number of the CPU.
        pub cpu: u32 = "CPU of domains",
        /// Its domains, the smallest first.
        pub domains: List<'a, Domain<'a>> = "domains",
    }
}

/// Cores, packages and dies, from [`Feature::CPU_TOPOLOGY`](crate::format::Feature::CPU_TOPOLOGY).
#[derive(Clone, Copy, Debug)]
pub struct CpuTopology<'a> {
    /// Lists of the CPUs of each package.
    pub packages: List<'a, &'a [u8]>,
    /// Lists of the CPUs of each core.
    pub cores: List<'a, &'a [u8]>,
    per_cpu: PerCpu<'a>,
}

/// The end of the section.
#[derive(Clone, Copy, Debug)]
enum PerCpu<'a> {
    /// The number of CPUs, which is in another section, decides where the first part ends.
    Encoded(Bytes<'a>),
    Memory(List<'a, CoreId>, Option<Dies<'a>>),
}

/// The dies of the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dies<'a> {
    /// Lists of the CPUs of each die.
    pub lists: List<'a, &'a [u8]>,
    /// The die of each CPU.
    pub ids: List<'a, u32>,
}

impl<'a> CpuTopology<'a> {
    /// Returns a topology for writing. The lists `ids` and [`Dies::ids`] have an entry for each CPU
    /// up to the highest one that is present, [`CpuCount::available`] entries each.
    #[must_use]
    pub fn new(
        packages: &'a [&'a [u8]],
        cores: &'a [&'a [u8]],
        ids: &'a [CoreId],
        dies: Option<Dies<'a>>,
    ) -> Self {
        Self { packages: packages.into(), cores: cores.into(), per_cpu: PerCpu::Memory(ids.into(), dies) }
    }

    /// Returns core and package of each CPU; empty in files of old tools, before Linux 4.1.
    ///
    /// The section does not contain the number of CPUs, which is [`CpuCount::available`].
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the section has fewer.
    pub fn core_ids(&self, cpus: u32) -> Result<List<'a, CoreId>> {
        match self.per_cpu {
            PerCpu::Encoded(mut rest) => {
                // Old tools end the section before the ids.
                let cpus = if rest.is_empty() { 0 } else { cpus };
                List::take(&mut rest, cpus.into(), "cores of the CPUs")
            }
            PerCpu::Memory(ids, _) => Ok(ids),
        }
    }

    /// Returns the dies; `None` in files of tools before Linux 5.3. For `cpus` see
    /// [`core_ids`](CpuTopology::core_ids).
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the section ends within them.
    pub fn dies(&self, cpus: u32) -> Result<Option<Dies<'a>>> {
        let mut rest = match self.per_cpu {
            PerCpu::Encoded(rest) => rest,
            PerCpu::Memory(_, dies) => return Ok(dies),
        };
        // Core and package of each CPU, two numbers of 4 bytes.
        rest.take(u64::from(cpus) * 8, "cores of the CPUs")?;
        if rest.is_empty() {
            return Ok(None);
        }
        let lists = List::read(&mut rest, "dies")?;
        Ok(Some(Dies { lists, ids: List::take(&mut rest, cpus.into(), "dies of the CPUs")? }))
    }

    /// Returns whether the section can be written in an order: one of the other order cannot be
    /// swapped without the number of CPUs.
    #[cfg(any(test, feature = "std"))]
    pub(crate) fn can_have_order(&self, order: ByteOrder) -> bool {
        match self.per_cpu {
            PerCpu::Encoded(rest) => rest.order() == order,
            PerCpu::Memory(..) => true,
        }
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for CpuTopology<'_> {
    fn write(&self, out: &mut Encoder) {
        self.packages.write(out);
        self.cores.write(out);
        match self.per_cpu {
            PerCpu::Encoded(rest) => {
                out.bytes(rest.rest());
            }
            PerCpu::Memory(ids, dies) => {
                ids.write_entries(out);
                if let Some(dies) = dies {
                    dies.lists.write(out);
                    dies.ids.write_entries(out);
                }
            }
        }
    }
}

impl<'a> Read<'a> for CpuTopology<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        Ok(Self {
            packages: List::read(bytes, "packages")?,
            cores: List::read(bytes, "cores")?,
            per_cpu: PerCpu::Encoded(*bytes),
        })
    }
}

/// The memory blocks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNode<'a> {
    /// Number of the node.
    pub node: u64,
    /// Number of bits in `blocks`.
    pub bits: u64,
    /// Bits of the blocks that belong to the node; the lowest bit of the first word is block 0.
    pub blocks: List<'a, u64>,
}

impl<'a> Read<'a> for MemoryNode<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        let node = bytes.u64("number of a node")?;
        let bits = bytes.u64("memory blocks of a node")?;
        // A bitmap is written with its own number of bits.
        let words = bytes.u64("bits of a node")?.div_ceil(64);
        Ok(Self { node, bits, blocks: List::take(bytes, words, "bits of a node")? })
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for MemoryNode<'_> {
    fn write(&self, out: &mut Encoder) {
        // The bitmap's own number of bits is what its words are counted by.
        let words = self.blocks.len() as u64;
        let own = if self.bits.div_ceil(64) == words { self.bits } else { words * 64 };
        out.u64(self.node).u64(self.bits).u64(own);
        self.blocks.write_entries(out);
    }
}

/// The version of `/proc/schedstat`, which determines the fields of the following domains.
struct SchedstatVersion;

impl SchedstatVersion {
    fn read(bytes: &mut Bytes<'_>, what: &'static str) -> Result<u32> {
        let version = bytes.u32(what)?;
        bytes.set_context(version);
        Ok(version)
    }

    #[cfg(any(test, feature = "std"))]
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "fields of all types are passed like this")]
    fn write(version: &u32, out: &mut Encoder) {
        out.u32(*version).context = *version;
    }
}

/// The form of a text of a domain, which files have since version 17 of `/proc/schedstat`.
struct DomainText;

impl DomainText {
    const SINCE: u32 = 17;

    fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<&'a [u8]> {
        if bytes.context() < Self::SINCE { Ok(b"") } else { bytes.string(what) }
    }

    #[cfg(any(test, feature = "std"))]
    fn write(text: &[u8], out: &mut Encoder) {
        if out.context >= Self::SINCE {
            out.string(text);
        }
    }
}
