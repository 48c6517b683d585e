//! Tests with a temporary tree instead of the real `/proc` and `/sys`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_file::feature::{FormatText, TracingData};
use perf_file::format::Feature;
use perf_file::writer::Features;
use perf_file::{ByteOrder, FeatureData};
use perf_session::ring::decode::{Record, SampleLayout, Window};
use perf_session::ring::{SampleType, Software};
use zerocopy::FromBytes;

use super::*;

/// A temporary directory that serves as `/`. It is removed when dropped.
struct Tree(System);

impl Tree {
    fn system(&self) -> &System {
        &self.0
    }

    /// Writes a file, with the directories above it.
    fn file(&self, absolute: &str, content: &str) {
        let path = self.0.path(absolute);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.path("/"));
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let root = std::env::temp_dir().join(format!("perf-record-{}-{number}", std::process::id()));
    let tree = Tree(System::at(root));
    for (path, content) in files {
        tree.file(path, content);
    }
    tree
}

fn attr() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::TIME)
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

/// Returns the records as one line each.
fn lines(synthesizer: &Synthesizer) -> Vec<String> {
    let words = <[u64]>::ref_from_bytes(synthesizer.records().as_bytes()).unwrap();
    let layout = SampleLayout::new(&attr());
    let line = |record: Record<'_>| match record {
        Record::Fork(fork) => format!("fork {} {} {} {}", fork.pid(), fork.ppid(), fork.tid(), fork.ptid()),
        Record::Comm(comm) => format!("comm {} {} {}", comm.pid(), comm.tid(), text(comm.comm())),
        Record::Mmap2(mmap) => format!("mmap2 {} {:x} {}", mmap.pid(), mmap.addr(), text(mmap.filename())),
        Record::Mmap(mmap) => format!("mmap {:x} {:x} {}", mmap.addr(), mmap.len(), text(mmap.filename())),
        Record::Ksymbol(symbol) => {
            format!("ksymbol {:x} {} {}", symbol.addr(), symbol.len(), text(symbol.name()))
        }
        Record::BpfEvent(program) => format!("program {} {:x?}", program.id(), program.tag()),
        Record::Cgroup(cgroup) => format!("cgroup {} {}", cgroup.id(), text(cgroup.path())),
        Record::Namespaces(task) => {
            format!("namespaces {} {} {:?}", task.pid(), task.tid(), task.namespaces().get(0))
        }
        other => panic!("{other:?}"),
    };
    Window::from_slices(words, &[])
        .records(&mut [])
        .map(|record| line(record.unwrap().decode(&layout).unwrap()))
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn process_has_its_threads_and_executable_mappings() {
    let tree = tree(&[
        ("/proc/7/status", "Name:\tx\nPPid:\t1\n"),
        ("/proc/7/task/7/comm", "main\n"),
        ("/proc/7/task/9/comm", "other\n"),
        ("/proc/7/maps", "1000-2000 r-xp 0 fe:00 5  /bin/x\n2000-3000 rw-p 0 00:00 0 [heap]\n"),
        ("/proc/8/task/8/comm", "exits\n"),
        ("/proc/self/status", "Name:\n"),
    ]);
    let mut synthesizer = Synthesizer::new(tree.system(), &attr());
    assert_eq!(synthesizer.processes().unwrap(), 1);
    let expected = ["fork 7 1 7 1", "comm 7 7 main", "mmap2 7 1000 /bin/x", "fork 7 7 9 7", "comm 7 9 other"];
    assert_eq!(lines(&synthesizer), expected);
    assert!(!synthesizer.process(8) && !synthesizer.process(99));
    assert_eq!(lines(&synthesizer).len(), 5);
}

#[test]
fn files_of_processes_that_cannot_be_read_are_counted() {
    let files = |pid| [format!("/proc/{pid}/status"), format!("/proc/{pid}/task/{pid}/comm")];
    let [status, name] = files(7);
    // A directory in place of the file, which even root cannot read.
    let tree = tree(&[(&status, "PPid:\t1\n"), (&name, "x\n"), ("/proc/7/maps/none", "")]);
    let mut synthesizer = Synthesizer::new(tree.system(), &attr());
    assert!(synthesizer.process(7) && !synthesizer.process(8));
    assert_eq!(lines(&synthesizer), ["fork 7 1 7 1", "comm 7 7 x"]);
    assert!(matches!(synthesizer.unread(), Some((1, error)) if error.path().ends_with("proc/7/maps")));
    let [status, name] = files(9);
    tree.file(&status, "PPid:\t1\n");
    tree.file(&(name + "/none"), "");
    assert!(!synthesizer.process(9));
    // A symbolic link to itself cannot be opened.
    let [status, name] = files(10);
    for (path, content) in [
        (&status, "PPid:\t1\n"),
        (&name, "x\n"),
        (&"/proc/10/maps".to_owned(), "1000-2000 r-xp 0 fe:00 5  /bin/x\n"),
        (&"/proc/10/root/bin/y".to_owned(), ""),
    ] {
        tree.file(path, content);
    }
    std::os::unix::fs::symlink("x", tree.system().path("/proc/10/root/bin/x")).unwrap();
    assert!(synthesizer.process(10));
    let missing = synthesizer.running(Some(&BTreeSet::new()), false, || Ok(Vec::new())).unwrap();
    let [Missing::Processes(3, _)] = missing[..] else { panic!("{missing:?}") };
    assert!(missing[0].to_string().ends_with(", and 2 more files"), "{}", missing[0]);
}

