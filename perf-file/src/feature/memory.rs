use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// A NUMA node, from [`Feature::NUMA_TOPOLOGY`](crate::format::Feature::NUMA_TOPOLOGY).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaNode<'a> {
    /// Number of the node.
    pub node: u32,
    /// Its memory in kB.
    pub total: u64,
    /// Its free memory in kB, when the file was written.
    pub free: u64,
    /// List of its CPUs.
    pub cpus: &'a [u8],
}

impl<'a> Read<'a> for NumaNode<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            node: bytes.u32("number of a node")?,
            total: bytes.u64("memory of a node")?,
            free: bytes.u64("free memory of a node")?,
            cpus: bytes.string("CPUs of a node")?,
        })
    }
}

/// The memory blocks of each node, from
/// [`Feature::MEM_TOPOLOGY`](crate::format::Feature::MEM_TOPOLOGY).
#[derive(Clone, Copy, Debug)]
pub struct MemoryTopology<'a> {
    /// Size of a block in bytes.
    pub block_size: u64,
    /// The nodes.
    pub nodes: List<'a, MemoryNode<'a>>,
}

/// The memory blocks of a node.
#[derive(Clone, Copy, Debug)]
pub struct MemoryNode<'a> {
    /// Number of the node.
    pub node: u64,
    /// Number of bits in `blocks`.
    pub bits: u64,
    /// Bits of the blocks that belong to the node; the lowest bit of the first word is block 0.
    pub blocks: List<'a, u64>,
}

impl<'a> MemoryTopology<'a> {
    pub(super) fn parse(bytes: &mut Bytes<'a>) -> Result<Self> {
        let version = bytes.u64("version")?;
        super::version(bytes, version, 1)?;
        let block_size = bytes.u64("size of a memory block")?;
        let nodes = bytes.u64("nodes")?;
        Ok(Self { block_size, nodes: List::take(bytes, nodes, "nodes")? })
    }
}

impl<'a> Read<'a> for MemoryNode<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        let node = bytes.u64("number of a node")?;
        let bits = bytes.u64("memory blocks of a node")?;
        // A bitmap is written with its own number of bits.
        let words = bytes.u64("bits of a node")?.div_ceil(64);
        Ok(Self { node, bits, blocks: List::take(bytes, words, "bits of a node")? })
    }
}
