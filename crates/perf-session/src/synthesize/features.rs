//! The feature sections that describe the machine.

use perf_file::FeatureData;
use perf_file::feature::{
    CacheLevel, CoreId, CpuCount, CpuTopology, Dies, MemoryNode, MemoryTopology, NumaNode, PmuMapping,
};
use perf_file::format::Feature;
use perf_file::writer::Features;

use crate::System;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";
const PMUS: &str = "/sys/bus/event_source/devices";

/// Keys of `/proc/cpuinfo` with the name of the CPU, by architecture: x86, arm, powerpc, riscv, s390.
const CPU_NAMES: [&str; 5] = ["model name", "Processor", "cpu", "uarch", "vendor_id"];

/// Memory blocks that are written of a node: 8 MiB of bits are more than any machine needs.
const MAX_BLOCKS: u32 = 1 << 26;

/// The bytes of each string.
fn all(strings: &[String]) -> Vec<&[u8]> {
    strings.iter().map(String::as_bytes).collect()
}

/// Returns what `/proc` and `/sys` report about the machine: host name, kernel release, architecture,
/// CPUs and their topology and caches, memory, NUMA nodes and PMUs. A section whose files are missing
/// is left out.
pub fn machine_features(system: &System) -> Features {
    let mut features = Features::new();
    // Read once: the kernel asks each CPU for its frequency while it writes this file.
    let cpu_info = system.read("/proc/cpuinfo").unwrap_or_default();
    let cpu_name = CPU_NAMES.into_iter().find_map(|key| value(&cpu_info, key));
    let texts = [
        (Feature::HOSTNAME, system.text("/proc/sys/kernel/hostname")),
        (Feature::OSRELEASE, system.text("/proc/sys/kernel/osrelease")),
        // As `uname -m` prints it. The file is there since Linux 6.1.
        (
            Feature::ARCH,
            system.text("/proc/sys/kernel/arch").or_else(|| Some(std::env::consts::ARCH.to_owned())),
        ),
        (Feature::CPUDESC, cpu_name.map(ToOwned::to_owned)),
        (Feature::CPUID, system.cpu_id(&cpu_info)),
    ];
    for (feature, text) in texts {
        if let Some(text) = text {
            features.set(feature, &FeatureData::Text(text.as_bytes()));
        }
    }
    if let Some(kilobytes) = system.kilobytes("/proc/meminfo", "MemTotal:") {
        features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(kilobytes));
    }
    system.add_cpus(&mut features);
    system.add_caches(&mut features);
    system.add_nodes(&mut features);
    system.add_pmus(&mut features);
    features
}

impl System {
    /// Returns the id of the CPU as the perf tool writes it: vendor, family, model and stepping on x86, the
    /// register MIDR on arm64.
    fn cpu_id(&self, info: &str) -> Option<String> {
        if let Some(midr) = self.text(&format!("{CPUS}/cpu0/regs/identification/midr_el1")) {
            return Some(midr);
        }
        let fields = ["vendor_id", "cpu family", "model", "stepping"].map(|key| value(info, key));
        Some(fields.into_iter().collect::<Option<Vec<&str>>>()?.join(","))
    }

    fn add_cpus(&self, features: &mut Features) {
        let list = |name: &str| self.cpu_list(&format!("{CPUS}/{name}"));
        let (Ok(present), Ok(online)) = (list("present"), list("online")) else { return };
        let available = present.iter().last().map_or(0, |highest| highest + 1);
        let count = CpuCount { available, online: online.len() as u32 };
        features.set(Feature::NRCPUS, &FeatureData::CpuCount(count));

        let [mut packages, mut cores, mut die_lists] = [const { Vec::<String>::new() }; 3];
        let (mut ids, mut die_ids) = (Vec::new(), Vec::new());
        for cpu in 0..available {
            let file = |name: &str| self.text(&format!("{CPUS}/cpu{cpu}/topology/{name}"));
            let lists = [
                // The second name is the one of kernels before 5.3.
                (&mut packages, file("package_cpus_list").or_else(|| file("core_siblings_list"))),
                (&mut cores, file("core_cpus_list").or_else(|| file("thread_siblings_list"))),
                (&mut die_lists, file("die_cpus_list")),
            ];
            for (lists, list) in lists {
                // CPUs of one core, package or die have the same list.
                lists.extend(list.filter(|list| !lists.contains(list)));
            }
            // An offline CPU has no such file, and the kernel writes -1 for an unknown number.
            let number = |name| file(name).and_then(|text| text.parse().ok()).unwrap_or(-1);
            ids.push(CoreId { core: number("core_id"), package: number("physical_package_id") });
            die_ids.push(u32::from_ne_bytes(number("die_id").to_ne_bytes()));
        }
        if cores.is_empty() {
            return;
        }
        let (packages, cores, die_lists) = (all(&packages), all(&cores), all(&die_lists));
        let dies = Dies { lists: die_lists.as_slice().into(), ids: die_ids.as_slice().into() };
        let dies = Some(dies).filter(|dies| !dies.lists.is_empty());
        let topology = CpuTopology::new(&packages, &cores, &ids, dies);
        features.set(Feature::CPU_TOPOLOGY, &FeatureData::CpuTopology(topology));
    }

