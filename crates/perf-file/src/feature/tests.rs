//! Each section in both byte orders.

use super::*;
use std::{format, vec, vec::Vec};

use crate::encoder::{Encoder, ORDERS};
use crate::error::Reason;

/// Parses a section in both byte orders and writes it again, and checks that each of its parts is
/// needed.
fn check(feature: Feature, write: impl for<'p> Fn(&'p mut Encoder) -> &'p mut Encoder, expected: &str) {
    for order in ORDERS {
        let mut put = Encoder::new(order);
        write(&mut put);
        let section = |bytes| FeatureSection::new(feature, bytes, order, 1000);
        let data = section(&put.bytes).data().unwrap();
        assert_eq!(format!("{data:?}"), expected, "{order:?}");
        assert_eq!(written(&data, order), put.bytes, "{order:?}");
        for len in 0..put.bytes.len() {
            match section(&put.bytes[..len]).data() {
                // An empty text.
                Ok(FeatureData::Text([])) if len == 0 => {}
                Ok(_) => assert_eq!(feature, Feature::BUILD_ID, "{feature}: {len} bytes"),
                Err(error) => {
                    assert!(matches!(error.reason, Reason::Truncated { .. }), "{feature}: {error}");
                    assert!(
                        (1000..=1000 + len as u64).contains(&error.offset.unwrap()),
                        "{feature}: {error}"
                    );
                }
            }
        }
    }
}

/// Writes data in a byte order.
fn written(data: &FeatureData<'_>, order: ByteOrder) -> Vec<u8> {
    let mut out = Encoder::new(order);
    data.write(&mut out);
    out.bytes
}

/// Returns the debug form of text.
fn bytes(text: &str) -> String {
    format!("{:?}", text.as_bytes())
}

#[test]
fn texts_are_read() {
    for feature in [
        Feature::HOSTNAME,
        Feature::OSRELEASE,
        Feature::VERSION,
        Feature::ARCH,
        Feature::CPUDESC,
        Feature::CPUID,
    ] {
        check(feature, |put| put.string(b"a text"), &format!("Text({})", bytes("a text")));
    }
}

#[test]
fn text_that_old_tools_left_out_is_empty() {
    let section = |feature| FeatureSection::new(feature, &[], ORDERS[0], 1000);
    assert!(matches!(section(Feature::CPUDESC).data(), Ok(FeatureData::Text([]))));
    assert!(section(Feature::NRCPUS).data().is_err());
}

#[test]
fn tracing_data_is_checked() {
    let section = FeatureSection::new(Feature::TRACING_DATA, b"no tracing data", ByteOrder::NATIVE, 0);
    assert!(matches!(section.data().unwrap_err().reason, Reason::Unsupported { .. }));
}

#[test]
fn numbers_are_read() {
    check(Feature::NRCPUS, |put| put.u32(4).u32(3), "CpuCount(CpuCount { available: 4, online: 3 })");
    check(Feature::TOTAL_MEM, |put| put.u64(7), "TotalMemory(7)");
    check(Feature::CLOCKID, |put| put.u64(1), "ClockResolution(1)");
    check(Feature::DIR_FORMAT, |put| put.u64(1), "DirectoryFormat(1)");
    check(Feature::CLN_SIZE, |put| put.u32(64), "CacheLineSize(64)");
    check(Feature::SAMPLE_TIME, |put| put.u64(10).u64(20), "SampleTime(SampleTime { first: 10, last: 20 })");
    check(Feature::E_MACHINE, |put| put.u32(62).u32(5), "ElfMachine(ElfMachine { machine: 62, flags: 5 })");
    check(
        Feature::COMPRESSED,
        |put| put.u32(1).u32(1).u32(3).u32(9).u32(65536),
        "Compression(Compression { version: 1, kind: 1, level: 3, ratio: 9, mmap_len: 65536 })",
    );
    check(
        Feature::CLOCK_DATA,
        |put| put.u32(1).u32(1).u64(30).u64(40),
        "ClockData(ClockData { clock: MONOTONIC, wall_clock_time: 30, clock_time: 40 })",
    );
}

