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
    ///
    /// # Errors
    ///
    /// The file exists and cannot be read.
    pub fn midr(&self) -> Result<Option<String>, FileError> {
        self.text(&cpu_file("cpu0/regs/identification/midr_el1"))
    }

    /// Returns a file of the topology of a CPU, such as `core_cpus_list`; `None` if the kernel does not have it or the CPU
    /// is offline.
    ///
    /// # Errors
    ///
    /// The file exists and cannot be read.
    pub fn topology_text(&self, cpu: u32, name: &str) -> Result<Option<String>, FileError> {
        self.text(&cpu_file(&format!("cpu{cpu}/topology/{name}")))
    }

    /// Returns the caches of all CPUs, by level.
    ///
    /// # Errors
    ///
    /// A file or directory exists and cannot be read.
    pub fn caches(&self) -> Result<Vec<CpuCache>, FileError> {
        let mut caches = Vec::new();
        for cpu in self.numbered(&cpu_file(""), "cpu")? {
            let folder = cpu_file(&format!("cpu{cpu}/cache"));
            for index in self.numbered(&folder, "index")? {
                // CPUs that share a cache describe it in the same words.
                let cache = self.cache(&format!("{folder}/index{index}"))?;
                caches.extend(cache.filter(|cache| !caches.contains(cache)));
            }
        }
        caches.sort_by_key(|cache: &CpuCache| cache.level);
        Ok(caches)
    }

    /// Returns the cache of a folder; `None` without one of its files, which some machines lack.
    fn cache(&self, folder: &str) -> Result<Option<CpuCache>, FileError> {
        let number = |name| Self::optional(self.number(format!("{folder}/{name}"), "a number"));
        let text = |name| self.text(&format!("{folder}/{name}"));
        let [level, line_size] = [number("level")?, number("coherency_line_size")?];
        let [sets, ways] = [number("number_of_sets")?, number("ways_of_associativity")?];
        let [kind, size, cpus] = [text("type")?, text("size")?, text("shared_cpu_list")?];
        let cache = || {
            let (level, line_size, sets, ways) = (level?, line_size?, sets?, ways?);
            Some(CpuCache { level, line_size, sets, ways, kind: kind?, size: size?, cpus: cpus? })
        };
        Ok(cache())
    }

    /// Returns the memory in kB; `None` if `/proc/meminfo` does not have it.
    ///
    /// # Errors
    ///
    /// The file exists and cannot be read.
    pub fn total_memory(&self) -> Result<Option<u64>, FileError> {
        self.kilobytes("/proc/meminfo", "MemTotal:")
    }

    /// Returns the numbers of the NUMA nodes, ascending.
    ///
    /// # Errors
    ///
    /// The directory exists and cannot be read.
    pub fn numa_nodes(&self) -> Result<Vec<u32>, FileError> {
        self.numbered(NODES, "node")
    }

    /// Returns the memory and the CPUs of a NUMA node; `None` if the kernel does not have its files.
    ///
    /// # Errors
    ///
    /// A file exists and cannot be read.
    pub fn numa_memory(&self, node: u32) -> Result<Option<NumaMemory>, FileError> {
        let file = format!("{NODES}/node{node}/meminfo");
        let (total, free) = (self.kilobytes(&file, "MemTotal:")?, self.kilobytes(&file, "MemFree:")?);
        let cpus = self.text(&format!("{NODES}/node{node}/cpulist"))?;
        let memory = || Some(NumaMemory { total: total?, free: free?, cpus: cpus? });
        Ok(memory())
    }

    /// Returns the numbers of the memory blocks of a NUMA node, ascending.
    ///
    /// # Errors
    ///
    /// The directory exists and cannot be read.
    pub fn memory_blocks(&self, node: u32) -> Result<Vec<u32>, FileError> {
        self.numbered(&format!("{NODES}/node{node}"), "memory")
    }

    /// Returns the size of a memory block in bytes; `None` on a machine without such blocks.
    ///
    /// # Errors
    ///
    /// The file exists and cannot be read.
    pub fn memory_block_size(&self) -> Result<Option<u64>, FileError> {
        let text = self.text("/sys/devices/system/memory/block_size_bytes")?;
        // In hexadecimal, without a prefix.
        Ok(text.and_then(|text| u64::from_str_radix(&text, 16).ok()))
    }

    /// Returns the text of a file without white space around it; `None` without the file.
    fn text(&self, absolute: &str) -> Result<Option<String>, FileError> {
        Ok(Self::optional(self.read(absolute))?.map(|text| text.trim().to_owned()))
    }

    /// Returns the number after a key, in kB.
    fn kilobytes(&self, path: &str, key: &str) -> Result<Option<u64>, FileError> {
        let text = self.text(path)?.unwrap_or_default();
        let number = || text.split_once(key)?.1.split_whitespace().next()?.parse().ok();
        Ok(number())
    }

    /// Returns the numbers after a prefix in the names of a folder, ascending: `cpu0`, `cpu1`, ...
    fn numbered(&self, folder: &str, prefix: &str) -> Result<Vec<u32>, FileError> {
        let names = Self::optional(self.list(folder))?.unwrap_or_default();
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}