#[test]
fn mappings_of_data_are_recorded_on_demand() {
    let tree = tree(&[
        ("/proc/7/status", "PPid:\t1\n"),
        ("/proc/7/task/7/comm", "x\n"),
        ("/proc/7/maps", "1000-2000 r--p 0 fe:00 5  /bin/x\n2000-3000 ---p 0 00:00 0 \n"),
    ]);
    let mut synthesizer =
        Synthesizer::new(tree.system(), &attr().with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP_DATA));
    assert!(synthesizer.process(7));
    assert_eq!(lines(&synthesizer)[2..], ["mmap2 7 1000 /bin/x"]);
}

#[test]
fn kernel_and_modules_are_mappings() {
    let tree = tree(&[
        (
            "/proc/kallsyms",
            "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff82000000 T _etext\n",
        ),
        (
            "proc/modules",
            "xfs_a 4096 0 - Live 0xffffffffc0000000\nb 8192 1 c, Live 0xffffffffc0100000 (OE)\nh 1 0 - Live 0x0000000000000000\n",
        ),
        ("/proc/sys/kernel/osrelease", "6.1.0\n"),
        ("/lib/modules/6.1.0/modules.dep", "kernel/fs/xfs-a.ko.xz: kernel/lib/b.ko\n"),
    ]);
    let mut synthesizer = Synthesizer::new(tree.system(), &attr());
    synthesizer.kernel().unwrap();
    let expected = [
        "mmap ffffffff81000000 1000000 [kernel.kallsyms]_text",
        "mmap ffffffffc0000000 1000 /lib/modules/6.1.0/kernel/fs/xfs-a.ko.xz",
        "mmap ffffffffc0100000 2000 [b]",
    ];
    assert_eq!(lines(&synthesizer), expected);
}

#[test]
fn hidden_and_missing_kernel_symbols_are_errors() {
    let kernel = |content: &str| {
        let tree = tree(&[("/proc/kallsyms", content)]);
        let mut synthesizer = Synthesizer::new(tree.system(), &attr());
        let error = synthesizer.kernel().unwrap_err();
        assert_eq!(lines(&synthesizer).len(), 0);
        error
    };
    let hidden = kernel("0000000000000000 T _text\n0000000000000000 T _etext\n");
    assert!(
        matches!(hidden, KernelMapError::Hidden) && hidden.to_string().contains("kptr_restrict"),
        "{hidden}"
    );
    assert!(matches!(kernel("1000 T _text\n"), KernelMapError::NoSymbol));
    let none = Synthesizer::new(&System::at("/no/such/root"), &attr()).kernel();
    assert!(matches!(none, Err(KernelMapError::File(_))));
}

#[test]
fn features_are_those_of_the_files() {
    let tree = tree(&[
        ("/proc/sys/kernel/hostname", "box\n"),
        ("/proc/cpuinfo", "vendor_id : V\ncpu family : 6\nmodel : 2\nmodel name : Fast CPU\nstepping : 1\n"),
        ("/proc/meminfo", "MemTotal:    1234 kB\n"),
        ("/sys/devices/system/cpu/present", "0-1\n"),
        ("/sys/devices/system/cpu/online", "0\n"),
        ("/sys/devices/system/cpu/cpu0/topology/core_id", "0\n"),
        ("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"),
        ("/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0\n"),
        ("/sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0\n"),
        ("/sys/bus/event_source/devices/software/type", "1\n"),
    ]);
    let (features, unread) = machine_features(tree.system());
    assert!(unread.is_none(), "{unread:?}");
    let has_text = |feature, expected: &str| {
        let mut other = Features::new();
        other.set(feature, &FeatureData::Text(expected.as_bytes()));
        assert_eq!(features.get(feature), other.get(feature), "{feature}");
    };
    has_text(Feature::HOSTNAME, "box");
    has_text(Feature::CPUDESC, "Fast CPU");
    has_text(Feature::CPUID, "V,6,2,1");
    assert_eq!(features.get(Feature::TOTAL_MEM), Some(&1234_u64.to_ne_bytes()[..]));
    assert_eq!(features.get(Feature::NRCPUS), Some(&[2_u32, 1].map(u32::to_ne_bytes).concat()[..]));
    assert!(features.get(Feature::CPU_TOPOLOGY).is_some() && features.get(Feature::PMU_MAPPINGS).is_some());
    assert_eq!(features.get(Feature::NUMA_TOPOLOGY), None);
}