#[test]
fn lists_are_read() {
    check(
        Feature::CMDLINE,
        |put| put.u32(2).string(b"perf").string(b"-a"),
        &format!("CommandLine([{}, {}])", bytes("perf"), bytes("-a")),
    );
    check(
        Feature::PMU_MAPPINGS,
        |put| put.u32(1).u32(4).string(b"cpu"),
        &format!("PmuMappings([PmuMapping {{ kind: 4, name: {} }}])", bytes("cpu")),
    );
    check(
        Feature::GROUP_DESC,
        |put| put.u32(1).string(b"g").u32(2).u32(3),
        &format!("Groups([GroupDesc {{ name: {}, leader: 2, members: 3 }}])", bytes("g")),
    );
    check(
        Feature::AUXTRACE,
        |put| put.u64(1).u64(100).u64(200),
        "Auxtrace([AuxtraceIndex { offset: 100, size: 200 }])",
    );
    check(
        Feature::HYBRID_TOPOLOGY,
        |put| put.u32(1).string(b"cpu_atom").string(b"8-15"),
        &format!("HybridPmus([HybridPmu {{ name: {}, cpus: {} }}])", bytes("cpu_atom"), bytes("8-15")),
    );
    let capability = format!("PmuCapability {{ name: {}, value: {} }}", bytes("max_precise"), bytes("3"));
    check(
        Feature::CPU_PMU_CAPS,
        |put| put.u32(1).string(b"max_precise").string(b"3"),
        &format!("CpuPmuCapabilities([{capability}])"),
    );
    check(
        Feature::PMU_CAPS,
        |put| put.u32(1).u32(1).string(b"max_precise").string(b"3").string(b"cpu"),
        &format!(
            "PmuCapabilities([PmuCapabilities {{ capabilities: [{capability}], name: {} }}])",
            bytes("cpu")
        ),
    );
}

#[test]
fn memory_and_caches_are_read() {
    check(
        Feature::NUMA_TOPOLOGY,
        |put| put.u32(1).u32(0).u64(1000).u64(500).string(b"0-1"),
        &format!("NumaNodes([NumaNode {{ node: 0, total: 1000, free: 500, cpus: {} }}])", bytes("0-1")),
    );
    check(
        Feature::CACHE,
        |put| {
            put.u32(1).u32(1).u32(2).u32(64).u32(512).u32(8).string(b"Unified").string(b"256K").string(b"0")
        },
        &format!(
            "Caches([CacheLevel {{ level: 2, line_size: 64, sets: 512, ways: 8, kind: {}, size: {}, cpus: {} }}])",
            bytes("Unified"),
            bytes("256K"),
            bytes("0")
        ),
    );
    check(
        Feature::MEM_TOPOLOGY,
        |put| put.u64(1).u64(4096).u64(1).u64(0).u64(65).u64(65).u64(3).u64(1),
        "MemoryTopology(MemoryTopology { block_size: 4096, nodes: [MemoryNode { node: 0, bits: 65, blocks: [3, 1] }] })",
    );
}

#[test]
fn programs_are_read() {
    check(
        Feature::BPF_PROG_INFO,
        |put| put.u32(1).u32(2).u32(3).u64(8).bytes(&[1, 2]).bytes(&[3, 4, 5]),
        "BpfPrograms([BpfProgram { arrays: 8, info: [1, 2], data: [3, 4, 5] }])",
    );
    check(
        Feature::BPF_BTF,
        |put| put.u32(1).u32(9).u32(2).bytes(&[6, 7]),
        "Btf([Btf { id: 9, data: [6, 7] }])",
    );
}

#[test]
fn markers_and_unknown_features_are_kept() {
    let section = |feature, bytes| FeatureSection::new(feature, bytes, ByteOrder::Little, 0);
    for feature in [Feature::BRANCH_STACK, Feature::STAT] {
        assert!(matches!(section(feature, &[]).data(), Ok(FeatureData::Marker)));
    }
    assert!(matches!(section(Feature(200), &[1, 2]).data(), Ok(FeatureData::Unknown([1, 2]))));
}

