//! Feature sections in the notation of `perf report --header-only -I`.

use perf_file::feature::{CpuTopology, EventDesc, MemoryTopology};
use perf_file::{FeatureData, FeatureSection, List};

use super::perf_attr;

/// Returns the lines of a section, each without its `# `.
pub(crate) fn lines(section: &FeatureSection<'_>, cpus: u32) -> Vec<String> {
    let data = section.data().unwrap();
    match data {
        FeatureData::Text(value) => vec![format!("{} : {}", title(section), text(value))],
        FeatureData::CpuCount(count) => {
            vec![format!("nrcpus online : {}", count.online), format!("nrcpus avail : {}", count.available)]
        }
        FeatureData::TotalMemory(memory) => vec![format!("total memory : {memory} kB")],
        FeatureData::CommandLine(arguments) => {
            // Drop the folder of the captured file, which the recorded output of the perf tool
            // lacks.
            let file = |argument: String| match argument.rsplit_once('/') {
                Some((_, name)) if argument.starts_with("/tmp/") => name.to_owned(),
                _ => argument,
            };
            let arguments: Vec<String> =
                arguments.iter().map(|argument| file(text(argument)) + " ").collect();
            vec![format!("cmdline : {}", arguments.concat())]
        }
        FeatureData::Events(events) => events.iter().map(|desc| event(&desc)).collect(),
        FeatureData::CpuTopology(topology) => cpu_topology(&topology, cpus),
        FeatureData::NumaNodes(nodes) => {
            let lines = nodes.iter().map(|node| {
                let (number, total, free) = (node.node, node.total, node.free);
                let memory = format!("node{number} meminfo  : total = {total} kB, free = {free} kB");
                [memory, format!("node{number} cpu list : {}", text(node.cpus))]
            });
            lines.flatten().collect()
        }
        FeatureData::PmuMappings(pmus) => {
            let pmus: Vec<_> = pmus.iter().map(|pmu| format!("{} = {}", text(pmu.name), pmu.kind)).collect();
            vec![format!("pmu mappings: {}", pmus.join(", "))]
        }
        FeatureData::Caches(caches) => {
            let lines = caches.iter().map(|cache| {
                let (level, kind, size) = (cache.level, text(cache.kind), text(cache.size));
                format!(" L{level} {kind:<15} {size:>8} [{}]", text(cache.cpus))
            });
            std::iter::once("CPU cache info:".to_owned()).chain(lines).collect()
        }
        FeatureData::SampleTime(time) => {
            let seconds = |ns: u64| format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000);
            let duration = time.last.wrapping_sub(time.first);
            #[expect(clippy::cast_precision_loss, reason = "as the perf tool")]
            let duration = duration as f64 / 1e6;
            vec![
                format!("time of first sample : {}", seconds(time.first)),
                format!("time of last sample : {}", seconds(time.last)),
                format!("sample duration : {duration:10.3} ms"),
            ]
        }
        FeatureData::MemoryTopology(topology) => memory_topology(&topology),
        FeatureData::CpuPmuCapabilities(all) => {
            let all: Vec<_> =
                all.iter().map(|one| format!("{}={}", text(one.name), text(one.value))).collect();
            vec![format!("cpu pmu capabilities: {}", all.join(", "))]
        }
        FeatureData::ClockResolution(ns) => {
            vec![format!("clockid frequency: {} MHz", 1000_u64.checked_div(ns).unwrap_or(0))]
        }
        FeatureData::Marker if section.feature.name() == Some("STAT") => {
            vec!["contains stat data".to_owned()]
        }
        FeatureData::DirectoryFormat(version) => vec![format!("directory data version : {version}")],
        FeatureData::BpfPrograms(programs) => programs
            .iter()
            .map(|program| {
                // `type` and `id` are the first fields of `struct bpf_prog_info`.
                let id = u32::from_le_bytes(program.info[4..8].try_into().unwrap());
                format!("bpf_prog_info {id}: ")
            })
            .collect(),
        FeatureData::Compression(compression) => {
            let kind = if compression.kind == 1 { "Zstd" } else { "Unknown" };
            let (level, ratio) = (compression.level, compression.ratio);
            vec![format!("compressed : {kind}, level = {level}, ratio = {ratio}")]
        }
        FeatureData::ClockData(clocks) => {
            let (number, name) = (clocks.clock.0, clock_name(clocks.clock.0));
            let seconds = |ns: u64| ns / 1_000_000_000;
            let nanoseconds = |ns: u64| ns % 1_000_000_000;
            let (wall, own) = (clocks.wall_clock_time, clocks.clock_time);
            let wall = format!("{}.{:06}", seconds(wall), nanoseconds(wall) / 1000);
            let own = format!("{}.{:09}", seconds(own), nanoseconds(own));
            vec![format!("clockid: {name} ({number})"), format!(" = {wall} (TOD) = {own} ({name})")]
        }
        _ => Vec::new(),
    }
}

fn clock_name(clock: i32) -> &'static str {
    match clock {
        0 => "realtime",
        1 => "monotonic",
        4 => "monotonic_raw",
        7 => "boottime",
        11 => "tai",
        _ => "unknown",
    }
}

fn title(section: &FeatureSection<'_>) -> &'static str {
    match section.feature.name().unwrap() {
        "HOSTNAME" => "hostname",
        "OSRELEASE" => "os release",
        "VERSION" => "perf version",
        "ARCH" => "arch",
        "CPUDESC" => "cpudesc",
        "CPUID" => "cpuid",
        other => other,
    }
}

fn event(desc: &EventDesc<'_>) -> String {
    let ids: Vec<_> = desc.event.ids.iter().map(|id| id.to_string()).collect();
    let attr = perf_attr::fields(&desc.event.attr, " = ");
    let ids = if ids.is_empty() { String::new() } else { format!(", id = {{ {} }}", ids.join(", ")) };
    format!("event : name = {}, {ids}, {attr}", text(desc.name))
}

fn cpu_topology(topology: &CpuTopology<'_>, cpus: u32) -> Vec<String> {
    let list = |title: &str, lists: List<'_, &[u8]>| -> Vec<String> {
        lists.iter().map(|cpus| format!("sibling {title} : {}", text(cpus))).collect()
    };
    let dies = topology.dies(cpus).unwrap().unwrap();
    let ids = topology.core_ids(cpus).unwrap().iter().zip(dies.ids).enumerate();
    let ids = ids.map(|(cpu, (id, die))| {
        format!("CPU {cpu}: Core ID {}, Die ID {die}, Socket ID {}", id.core, id.package)
    });
    let lists =
        [list("sockets", topology.packages), list("dies   ", dies.lists), list("threads", topology.cores)];
    lists.into_iter().flatten().chain(ids).collect()
}

fn memory_topology(topology: &MemoryTopology<'_>) -> Vec<String> {
    let (count, size) = (topology.nodes.len(), topology.block_size);
    let mut lines = vec![format!("memory nodes (nr {count}, block size {size:#x}):")];
    for node in topology.nodes {
        let words: Vec<u64> = node.blocks.iter().collect();
        let bits: Vec<u64> = (0..node.bits)
            .filter(|bit| words[usize::try_from(bit / 64).unwrap()] >> (bit % 64) & 1 == 1)
            .collect();
        let runs = bits.chunk_by(|a, b| a + 1 == *b).map(|run| format!("{}-{}", run[0], run[run.len() - 1]));
        let runs: Vec<String> = runs.collect();
        let gigabytes = (bits.len() as u64 * size) >> 30;
        lines.push(format!("  {:2} [{gigabytes}G]: {}", node.node, runs.join(",")));
    }
    lines
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