    fn add_caches(&self, features: &mut Features) {
        let mut caches = Vec::new();
        for cpu in self.numbered(CPUS, "cpu") {
            let folder = format!("{CPUS}/cpu{cpu}/cache");
            for index in self.numbered(&folder, "index") {
                // CPUs that share a cache describe it in the same words.
                let cache = self.cache(&format!("{folder}/index{index}"));
                caches.extend(cache.filter(|cache| !caches.contains(cache)));
            }
        }
        caches.sort_by_key(|(numbers, _)| numbers[0]);
        let caches: Vec<CacheLevel<'_>> = caches
            .iter()
            .map(|([level, line_size, sets, ways], texts)| {
                let [kind, size, cpus] = texts.each_ref().map(String::as_bytes);
                CacheLevel {
                    level: *level,
                    line_size: *line_size,
                    sets: *sets,
                    ways: *ways,
                    kind,
                    size,
                    cpus,
                }
            })
            .collect();
        if !caches.is_empty() {
            features.set(Feature::CACHE, &FeatureData::Caches(caches.as_slice().into()));
        }
    }

    /// Returns level, bytes of a line, sets and ways of a cache, and its type, size and CPUs.
    fn cache(&self, folder: &str) -> Option<([u32; 4], [String; 3])> {
        let number = |name| self.number(format!("{folder}/{name}"), "a number").ok();
        let text = |name| self.text(&format!("{folder}/{name}"));
        Some((
            [
                number("level")?,
                number("coherency_line_size")?,
                number("number_of_sets")?,
                number("ways_of_associativity")?,
            ],
            [text("type")?, text("size")?, text("shared_cpu_list")?],
        ))
    }

    fn add_nodes(&self, features: &mut Features) {
        let nodes = self.numbered(NODES, "node");
        let described: Vec<_> = nodes.iter().filter_map(|node| self.numa_node(*node)).collect();
        let numa: Vec<NumaNode<'_>> = described
            .iter()
            .map(|(node, [total, free], cpus)| NumaNode {
                node: *node,
                total: *total,
                free: *free,
                cpus: cpus.as_bytes(),
            })
            .collect();
        if !numa.is_empty() {
            features.set(Feature::NUMA_TOPOLOGY, &FeatureData::NumaNodes(numa.as_slice().into()));
        }

        let blocks = |node: &u32| bitmap(&self.numbered(&format!("{NODES}/node{node}"), "memory"));
        let bitmaps: Vec<(u64, Vec<u64>)> = nodes.iter().map(blocks).collect();
        let memory: Vec<MemoryNode<'_>> = nodes
            .iter()
            .zip(&bitmaps)
            .map(|(node, (bits, words))| MemoryNode {
                node: (*node).into(),
                bits: *bits,
                blocks: words.as_slice().into(),
            })
            .collect();
        // In hexadecimal, without a prefix.
        let size = self.text("/sys/devices/system/memory/block_size_bytes");
        let size = size.and_then(|size| u64::from_str_radix(&size, 16).ok());
        if let Some(block_size) = size.filter(|_| !memory.is_empty()) {
            let topology = MemoryTopology { block_size, nodes: memory.as_slice().into() };
            features.set(Feature::MEM_TOPOLOGY, &FeatureData::MemoryTopology(topology));
        }
    }

    /// Returns a node, its total and free memory in kB, and the list of its CPUs.
    fn numa_node(&self, node: u32) -> Option<(u32, [u64; 2], String)> {
        let file = format!("{NODES}/node{node}/meminfo");
        let memory = [self.kilobytes(&file, "MemTotal:")?, self.kilobytes(&file, "MemFree:")?];
        Some((node, memory, self.text(&format!("{NODES}/node{node}/cpulist"))?))
    }

    fn add_pmus(&self, features: &mut Features) {
        let pmu = |name: String| Some((self.number(format!("{PMUS}/{name}/type"), "a number").ok()?, name));
        let names = self.list(PMUS).unwrap_or_default();
        let mut pmus: Vec<(u32, String)> = names.into_iter().filter_map(pmu).collect();
        pmus.sort_unstable();
        let pmus: Vec<PmuMapping<'_>> =
            pmus.iter().map(|(kind, name)| PmuMapping { kind: *kind, name: name.as_bytes() }).collect();
        if !pmus.is_empty() {
            features.set(Feature::PMU_MAPPINGS, &FeatureData::PmuMappings(pmus.as_slice().into()));
        }
    }

    /// Returns the text of a file without white space around it; `None` if it cannot be read.
    fn text(&self, absolute: &str) -> Option<String> {
        Some(self.read(absolute).ok()?.trim().to_owned())
    }

    /// Returns the number after a key, in kB.
    fn kilobytes(&self, path: &str, key: &str) -> Option<u64> {
        let text = self.read(path).ok()?;
        let (_, rest) = text.split_once(key)?;
        rest.split_whitespace().next()?.parse().ok()
    }

    /// Returns the numbers after a prefix in the names of a folder, ascending: `cpu0`, `cpu1`, ...
    fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let names = self.list(folder).unwrap_or_default();
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Returns a set of memory blocks: its length in bits and its words.
fn bitmap(blocks: &[u32]) -> (u64, Vec<u64>) {
    let blocks = || blocks.iter().copied().filter(|block| *block < MAX_BLOCKS);
    let bits = blocks().max().map_or(0, |highest| highest + 1);
    let mut words = vec![0_u64; bits.div_ceil(u64::BITS) as usize];
    for block in blocks() {
        if let Some(word) = words.get_mut((block / u64::BITS) as usize) {
            *word |= 1 << (block % u64::BITS);
        }
    }
    (bits.into(), words)
}

/// Returns the value of the first line `key : value`.
fn value<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    };
    info.lines().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_blocks_are_bits() {
        assert_eq!(bitmap(&[0, 65, u32::MAX]), (66, vec![1, 2]));
        assert_eq!(bitmap(&[]), (0, vec![]));
    }
}
