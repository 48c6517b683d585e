use super::{Content, Features};
use crate::format::Feature;

/// Cores, packages and dies, for [`Features::set_cpu_topology`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTopology {
    /// The list of CPUs of each package, such as `0-3`.
    pub packages: Vec<String>,
    /// The list of CPUs of each core.
    pub cores: Vec<String>,
    /// The list of CPUs of each die; empty if the machine does not report dies.
    pub dies: Vec<String>,
    /// Core, package and die of each CPU up to the highest that is present; `None` if it is offline.
    pub cpus: Vec<Option<[u32; 3]>>,
}

/// A node for [`Features::set_numa_nodes`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaNode {
    /// Number of the node.
    pub node: u32,
    /// Memory in kB.
    pub total: u64,
    /// Free memory in kB.
    pub free: u64,
    /// List of its CPUs.
    pub cpus: String,
}

/// The memory blocks of a node, for [`Features::set_memory`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryNode {
    /// Number of the node.
    pub node: u64,
    /// Numbers of its memory blocks.
    pub blocks: Vec<u64>,
}

/// A cache for [`Features::set_caches`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuCache {
    /// Level, from 1.
    pub level: u32,
    /// Length of a line in bytes.
    pub line_size: u32,
    /// Number of sets.
    pub sets: u32,
    /// Associativity.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size, such as `32K`.
    pub size: String,
    /// List of the CPUs that share it.
    pub cpus: String,
}

/// The number that stands for the core or package of a CPU that is offline.
const OFFLINE: u32 = u32::MAX;
/// Bits of the word of a set of memory blocks.
const WORD_BITS: u64 = 64;
/// Memory blocks that are written of a node: 8 MiB of bits are more than any machine needs.
const MAX_BLOCKS: u64 = 1 << 26;

impl Features {
    /// Sets [`Feature::CPU_TOPOLOGY`].
    pub fn set_cpu_topology(&mut self, topology: &CpuTopology) {
        self.fill(Feature::CPU_TOPOLOGY, |content| {
            content.list(&topology.packages);
            content.list(&topology.cores);
            for cpu in &topology.cpus {
                let [core, package, _] = cpu.unwrap_or([OFFLINE; 3]);
                content.u32(core);
                content.u32(package);
            }
            if !topology.dies.is_empty() {
                content.list(&topology.dies);
                for cpu in &topology.cpus {
                    let [_, _, die] = cpu.unwrap_or([OFFLINE; 3]);
                    content.u32(die);
                }
            }
        });
    }

    /// Sets [`Feature::NUMA_TOPOLOGY`].
    pub fn set_numa_nodes(&mut self, nodes: &[NumaNode]) {
        self.fill(Feature::NUMA_TOPOLOGY, |content| {
            content.count(nodes.len());
            for node in nodes {
                content.u32(node.node);
                content.u64(node.total);
                content.u64(node.free);
                content.text(&node.cpus);
            }
        });
    }

    /// Sets [`Feature::MEM_TOPOLOGY`]: the size of a memory block in bytes, and the blocks of each node.
    /// Blocks from 67108864 on are left out.
    pub fn set_memory(&mut self, block_size: u64, nodes: &[MemoryNode]) {
        self.fill(Feature::MEM_TOPOLOGY, |content| {
            content.u64(1); // version
            content.u64(block_size);
            content.u64(nodes.len() as u64);
            for node in nodes {
                content.u64(node.node);
                push_blocks(content, &node.blocks);
            }
        });
    }

    /// Sets [`Feature::CACHE`].
    pub fn set_caches(&mut self, caches: &[CpuCache]) {
        self.fill(Feature::CACHE, |content| {
            content.u32(1); // version
            content.count(caches.len());
            for cache in caches {
                for number in [cache.level, cache.line_size, cache.sets, cache.ways] {
                    content.u32(number);
                }
                for text in [&cache.kind, &cache.size, &cache.cpus] {
                    content.text(text);
                }
            }
        });
    }
}

/// Appends a set of memory blocks: its length in bits, twice, and its words.
fn push_blocks(content: &mut Content, blocks: &[u64]) {
    let blocks = || blocks.iter().copied().filter(|block| *block < MAX_BLOCKS);
    let bits = blocks().max().map_or(0, |highest| highest + 1);
    let mut words = vec![0_u64; bits.div_ceil(WORD_BITS) as usize];
    for block in blocks() {
        if let Some(word) = words.get_mut((block / WORD_BITS) as usize) {
            *word |= 1 << (block % WORD_BITS);
        }
    }
    content.u64(bits);
    content.u64(bits);
    for word in words {
        content.u64(word);
    }
}