#[test]
fn events_are_read() {
    for order in ORDERS {
        let mut put = Encoder::new(order);
        // One event with an attr of 64 bytes: type, size, config, the rest 0; an id; its name.
        put.u32(1).u32(64).u32(1).u32(64).u64(5).bytes(&[0; 48]).u32(1).string(b"context-switches").u64(77);
        let section = FeatureSection::new(Feature::EVENT_DESC, &put.bytes, order, 0);
        let Ok(FeatureData::Events(events)) = section.data() else { panic!("{order:?}") };
        let desc = events.iter().next().unwrap();
        assert_eq!(desc.name, b"context-switches");
        assert_eq!((desc.event.attr.kind.0, desc.event.attr.config), (1, 5));
        assert!(desc.event.ids.iter().eq([77]));
    }
}

#[test]
fn build_ids_are_read_with_and_without_their_size() {
    for order in ORDERS {
        let mut put = Encoder::new(order);
        // type, misc with the size's bit, size; pid, id, its size, padding; name
        put.u32(0).u16(0x8002).u16(44).u32(u32::MAX).bytes(&[1; 20]).bytes(&[16, 0, 0, 0]).text(b"/bin/a", 8);
        put.u32(0).u16(2).u16(44).u32(7).bytes(&[2; 20]).bytes(&[0; 4]).text(b"/bin/b", 8);
        let section = FeatureSection::new(Feature::BUILD_ID, &put.bytes, order, 0);
        let Ok(FeatureData::BuildIds(list)) = section.data() else { panic!("{order:?}") };
        let ids: Vec<_> = list.iter().map(|id| (id.pid, id.build_id.to_vec(), id.filename)).collect();
        let expected = [(-1, vec![1; 16], &b"/bin/a"[..]), (7, vec![2; 20], b"/bin/b")];
        assert_eq!(ids, expected);
    }
}

#[test]
fn build_ids_of_the_first_tools_have_no_pid() {
    let mut put = Encoder::new(ByteOrder::Little);
    // type, misc, size; id, padding; name
    put.u32(0).u16(1).u16(56).bytes(&[3; 20]).bytes(&[0; 4]).text(b"[kernel.kallsyms]", 24);
    let section = FeatureSection::new(Feature::BUILD_ID, &put.bytes, ByteOrder::Little, 0);
    let Ok(FeatureData::BuildIds(list)) = section.data() else { panic!() };
    let id = list.iter().next().unwrap();
    assert_eq!((id.pid, id.build_id, id.filename), (-1, &[3; 20][..], &b"[kernel.kallsyms]"[..]));
}

#[test]
fn cpu_topology_has_cores_and_dies_of_newer_tools() {
    let mut put = Encoder::new(ByteOrder::Big);
    // packages, cores
    put.u32(1).string(b"0-1").u32(2).string(b"0").string(b"1");
    let old = put.bytes.len();
    // core, package of each CPU
    put.u32(0).u32(0).u32(1).u32(u32::MAX);
    let newer = put.bytes.len();
    // dies, die of each CPU
    put.u32(1).string(b"0-1").u32(0).u32(0);
    let topology = |len: usize| {
        let section = FeatureSection::new(Feature::CPU_TOPOLOGY, &put.bytes[..len], ByteOrder::Big, 0);
        match section.data().unwrap() {
            FeatureData::CpuTopology(topology) => topology,
            other => panic!("{other:?}"),
        }
    };
    assert!(topology(old).packages.iter().eq([b"0-1"]));
    assert!(topology(old).core_ids(2).unwrap().is_empty());
    let ids: Vec<_> = topology(newer).core_ids(2).unwrap().iter().map(|id| (id.core, id.package)).collect();
    assert_eq!(ids, [(0, 0), (1, -1)]);
    assert!(topology(newer).dies(2).unwrap().is_none());
    let dies = topology(put.bytes.len()).dies(2).unwrap().unwrap();
    assert!(dies.lists.iter().eq([b"0-1"]) && dies.ids.iter().eq([0, 0]));
    assert!(topology(newer).core_ids(3).is_err() && topology(newer).dies(3).is_err());
}

