//! CPUs, caches and memory of the machine.

use super::{FileError, System, cpu_file};

/// The file `/proc/cpuinfo`, whose lines are a name and a value; the names differ by architecture.
#[derive(Clone, Debug, Default)]
pub struct CpuInfo(String);

impl CpuInfo {
    /// Returns the value of the first line with a name, such as `model name`.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
    }
}

/// A cache of some CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuCache {
    /// Level, from 1.
    pub level: u32,
    /// Bytes of a line.
    pub line_size: u32,
    /// Number of sets.
    pub sets: u32,
    /// Lines of a set.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size as text, such as `32K`.
    pub size: String,
    /// The CPUs that share it, as a list.
    pub cpus: String,
}

/// Memory and CPUs that are close to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumaMemory {
    /// Memory in kB.
    pub total: u64,
    /// Memory in kB that is free.
    pub free: u64,
    /// The CPUs as a list.
    pub cpus: String,
}

/// The directory of NUMA nodes.
const NODES: &str = "/sys/devices/system/node";

/// # The machine
impl System {
    /// Returns what the kernel writes about the CPUs. It asks each CPU for its frequency, so read it once.
    ///
    /// # Errors
    ///
    /// `/proc/cpuinfo` cannot be read.
    pub fn cpu_info(&self) -> Result<CpuInfo, FileError> {
        self.read("/proc/cpuinfo").map(CpuInfo)
    }

    /// Returns the register MIDR of arm64, which identifies the first CPU; `None` on other architectures.
    pub fn midr(&self) -> Option<String> {
        self.text(&cpu_file("cpu0/regs/identification/midr_el1"))
    }

    /// Returns a file of the topology of a CPU, such as `core_cpus_list`; `None` if the kernel does not have it or the CPU
    /// is offline.
    pub fn topology_text(&self, cpu: u32, name: &str) -> Option<String> {
        self.text(&cpu_file(&format!("cpu{cpu}/topology/{name}")))
    }

    /// Returns the caches of all CPUs, by level.
    pub fn caches(&self) -> Vec<CpuCache> {
        let mut caches = Vec::new();
        for cpu in self.numbered(&cpu_file(""), "cpu") {
            let folder = cpu_file(&format!("cpu{cpu}/cache"));
            for index in self.numbered(&folder, "index") {
                // CPUs that share a cache describe it in the same words.
                let cache = self.cache(&format!("{folder}/index{index}"));
                caches.extend(cache.filter(|cache| !caches.contains(cache)));
            }
        }
        caches.sort_by_key(|cache: &CpuCache| cache.level);
        caches
    }

    fn cache(&self, folder: &str) -> Option<CpuCache> {
        let number = |name| self.number(format!("{folder}/{name}"), "a number").ok();
        let text = |name| self.text(&format!("{folder}/{name}"));
        Some(CpuCache {
            level: number("level")?,
            line_size: number("coherency_line_size")?,
            sets: number("number_of_sets")?,
            ways: number("ways_of_associativity")?,
            kind: text("type")?,
            size: text("size")?,
            cpus: text("shared_cpu_list")?,
        })
    }

    /// Returns the memory in kB; `None` if `/proc/meminfo` cannot be read.
    pub fn total_memory(&self) -> Option<u64> {
        self.kilobytes("/proc/meminfo", "MemTotal:")
    }

    /// Returns the numbers of the NUMA nodes, ascending.
    pub fn numa_nodes(&self) -> Vec<u32> {
        self.numbered(NODES, "node")
    }

    /// Returns the memory and the CPUs of a NUMA node; `None` if its files cannot be read.
    pub fn numa_memory(&self, node: u32) -> Option<NumaMemory> {
        let file = format!("{NODES}/node{node}/meminfo");
        Some(NumaMemory {
            total: self.kilobytes(&file, "MemTotal:")?,
            free: self.kilobytes(&file, "MemFree:")?,
            cpus: self.text(&format!("{NODES}/node{node}/cpulist"))?,
        })
    }

    /// Returns the numbers of the memory blocks of a NUMA node, ascending.
    pub fn memory_blocks(&self, node: u32) -> Vec<u32> {
        self.numbered(&format!("{NODES}/node{node}"), "memory")
    }

    /// Returns the size of a memory block in bytes; `None` on a machine without such blocks.
    pub fn memory_block_size(&self) -> Option<u64> {
        // In hexadecimal, without a prefix.
        u64::from_str_radix(&self.text("/sys/devices/system/memory/block_size_bytes")?, 16).ok()
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
