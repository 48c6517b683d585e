//! The feature sections that describe the machine.

use perf_file::FeatureData;
use perf_file::feature::{
    CacheLevel, CoreId, CpuCount, CpuTopology, Dies, MemoryNode, MemoryTopology, NumaNode, PmuMapping,
};
use perf_file::format::Feature;
use perf_file::writer::Features;

use perf_session::{CpuInfo, CpuList, FileError, NumaMemory, Pmu, System};

/// Keys of `/proc/cpuinfo` with the name of the CPU, by architecture: x86, arm, powerpc, riscv,
/// s390.
const CPU_NAMES: [&str; 5] = ["model name", "Processor", "cpu", "uarch", "vendor_id"];

/// Limit of the memory blocks of a node. Their bitmap of 8 MiB is more than any machine needs.
const MAX_BLOCKS: u32 = 1 << 26;

/// Returns the bytes of each string.
fn all(strings: &[String]) -> Vec<&[u8]> {
    strings.iter().map(String::as_bytes).collect()
}

/// Returns what `/proc` and `/sys` report about the machine: host name, kernel release,
/// architecture, CPUs with their topology and caches, memory, NUMA nodes and PMUs. Sections whose
/// files the kernel does not have are left out. So are sections of files that exist and cannot be
/// read: the first error is returned, too.
pub fn machine_features(system: &System) -> (Features, Option<FileError>) {
    let mut machine = Machine { system, features: Features::new(), unread: None };
    machine.add_texts();
    machine.add_cpus();
    machine.add_caches();
    machine.add_nodes();
    machine.add_pmus();
    (machine.features, machine.unread)
}

/// Returns the id of an x86 CPU as the perf tool writes it: vendor, family, model and stepping.
fn cpu_id(info: &CpuInfo) -> Option<String> {
    let fields = ["vendor_id", "cpu family", "model", "stepping"].map(|key| info.value(key));
    Some(fields.into_iter().collect::<Option<Vec<&str>>>()?.join(","))
}

/// The sections so far.
struct Machine<'s> {
    system: &'s System,
    features: Features,
    unread: Option<FileError>,
}

impl Machine<'_> {
    /// Returns what was read, or nothing if the file does not exist or cannot be read, and notes
    /// the first error of an existing file.
    fn known<T: Default>(&mut self, read: Result<T, FileError>) -> T {
        read.unwrap_or_else(|error| {
            if !error.is_not_found() {
                self.unread.get_or_insert(error);
            }
            T::default()
        })
    }

    fn sysctl(&mut self, name: &str) -> Option<String> {
        let text = self.system.sysctl(name).map(Some);
        self.known(text)
    }

    fn add_texts(&mut self) {
        let cpu_info = self.known(self.system.cpu_info());
        let cpu_name = CPU_NAMES.into_iter().find_map(|key| cpu_info.value(key));
        let midr = self.known(self.system.midr());
        let texts = [
            (Feature::HOSTNAME, self.sysctl("kernel.hostname")),
            (Feature::OSRELEASE, self.sysctl("kernel.osrelease")),
            // In the form that `uname -m` prints. The file exists since Linux 6.1.
            (Feature::ARCH, self.sysctl("kernel.arch").or_else(|| Some(std::env::consts::ARCH.to_owned()))),
            (Feature::CPUDESC, cpu_name.map(ToOwned::to_owned)),
            (Feature::CPUID, midr.or_else(|| cpu_id(&cpu_info))),
        ];
        for (feature, text) in texts {
            if let Some(text) = text {
                self.features.set(feature, &FeatureData::Text(text.as_bytes()));
            }
        }
        if let Some(kilobytes) = self.known(self.system.total_memory()) {
            self.features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(kilobytes));
        }
    }

    fn add_cpus(&mut self) {
        let (present, online) =
            (CpuList::present(self.system).map(Some), CpuList::online(self.system).map(Some));
        let (Some(present), Some(online)) = (self.known(present), self.known(online)) else { return };
        let available = present.iter().last().map_or(0, |highest| highest + 1);
        let count = CpuCount { available, online: online.len() as u32 };
        self.features.set(Feature::NRCPUS, &FeatureData::CpuCount(count));

        let [mut packages, mut cores, mut die_lists] = [const { Vec::<String>::new() }; 3];
        let (mut ids, mut die_ids) = (Vec::new(), Vec::new());
        for cpu in 0..available {
            let mut file = |name: &str| self.known(self.system.topology_text(cpu, name));
            let lists = [
                // Kernels before 5.3 use the second name.
                (&mut packages, file("package_cpus_list").or_else(|| file("core_siblings_list"))),
                (&mut cores, file("core_cpus_list").or_else(|| file("thread_siblings_list"))),
                (&mut die_lists, file("die_cpus_list")),
            ];
            for (lists, list) in lists {
                // CPUs of one core, package or die have the same list.
                lists.extend(list.filter(|list| !lists.contains(list)));
            }
            // An offline CPU has no such file, and the kernel writes -1 for an unknown number.
            let mut number = |name| file(name).and_then(|text| text.parse().ok()).unwrap_or(-1);
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
        self.features.set(Feature::CPU_TOPOLOGY, &FeatureData::CpuTopology(topology));
    }

    fn add_caches(&mut self) {
        let caches = self.known(self.system.caches());
        let caches: Vec<CacheLevel<'_>> = caches
            .iter()
            .map(|cache| CacheLevel {
                level: cache.level,
                line_size: cache.line_size,
                sets: cache.sets,
                ways: cache.ways,
                kind: cache.kind.as_bytes(),
                size: cache.size.as_bytes(),
                cpus: cache.cpus.as_bytes(),
            })
            .collect();
        if !caches.is_empty() {
            self.features.set(Feature::CACHE, &FeatureData::Caches(caches.as_slice().into()));
        }
    }

    fn add_nodes(&mut self) {
        let nodes = self.known(self.system.numa_nodes());
        let memory = |node: &u32| Some((*node, self.known(self.system.numa_memory(*node))?));
        let described: Vec<(u32, NumaMemory)> = nodes.iter().filter_map(memory).collect();
        let numa: Vec<NumaNode<'_>> = described
            .iter()
            .map(|(node, memory)| NumaNode {
                node: *node,
                total: memory.total,
                free: memory.free,
                cpus: memory.cpus.as_bytes(),
            })
            .collect();
        if !numa.is_empty() {
            self.features.set(Feature::NUMA_TOPOLOGY, &FeatureData::NumaNodes(numa.as_slice().into()));
        }

        let blocks = |node: &u32| bitmap(&self.known(self.system.memory_blocks(*node)));
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
        let block_size = self.known(self.system.memory_block_size());
        if let Some(block_size) = block_size.filter(|_| !memory.is_empty()) {
            let topology = MemoryTopology { block_size, nodes: memory.as_slice().into() };
            self.features.set(Feature::MEM_TOPOLOGY, &FeatureData::MemoryTopology(topology));
        }
    }

    fn add_pmus(&mut self) {
        let pmus = self.known(Pmu::all_kinds(self.system));
        let pmus: Vec<PmuMapping<'_>> =
            pmus.iter().map(|(kind, name)| PmuMapping { kind: kind.0, name: name.as_bytes() }).collect();
        if !pmus.is_empty() {
            self.features.set(Feature::PMU_MAPPINGS, &FeatureData::PmuMappings(pmus.as_slice().into()));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_blocks_are_bits() {
        assert_eq!(bitmap(&[0, 65, u32::MAX]), (66, vec![1, 2]));
        assert_eq!(bitmap(&[]), (0, vec![]));
    }
}