#[test]
fn domains_have_names_from_version_17_on() {
    for version in [16, 17] {
        let mut put = Encoder::new(ByteOrder::Little);
        // version, domains; CPU 1 with one domain: number, and name, mask, list
        put.u32(version).u32(1).u32(1).u32(1).u32(0);
        if version == 17 {
            put.string(b"MC").string(b"3").string(b"0-1");
        }
        let section = FeatureSection::new(Feature::CPU_DOMAIN_INFO, &put.bytes, ByteOrder::Little, 0);
        let data = section.data().unwrap();
        assert_eq!(written(&data, ByteOrder::Little), put.bytes);
        let FeatureData::CpuDomains(info) = data else { panic!("{version}") };
        let cpu = info.cpus.iter().next().unwrap();
        let domain = cpu.domains.iter().next().unwrap();
        let name = if version == 17 { "MC" } else { "" };
        assert_eq!((cpu.cpu, domain.number, domain.name), (1, 0, name.as_bytes()));
    }
}

#[test]
fn tracing_data_has_its_own_byte_order() {
    for (mark, order) in [(0, ByteOrder::Little), (1, ByteOrder::Big)] {
        let mut put = Encoder::new(order);
        put.bytes(b"\x17\x08\x44tracing0.6\0").u8(mark).u8(8).u32(4096);
        put.bytes(b"header_page\0").u64(1).bytes(b"p").bytes(b"header_event\0").u64(2).bytes(b"ev");
        // one format of ftrace; one system with one format; kallsyms, printk formats, command lines
        put.u32(1).u64(3).bytes(b"fmt").u32(1).bytes(b"sched\0").u32(1).u64(2).bytes(b"sw");
        put.u32(0).u32(1).bytes(b"x").u64(4).bytes(b"1 sh");
        let data = TracingData::parse(&put.bytes, 0).unwrap();
        assert_eq!(written(&FeatureData::TracingData(data), order), put.bytes);
        assert_eq!((data.version, data.long_size, data.page_size), (&b"0.6"[..], 8, 4096));
        assert_eq!((data.header_page, data.header_event), (&b"p"[..], &b"ev"[..]));
        assert!(data.ftrace.iter().eq([FormatText(b"fmt")]));
        let system = data.systems.iter().next().unwrap();
        assert_eq!(system.name, b"sched");
        assert!(system.formats.iter().eq([FormatText(b"sw")]));
        assert_eq!(
            (data.kallsyms, data.printk_formats, data.saved_cmdlines),
            (&b""[..], &b"x"[..], &b"1 sh"[..])
        );
    }
    assert!(TracingData::parse(b"\x17\x08\x45tracing0.6\0", 0).is_err());
}

#[test]
fn unknown_versions_are_refused() {
    for (feature, bytes) in [
        (Feature::CACHE, &[2, 0, 0, 0, 0, 0, 0, 0][..]),
        (Feature::CLOCK_DATA, &[2, 0, 0, 0]),
        (Feature::MEM_TOPOLOGY, &[2, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        let error = FeatureSection::new(feature, bytes, ByteOrder::Little, 0).data().unwrap_err();
        assert!(matches!(error.reason, Reason::Unsupported { found: 2, .. }), "{feature}: {error}");
    }
}

#[test]
fn states_of_threads_are_read() {
    check(
        Feature::THREAD_STATES,
        |put| {
            put.u32(1).u64(10).u64(20).u32(1);
            put.u32(7).u32(8).u32(83).string(b"sleep").string(b"pause").string(b"in pause").string(b"a\nb");
            put.u32(1).u64(3).u64(4)
        },
        &format!(
            "ThreadStates(ThreadStates {{ start: 10, end: 20, threads: [ThreadAtStart {{ pid: 7, tid: 8, state: 83, \
             name: {}, syscall: {}, place: {}, functions: {}, times: [RunTimes {{ running: 3, ready: 4 }}] }}] }})",
            bytes("sleep"),
            bytes("pause"),
            bytes("in pause"),
            bytes("a\nb")
        ),
    );
}