#[test]
fn file_of_the_machine_that_cannot_be_read_is_reported() {
    // A directory in place of the file, which even root cannot read.
    for file in ["proc/meminfo", "proc/sys/kernel/hostname", "sys/devices/system/cpu/cpu0/cache/index0/level"]
    {
        let tree = tree(&[(&format!("/{file}/none"), ""), ("/proc/cpuinfo", "model name : Fast CPU\n")]);
        let (features, unread) = machine_features(tree.system());
        assert!(unread.is_some_and(|error| error.path().ends_with(file)), "{file}");
        assert!(features.get(Feature::CPUDESC).is_some(), "{file}");
    }
}

#[test]
fn tracing_data_has_the_formats_of_the_tracepoints() {
    let files = [
        ("/sys/kernel/tracing/events/header_page", "PAGE"),
        ("/sys/kernel/tracing/events/header_event", "EVENT"),
        ("/sys/kernel/tracing/events/ftrace/function/format", "FUNCTION"),
        ("/sys/kernel/tracing/events/ftrace/function/id", "1\n"),
        ("/sys/kernel/tracing/events/sched/enable", "0"),
        ("/sys/kernel/tracing/events/sched/sched_exit/format", "EXIT"),
        ("/sys/kernel/tracing/events/sched/sched_exit/id", "76\n"),
        ("/sys/kernel/tracing/events/sched/sched_switch/format", "SWITCH"),
        ("/sys/kernel/tracing/events/sched/sched_switch/id", "77\n"),
        ("/sys/kernel/tracing/events/sched/sched_waking/id", "78\n"),
        ("/sys/kernel/tracing/events/xdp/exception/format", "XDP"),
        ("/sys/kernel/tracing/events/xdp/exception/id", "9\n"),
        ("/sys/kernel/tracing/saved_cmdlines", "1 init"),
    ];
    let tree = tree(&files);
    let mut features = Features::new();
    add_tracing_data(&mut features, tree.system(), &[9, 1, 77, 76, 99]).unwrap();
    let data = TracingData::parse(features.get(Feature::TRACING_DATA).unwrap(), 0).unwrap();
    assert_eq!([data.version, data.header_page, data.header_event], [&b"0.6"[..], b"PAGE", b"EVENT"]);
    assert_eq!(
        (data.order, data.page_size as usize),
        (ByteOrder::NATIVE, perf_session::ring::sys::page_size())
    );
    assert_eq!(usize::from(data.long_size), size_of::<usize>());
    assert!(data.ftrace.iter().eq([FormatText(b"FUNCTION")]));
    let systems: Vec<_> =
        data.systems.iter().map(|it| (it.name, it.formats.iter().map(|it| it.0).collect())).collect();
    let expected: [(&[u8], Vec<&[u8]>); 2] = [(b"sched", vec![b"EXIT", b"SWITCH"]), (b"xdp", vec![b"XDP"])];
    assert_eq!(systems, expected);
    // tracefs keeps the names of tasks for the whole machine, so they are left out.
    assert_eq!([data.kallsyms, data.printk_formats, data.saved_cmdlines], [&b""[..], b"", b""]);

    let error = add_tracing_data(&mut features, tree.system(), &[78]).unwrap_err();
    assert!(error.to_string().contains("events/sched/sched_waking/format: "), "{error}");
}

#[test]
fn this_process_is_found_with_its_name() {
    let mut synthesizer = Synthesizer::new(&System::new(), &attr());
    assert!(synthesizer.process(std::process::id()));
    let lines = lines(&synthesizer);
    assert!(lines[0].starts_with(&format!("fork {} ", std::process::id())), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("mmap2 ")), "{lines:?}");
}

