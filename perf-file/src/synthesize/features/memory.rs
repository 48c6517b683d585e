use super::Host;
use crate::writer::{Features, MemoryNode, NumaNode};

const NODES: &str = "/sys/devices/system/node";

impl Host {
    pub(super) fn add_memory(&self, features: &mut Features) {
        let nodes = self.numbered(NODES, "node");
        let numa: Vec<NumaNode> = nodes.iter().filter_map(|node| self.numa_node(*node)).collect();
        if !numa.is_empty() {
            features.set_numa_nodes(&numa);
        }
        // In hexadecimal, without a prefix.
        let size = self.text("/sys/devices/system/memory/block_size_bytes");
        let size = size.and_then(|size| u64::from_str_radix(&size, 16).ok());
        let blocks = |node: &u32| MemoryNode {
            node: u64::from(*node),
            blocks: self
                .numbered(&format!("{NODES}/node{node}"), "memory")
                .into_iter()
                .map(u64::from)
                .collect(),
        };
        let memory: Vec<MemoryNode> = nodes.iter().map(blocks).collect();
        if let Some(size) = size.filter(|_| !memory.is_empty()) {
            features.set_memory(size, &memory);
        }
    }

    fn numa_node(&self, node: u32) -> Option<NumaNode> {
        let file = format!("{NODES}/node{node}/meminfo");
        Some(NumaNode {
            node,
            total: self.kilobytes(&file, "MemTotal:")?,
            free: self.kilobytes(&file, "MemFree:")?,
            cpus: self.text(format!("{NODES}/node{node}/cpulist"))?,
        })
    }
}
