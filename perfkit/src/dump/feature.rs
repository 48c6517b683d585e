//! The feature sections of a file as JSON.

use perf_file::feature::{CpuTopology, Domain, EventDesc, PmuCapabilities, TracingData};
use perf_file::{FeatureData, FeatureSection, Result};
use serde_json::{Value as Json, json};

use super::json::{Object, bytes, hex, lossy, text};

/// Returns the content of a section, all entries of its lists included.
///
/// # Errors
///
/// The error of [`FeatureSection::data`] if the section is malformed.
pub(super) fn value(section: &FeatureSection<'_>) -> Result<Json> {
    Ok(match section.data()? {
        FeatureData::TracingData(data) => tracing_data(&data),
        FeatureData::BuildIds(ids) => ids
            .iter()
            .map(|id| json!({"pid": id.pid, "build_id": bytes(id.build_id), "filename": text(id.filename)}))
            .collect(),
        FeatureData::Text(value) => text(value),
        FeatureData::CpuCount(count) => json!({"online": count.online, "available": count.available}),
        FeatureData::TotalMemory(kilobytes) => json!({"kB": kilobytes}),
        FeatureData::CommandLine(arguments) => arguments.iter().map(text).collect(),
        FeatureData::Events(events) => events.iter().map(|event| event_desc(&event)).collect(),
        FeatureData::CpuTopology(topology) => cpu_topology(&topology),
        FeatureData::NumaNodes(nodes) => nodes
            .iter()
            .map(|node| json!({"node": node.node, "total": node.total, "free": node.free, "cpus": text(node.cpus)}))
            .collect(),
        FeatureData::Marker => Json::Bool(true),
        FeatureData::PmuMappings(pmus) => {
            pmus.iter().map(|pmu| json!({"type": pmu.kind, "name": text(pmu.name)})).collect()
        }
        FeatureData::Groups(groups) => groups
            .iter()
            .map(|group| json!({"name": text(group.name), "leader": group.leader, "members": group.members}))
            .collect(),
        FeatureData::Auxtrace(entries) => {
            entries.iter().map(|entry| json!({"offset": entry.offset, "size": entry.size})).collect()
        }
        FeatureData::Caches(caches) => caches
            .iter()
            .map(|cache| {
                json!({"level": cache.level, "line_size": cache.line_size, "sets": cache.sets, "ways": cache.ways,
                       "type": text(cache.kind), "size": text(cache.size), "cpus": text(cache.cpus)})
            })
            .collect(),
        FeatureData::SampleTime(time) => json!({"first": time.first, "last": time.last}),
        FeatureData::MemoryTopology(topology) => {
            let node = |node: perf_file::feature::MemoryNode<'_>| {
                json!({"node": node.node, "bits": node.bits, "blocks": node.blocks.iter().map(hex).collect::<Json>()})
            };
            json!({"block_size": topology.block_size, "nodes": topology.nodes.iter().map(node).collect::<Json>()})
        }
        FeatureData::ClockResolution(ns) => json!({"ns": ns}),
        FeatureData::DirectoryFormat(version) => json!({"version": version}),
        FeatureData::BpfPrograms(programs) => programs
            .iter()
            .map(|program| {
                json!({"info": bytes(program.info), "arrays": hex(program.arrays), "data": bytes(program.data)})
            })
            .collect(),
        FeatureData::Btf(types) => {
            types.iter().map(|one| json!({"id": one.id, "data": bytes(one.data)})).collect()
        }
        FeatureData::Compression(one) => json!({
            "version": one.version, "type": one.kind, "level": one.level, "ratio": one.ratio, "mmap_len": one.mmap_len,
        }),
        FeatureData::CpuPmuCapabilities(capabilities) => {
            capabilities.iter().map(|one| (lossy(one.name), text(one.value))).collect::<Object>().into()
        }
        FeatureData::ClockData(clock) => json!({
            "clockid": clock.clock.0, "clock_time": clock.clock_time, "wall_clock_time": clock.wall_clock_time,
        }),
        FeatureData::HybridPmus(pmus) => {
            pmus.iter().map(|pmu| json!({"name": text(pmu.name), "cpus": text(pmu.cpus)})).collect()
        }
        FeatureData::PmuCapabilities(pmus) => pmus.iter().map(|pmu| pmu_capabilities(&pmu)).collect(),
        FeatureData::CpuDomains(info) => {
            let domain = |domain: Domain<'_>| {
                json!({"domain": domain.number, "name": text(domain.name), "mask": text(domain.mask),
                       "cpus": text(domain.cpus)})
            };
            let cpu = |cpu: perf_file::feature::CpuDomains<'_>| {
                json!({"cpu": cpu.cpu, "domains": cpu.domains.iter().map(domain).collect::<Json>()})
            };
            json!({"schedstat_version": info.schedstat_version, "max_domains": info.max_domains,
                   "cpus": info.cpus.iter().map(cpu).collect::<Json>()})
        }
        FeatureData::ElfMachine(machine) => json!({"machine": machine.machine, "flags": machine.flags}),
        FeatureData::CacheLineSize(size) => json!({"bytes": size}),
        FeatureData::ThreadStates(states) => {
            let thread = |thread: perf_file::feature::ThreadAtStart<'_>| {
                let times = thread.times.iter().next();
                json!({"pid": thread.pid, "tid": thread.tid, "name": text(thread.name),
                       "state": char::from_u32(thread.state).map(String::from), "syscall": text(thread.syscall),
                       "place": text(thread.place), "functions": text(thread.functions),
                       "running": times.map(|times| times.running), "ready": times.map(|times| times.ready)})
            };
            json!({"start": states.start, "end": states.end,
                   "threads": states.threads.iter().map(thread).collect::<Json>()})
        }
        FeatureData::Unknown(data) => json!({"raw": bytes(data)}),
        // `FeatureData` is non-exhaustive: a section that this program does not know.
        _ => json!({"raw": bytes(section.bytes)}),
    })
}

fn event_desc(event: &EventDesc<'_>) -> Json {
    json!({"name": text(event.name), "ids": event.event.ids.iter().map(Json::from).collect::<Json>(),
           "attr": bytes(event.event.bytes)})
}

fn cpu_topology(topology: &CpuTopology<'_>) -> Json {
    json!({"cores": topology.cores.iter().map(text).collect::<Json>(),
           "packages": topology.packages.iter().map(text).collect::<Json>()})
}

fn pmu_capabilities(pmu: &PmuCapabilities<'_>) -> Json {
    let capabilities: Object =
        pmu.capabilities.iter().map(|one| (lossy(one.name), text(one.value))).collect();
    json!({"pmu": text(pmu.name), "capabilities": capabilities})
}

/// Returns the names of the tracepoints; their formats are texts of many lines.
fn tracing_data(data: &TracingData<'_>) -> Json {
    let mut systems = Object::new();
    for system in data.systems {
        let names = system.formats.iter().map(|format| {
            let format = String::from_utf8_lossy(format.0);
            let name = format.lines().find_map(|line| line.strip_prefix("name:")).unwrap_or_default();
            Json::from(name.trim())
        });
        systems.insert(lossy(system.name), names.collect());
    }
    json!({"version": text(data.version), "page_size": data.page_size, "long_size": data.long_size,
           "tracepoints": systems})
}