#[test]
fn namespaces_of_each_thread_are_recorded_on_demand() {
    let tree = tree(&[
        ("/proc/7/status", "PPid:\t1\n"),
        ("/proc/7/task/7/comm", "x\n"),
        ("/proc/7/task/9/comm", "y\n"),
        ("/proc/7/task/7/ns/net", ""),
    ]);
    let attr = attr().with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::NAMESPACES);
    let mut synthesizer = Synthesizer::new(tree.system(), &attr);
    assert!(synthesizer.process(7));
    let file = fs::metadata(tree.system().path("/proc/7/task/7/ns/net")).unwrap();
    let link = |dev, inode| Some(perf_session::ring::abi::NamespaceLink { dev, inode });
    let expected = [
        "fork 7 1 7 1".to_owned(),
        format!("namespaces 7 7 {:?}", link(file.dev(), file.ino())),
        "comm 7 7 x".to_owned(),
        "fork 7 7 9 7".to_owned(),
        // This user must not read the files of this thread.
        format!("namespaces 7 9 {:?}", link(0, 0)),
        "comm 7 9 y".to_owned(),
    ];
    assert_eq!(lines(&synthesizer), expected);
}

#[test]
fn cgroups_are_the_folders_below_the_mount_point() {
    let tree = tree(&[
        ("/proc/self/mounts", "cgroup2 /cg cgroup2 rw 0 0\n"),
        ("/cg/cgroup.procs", ""),
        ("/cg/a b/c/cgroup.procs", ""),
    ]);
    let mut synthesizer = Synthesizer::new(tree.system(), &attr());
    assert_eq!(synthesizer.cgroups().unwrap(), 3);
    let id = |path: &str| fs::metadata(tree.system().path(path)).unwrap().ino();
    let expected = [
        format!("cgroup {} /", id("cg")),
        format!("cgroup {} /a b", id("/cg/a b")),
        format!("cgroup {} /a b/c", id("/cg/a b/c")),
    ];
    assert_eq!(lines(&synthesizer), expected);

    tree.file("/proc/self/mounts", "");
    let error = Synthesizer::new(tree.system(), &attr()).cgroups().unwrap_err();
    assert!(error.to_string().contains("expected a mount of cgroup2"), "{error}");
}

#[test]
fn functions_of_programs_have_the_names_of_kallsyms() {
    let tree = tree(&[(
        "proc/kallsyms",
        "ffffffff81000000 T _text\nffffffffc0001000 t bpf_prog_0102_main\t[bpf]\nffffffffc0003000 t bpf_trampoline_5\t[bpf]\n",
    )]);
    let function = |address| LoadedFunction { address, len: 64 };
    let program = LoadedProgram {
        id: 9,
        tag: [1, 2, 3, 4, 5, 6, 7, 0xab],
        name: b"main".to_vec(),
        functions: vec![function(0xffff_ffff_c000_1000), function(0xffff_ffff_c000_2000)],
    };
    let both = attr().with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::KSYMBOL | AttrFlags::BPF_EVENT);
    let mut synthesizer = Synthesizer::new(tree.system(), &both);
    synthesizer.bpf_programs([program.clone()]);
    let expected = [
        "ksymbol ffffffffc0001000 64 bpf_prog_0102_main",
        "ksymbol ffffffffc0002000 64 bpf_prog_01020304050607ab_main",
        "program 9 [1, 2, 3, 4, 5, 6, 7, ab]",
        &format!("ksymbol ffffffffc0003000 {} bpf_trampoline_5", perf_session::ring::sys::page_size()),
    ];
    assert_eq!(lines(&synthesizer), expected);

    let mut without = Synthesizer::new(tree.system(), &attr());
    without.bpf_programs([program]);
    assert!(lines(&without).is_empty());
    synthesizer.clear_records();
    synthesizer.bpf_programs([]);
    assert!(lines(&synthesizer).is_empty());
}

#[test]
fn symbols_of_programs_are_read_on_in_the_file_of_the_kernel() {
    let text =
        "ffffffff81000000 T _text\nffffffff82000000 T _etext\nffffffffc0001000 t bpf_prog_0102_main\t[bpf]\n";
    let tree = tree(&[("/proc/kallsyms", text)]);
    let attr = attr().with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::KSYMBOL);
    let mut synthesizer = Synthesizer::new(tree.system(), &attr);
    synthesizer.kernel().unwrap();
    synthesizer.clear_records();
    // The kernel takes long to generate the file, so it must not be read again.
    fs::remove_file(tree.system().path("/proc/kallsyms")).unwrap();
    let function = LoadedFunction { address: 0xffff_ffff_c000_1000, len: 64 };
    synthesizer.bpf_programs([LoadedProgram { functions: vec![function], ..LoadedProgram::default() }]);
    assert_eq!(lines(&synthesizer), ["ksymbol ffffffffc0001000 64 bpf_prog_0102_main"]);
}
