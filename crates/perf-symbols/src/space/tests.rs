//! Address spaces, compared with a search through the list of all changes.

use std::fmt::Debug;

use perf_abi::{
    Attr, AttrFlags, BpfEventType, CpuMode, KsymbolFlags, KsymbolType, Misc, RecordType, SampleType, Software,
};
use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
use perf_decode::{RawRecord, SampleLayout};
use proptest::prelude::*;

use super::*;

const ATTR: Attr = Attr::software(Software::DUMMY)
    .with_sample_type(SampleType::TIME)
    .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID));
static LAYOUT: SampleLayout = SampleLayout::new(&ATTR);

/// A record that changes mappings.
#[derive(Clone, Copy, Debug)]
enum Change {
    Map { pid: u32, tid: u32, start: u64, len: u64, file_offset: u64, name: &'static str },
    Comm { pid: u32, tid: u32, is_exec: bool },
    Fork { pid: u32, ppid: u32, tid: u32, ptid: u32, is_exec: bool },
    Exit { pid: u32, tid: u32 },
}

fn mmap(mode: CpuMode, pid: u32, tid: u32, range: [u64; 3], name: &str) -> RecordBuilder {
    RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(mode))
        .pair(pid, tid)
        .words(&range)
        .string(name.as_bytes())
}

fn update(spaces: &mut AddressSpaces, builder: RecordBuilder, time: u64) {
    let values = SampleIdValues { time, ..SampleIdValues::default() };
    let words = builder.with_trailer(&ATTR, &values).finish();
    let raw = RawRecord::from_words(&words).expect("a framed record");
    spaces.update(&raw.decode(&LAYOUT).expect("a valid record"));
}

impl Change {
    fn apply(self, spaces: &mut AddressSpaces) {
        let flag = |is_set, flag| if is_set { flag } else { Misc::empty() };
        let builder = match self {
            Self::Map { pid, tid, start, len, file_offset, name } => {
                mmap(CpuMode::USER, pid, tid, [start, len, file_offset], name)
            }
            Self::Comm { pid, tid, is_exec } => {
                RecordBuilder::new(RecordType::COMM, flag(is_exec, Misc::COMM_EXEC))
                    .pair(pid, tid)
                    .string(b"name")
            }
            Self::Fork { pid, ppid, tid, ptid, is_exec } => {
                RecordBuilder::new(RecordType::FORK, flag(is_exec, Misc::FORK_EXEC))
                    .pair(pid, ppid)
                    .pair(tid, ptid)
                    .u64(0)
            }
            Self::Exit { pid, tid } => {
                RecordBuilder::new(RecordType::EXIT, Misc::empty()).pair(pid, 1).pair(tid, 1).u64(0)
            }
        };
        update(spaces, builder, 0);
    }
}

/// The naive model: a list of all changes, searched backward.
struct History<'a>(&'a [Change]);

impl<'a> History<'a> {
    fn split(&self) -> Option<(Change, History<'a>)> {
        self.0.split_last().map(|(&last, before)| (last, History(before)))
    }

    /// The process of a living thread.
    fn process_of(&self, tid: u32) -> Option<u32> {
        let (last, before) = self.split()?;
        match last {
            Change::Exit { tid: dead, .. } if dead == tid => None,
            Change::Map { pid, tid: named, .. }
            | Change::Comm { pid, tid: named, .. }
            | Change::Fork { pid, tid: named, .. }
                if named == tid =>
            {
                Some(pid)
            }
            // An exec ends the other threads; a new process ends all threads of the previous
            // process with its id.
            Change::Comm { pid, is_exec: true, .. } => before.process_of(tid).filter(|&other| other != pid),
            Change::Fork { pid, ppid, .. } if pid != ppid => {
                before.process_of(tid).filter(|&other| other != pid)
            }
            _ => before.process_of(tid),
        }
    }

    fn lives(&self, pid: u32) -> bool {
        TASKS.clone().any(|tid| self.process_of(tid) == Some(pid))
    }

    fn find(&self, pid: u32, addr: u64) -> Result<(&'static str, u64), Unlocated> {
        if !self.lives(pid) {
            return Err(Unlocated::UnknownProcess);
        }
        let Some((last, before)) = self.split() else { return Err(Unlocated::Unmapped) };
        let found = match last {
            Change::Map { pid: owner, start, len, file_offset, name, .. }
                if owner == pid && (start..start + len).contains(&addr) =>
            {
                return Ok((name, addr - start + file_offset));
            }
            Change::Comm { pid: owner, is_exec: true, .. } if owner == pid => {
                return Err(Unlocated::Unmapped);
            }
            Change::Fork { pid: child, ppid, is_exec, tid, .. } if child == pid && ppid != pid => {
                // If the child takes over the id of the parent's only thread, the parent is gone.
                let parent_lives =
                    TASKS.clone().any(|task| task != tid && before.process_of(task) == Some(ppid));
                if is_exec || !parent_lives {
                    return Err(Unlocated::Unmapped);
                }
                before.find(ppid, addr)
            }
            _ => before.find(pid, addr),
        };
        // The process lives now, even if the previous one with this id does not.
        found.or(Err(Unlocated::Unmapped))
    }
}

const TASKS: std::ops::RangeInclusive<u32> = 1..=5;

fn change() -> impl Strategy<Value = Change> {
    let name = prop::sample::select(&["/bin/a", "/lib/b", "//anon"][..]);
    prop_oneof![
        5 => (TASKS, TASKS, 0..12_u64, 1..8_u64, 0..4_u64, name).prop_map(
            |(pid, tid, start, len, file_offset, name)| Change::Map { pid, tid, start, len, file_offset, name }
        ),
        2 => (TASKS, TASKS, any::<bool>()).prop_map(|(pid, tid, is_exec)| Change::Comm { pid, tid, is_exec }),
        3 => (TASKS, TASKS, TASKS, TASKS, any::<bool>())
            .prop_map(|(pid, ppid, tid, ptid, is_exec)| Change::Fork { pid, ppid, tid, ptid, is_exec }),
        2 => (TASKS, TASKS).prop_map(|(pid, tid)| Change::Exit { pid, tid }),
    ]
}

fn name_and_offset(location: Location<'_>, addr: u64) -> (String, u64) {
    let Location::User(mapping) = location else { panic!("{location:?}") };
    (String::from_utf8_lossy(mapping.object().path()).into_owned(), mapping.offset_of(addr))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn every_address_is_where_the_list_of_records_says(changes in prop::collection::vec(change(), 0..14)) {
        let mut spaces = AddressSpaces::new();
        for len in 1..=changes.len() {
            changes[len - 1].apply(&mut spaces);
            let history = History(&changes[..len]);
            for pid in TASKS {
                for addr in 0..20 {
                    let found = spaces.find(pid, CpuMode::USER, addr).map(|location| name_and_offset(location, addr));
                    let expected = history.find(pid, addr).map(|(name, offset)| (name.to_string(), offset));
                    prop_assert_eq!(found, expected, "process {}, address {}", pid, addr);
                }
            }
        }
    }
}

fn map(pid: u32, start: u64, len: u64, name: &'static str) -> Change {
    Change::Map { pid, tid: pid, start, len, file_offset: 0, name }
}

fn fork(pid: u32, ppid: u32) -> Change {
    Change::Fork { pid, ppid, tid: pid, ptid: ppid, is_exec: false }
}

fn path(spaces: &AddressSpaces, pid: u32, addr: u64) -> String {
    match spaces.find(pid, CpuMode::USER, addr) {
        Ok(location) => name_and_offset(location, addr).0,
        Err(reason) => format!("{reason:?}"),
    }
}

fn spaces_after(changes: &[Change]) -> AddressSpaces {
    let mut spaces = AddressSpaces::new();
    for change in changes {
        change.apply(&mut spaces);
    }
    spaces
}

#[test]
fn child_keeps_the_mappings_of_its_parent_until_it_maps_over_them() {
    let mut spaces =
        spaces_after(&[map(1, 0x1000, 0x3000, "/bin/a"), fork(2, 1), map(2, 0x2000, 0x1000, "/lib/b")]);
    assert_eq!(path(&spaces, 1, 0x2000), "/bin/a");
    assert_eq!(path(&spaces, 2, 0x2000), "/lib/b");
    let location = spaces.find(2, CpuMode::USER, 0x3010).expect("the rest of the mapping");
    assert_eq!(name_and_offset(location, 0x3010), ("/bin/a".to_string(), 0x2010));
    Change::Exit { pid: 1, tid: 1 }.apply(&mut spaces);
    assert_eq!(path(&spaces, 1, 0x2000), "UnknownProcess");
    assert_eq!(path(&spaces, 2, 0x1000), "/bin/a");
}

#[test]
fn version_changes_with_the_mappings_and_is_shared_after_a_fork() {
    let mut spaces = spaces_after(&[map(1, 0x1000, 0x1000, "/bin/a"), fork(2, 1)]);
    let first = spaces.mappings_version(1);
    assert!(first.is_some_and(|version| version != 0));
    assert_eq!(spaces.mappings_version(2), first);
    map(2, 0x5000, 0x1000, "/lib/b").apply(&mut spaces);
    assert_eq!(spaces.mappings_version(1), first);
    assert_ne!(spaces.mappings_version(2), first);
    Change::Comm { pid: 2, tid: 2, is_exec: true }.apply(&mut spaces);
    assert_eq!(spaces.mappings_version(2), Some(0));
    assert_eq!(spaces.mappings_version(3), None);
}

#[test]
fn address_is_no_code_only_in_a_process_whose_mappings_are_all_known() {
    let map = |pid, start| mmap(CpuMode::USER, pid, pid, [start, 0x1000, 0], "/bin/a");
    let mut spaces = AddressSpaces::new();
    // Synthetic records have no time.
    update(&mut spaces, map(1, 0x1000), 0);
    // A library of a process without other records, such as a process of another user.
    update(&mut spaces, map(2, 0x1000), 10);
    for (pid, ppid) in [(3, 1), (4, 2)] {
        fork(pid, ppid).apply(&mut spaces);
    }
    for pid in 1..=5 {
        assert!(spaces.may_be_code(pid, 0x1000), "process {pid}");
        assert_eq!(spaces.may_be_code(pid, 0x5000), ![1, 3].contains(&pid), "process {pid}");
    }
    Change::Comm { pid: 4, tid: 4, is_exec: true }.apply(&mut spaces);
    assert!(spaces.may_be_code(4, 0x5000), "no mapping is recorded");
    update(&mut spaces, map(4, 0x1000), 20);
    assert!(spaces.may_be_code(4, 0x1000) && !spaces.may_be_code(4, 0x5000));
    let heap = RecordBuilder::new(RecordType::MMAP, Misc::MMAP_DATA.with_cpu_mode(CpuMode::USER));
    update(&mut spaces, heap.pair(4, 4).words(&[0x7000, 0x1000, 0]).string(b"[heap]"), 30);
    assert!(!spaces.may_be_code(4, 0x7000));
}

#[test]
fn exec_of_a_thread_ends_the_other_threads_and_their_mappings() {
    let thread = Change::Fork { pid: 1, ppid: 1, tid: 5, ptid: 1, is_exec: false };
    // The thread takes the id of the process before its name changes.
    let mut spaces = spaces_after(&[
        map(1, 0x1000, 0x1000, "/bin/a"),
        thread,
        Change::Comm { pid: 1, tid: 1, is_exec: true },
    ]);
    assert_eq!(path(&spaces, 1, 0x1000), "Unmapped");
    assert_eq!(spaces.counts(), SpaceCounts { processes: 1, threads: 1, mappings: 0 });
    Change::Exit { pid: 1, tid: 1 }.apply(&mut spaces);
    assert_eq!(spaces.counts(), SpaceCounts { processes: 0, threads: 0, mappings: 0 });
}

#[test]
fn process_lives_until_its_last_thread_exits() {
    let thread = Change::Fork { pid: 1, ppid: 1, tid: 5, ptid: 1, is_exec: false };
    let mut spaces =
        spaces_after(&[map(1, 0x1000, 0x1000, "/bin/a"), thread, Change::Exit { pid: 1, tid: 1 }]);
    assert_eq!(path(&spaces, 1, 0x1000), "/bin/a");
    Change::Exit { pid: 1, tid: 5 }.apply(&mut spaces);
    assert_eq!(path(&spaces, 1, 0x1000), "UnknownProcess");
}

#[test]
fn process_that_a_tool_found_running_has_no_mappings_of_its_parent() {
    let found = Change::Fork { pid: 2, ppid: 1, tid: 2, ptid: 1, is_exec: true };
    let spaces = spaces_after(&[map(1, 0x1000, 0x1000, "/bin/a"), found]);
    assert_eq!(path(&spaces, 2, 0x1000), "Unmapped");
}

#[test]
fn a_hundred_thousand_short_processes_leave_nothing() {
    let mut spaces = spaces_after(&[map(1, 0x1000, 0x1000, "/bin/a")]);
    for round in 0..100_000 {
        let pid = 2 + round % 30_000;
        fork(pid, 1).apply(&mut spaces);
        map(pid, 0x5000, 0x1000, "/lib/b").apply(&mut spaces);
        Change::Exit { pid, tid: pid }.apply(&mut spaces);
    }
    assert_eq!(spaces.counts(), SpaceCounts { processes: 1, threads: 1, mappings: 1 });
}

#[test]
fn forks_that_map_something_share_the_rest_with_their_parent() {
    let mappings = 1000;
    let parent: Vec<_> = (0..mappings).map(|index| map(1, 0x1000 * index, 0x1000, "/bin/a")).collect();
    let mut spaces = spaces_after(&parent);
    let forks = 20_000;
    for pid in 2..2 + forks {
        fork(pid, 1).apply(&mut spaces);
        map(pid, 0x1000 * u64::from(pid) % (0x1000 * mappings), 0x1000, "/lib/b").apply(&mut spaces);
    }
    assert_eq!(spaces.counts().mappings, (forks as usize + 1) * mappings as usize);
    let mut nodes = HashSet::new();
    for process in spaces.processes.values() {
        process.mappings.add_nodes(&mut nodes);
    }
    // Each process needs the path to one leaf. Full copies would take at least 250 nodes.
    assert!(nodes.len() < 6 * forks as usize, "{} nodes", nodes.len());
    assert_eq!((path(&spaces, 1, 0x2000), path(&spaces, 2, 0x2000)), ("/bin/a".into(), "/lib/b".into()));
    assert_eq!(path(&spaces, 2, 0x3000), "/bin/a");
}

#[test]
fn child_has_the_jitdump_of_its_parent_until_it_maps_its_own_or_execs() {
    let name = |spaces: &AddressSpaces, pid| {
        spaces.jitdump(pid).map(|object| String::from_utf8_lossy(object.path()).into_owned())
    };
    let (first, second) = ("/tmp/jit-1.dump", "/tmp/jit-2.dump");
    let mut spaces = spaces_after(&[map(1, 0x1000, 0x1000, first), fork(2, 1), fork(3, 1)]);
    assert_eq!(name(&spaces, 2).as_deref(), Some(first));
    map(2, 0x5000, 0x1000, second).apply(&mut spaces);
    Change::Comm { pid: 3, tid: 3, is_exec: true }.apply(&mut spaces);
    assert_eq!((name(&spaces, 1).as_deref(), name(&spaces, 2).as_deref()), (Some(first), Some(second)));
    assert_eq!(name(&spaces, 3), None);
}

#[test]
fn processes_whose_exits_were_lost_are_forgotten_on_demand() {
    let mut spaces = spaces_after(&[map(7, 0x1000, 0x1000, "/bin/a"), fork(8, 7), fork(9, 7)]);
    spaces.retain_processes(|pid| pid != 8);
    assert_eq!(
        (spaces.mappings(7).count(), spaces.mappings(8).count(), spaces.mappings(9).count()),
        (1, 0, 1)
    );
    assert_eq!(spaces.find(8, CpuMode::USER, 0x1000).unwrap_err(), Unlocated::UnknownProcess);
}

#[test]
fn mapping_up_to_the_last_address_is_found() {
    let spaces = spaces_after(&[map(1, 0xffff_ffff_ffff_f000, 0x1000, "/bin/a")]);
    assert_eq!(path(&spaces, 1, 0xffff_ffff_ffff_fffe), "/bin/a");
}

fn kernel_path(spaces: &AddressSpaces, addr: u64) -> String {
    match spaces.find(7, CpuMode::KERNEL, addr) {
        Ok(Location::Kernel(Some(mapping))) => String::from_utf8_lossy(mapping.object().path()).into_owned(),
        Ok(Location::KernelSymbol(symbol)) => String::from_utf8_lossy(&symbol.name).into_owned(),
        other => format!("{other:?}"),
    }
}

fn ksymbol(addr: u64, flags: KsymbolFlags, name: &str) -> RecordBuilder {
    RecordBuilder::new(RecordType::KSYMBOL, Misc::empty())
        .u64(addr)
        .u32s(&[0x100])
        .u16s(&[KsymbolType::BPF.0, flags.bits()])
        .string(name.as_bytes())
}

fn bpf_event(kind: BpfEventType, id: u32) -> RecordBuilder {
    RecordBuilder::new(RecordType::BPF_EVENT, Misc::empty())
        .u16s(&[kind.0, 0])
        .u32s(&[id])
        .bytes(&0x1122_3344_5566_7788_u64.to_be_bytes())
}

#[test]
fn kernel_address_is_in_a_symbol_before_a_module_before_the_kernel() {
    let mut spaces = AddressSpaces::new();
    assert_eq!(kernel_path(&spaces, 0x8000), "Ok(Kernel(None))");
    let kernel = |range, name: &str| mmap(CpuMode::KERNEL, u32::MAX, 0, range, name);
    update(&mut spaces, kernel([0x9000, 0x1000, 0], "[nf_tables]"), 0);
    update(&mut spaces, kernel([0x8000, 0x8000, 0x8000], "[kernel.kallsyms]_text"), 0);
    let name = "bpf_prog_1122334455667788_count";
    update(&mut spaces, ksymbol(0x9100, KsymbolFlags::empty(), name), 0);
    assert_eq!(kernel_path(&spaces, 0x8fff), "[kernel.kallsyms]_text");
    assert_eq!(kernel_path(&spaces, 0x9000), "[nf_tables]");
    assert_eq!(kernel_path(&spaces, 0x91ff), name);
    assert_eq!(kernel_path(&spaces, 0x9200), "[nf_tables]");
    update(&mut spaces, ksymbol(0x9100, KsymbolFlags::UNREGISTER, name), 0);
    assert_eq!(kernel_path(&spaces, 0x91ff), "[nf_tables]");
}

#[test]
fn program_id_follows_from_the_tag_in_the_symbols_name() {
    let mut spaces = AddressSpaces::new();
    update(&mut spaces, ksymbol(0x9100, KsymbolFlags::empty(), "bpf_prog_1122334455667788_count"), 0);
    update(&mut spaces, bpf_event(BpfEventType::PROG_LOAD, 41), 0);
    let Ok(Location::KernelSymbol(symbol)) = spaces.find(1, CpuMode::KERNEL, 0x9100) else {
        panic!("a symbol")
    };
    let tag = symbol.bpf_tag().expect("a tag");
    assert_eq!(spaces.bpf_program_id(tag), Some(41));
    // The same program is loaded again before the first one is unloaded.
    update(&mut spaces, bpf_event(BpfEventType::PROG_LOAD, 42), 0);
    update(&mut spaces, bpf_event(BpfEventType::PROG_UNLOAD, 41), 0);
    assert_eq!(spaces.bpf_program_id(tag), Some(42));
    update(&mut spaces, bpf_event(BpfEventType::PROG_UNLOAD, 42), 0);
    assert_eq!(spaces.bpf_program_id(tag), None);
}

#[test]
fn symbol_of_another_kind_has_no_tag() {
    let mut spaces = AddressSpaces::new();
    for (addr, name) in [
        (0x1000, "bpf_trampoline_6442536467"),
        (0x2000, "bpf_prog_short"),
        (0x3000, "bpf_prog_112233445566778g_x"),
    ] {
        update(&mut spaces, ksymbol(addr, KsymbolFlags::empty(), name), 0);
        let Ok(Location::KernelSymbol(symbol)) = spaces.find(1, CpuMode::KERNEL, addr) else {
            panic!("a symbol")
        };
        assert_eq!(symbol.bpf_tag(), None, "{name}");
    }
}

#[test]
fn guest_kernel_is_not_the_kernel_of_the_machine() {
    let mut spaces = AddressSpaces::new();
    update(
        &mut spaces,
        mmap(CpuMode::GUEST_KERNEL, 0, 0, [0x8000, 0x1000, 0], "[guest.kernel.kallsyms]_text"),
        0,
    );
    assert!(matches!(spaces.find(9, CpuMode::GUEST_KERNEL, 0x8000), Ok(Location::GuestKernel(Some(_)))));
    assert!(matches!(spaces.find(9, CpuMode::KERNEL, 0x8000), Ok(Location::Kernel(None))));
}

#[test]
fn mode_without_addresses_is_the_reason() {
    let spaces = AddressSpaces::new();
    for (mode, reason) in [
        (CpuMode::HYPERVISOR, Unlocated::Hypervisor),
        (CpuMode::GUEST_USER, Unlocated::GuestUser),
        (CpuMode::UNKNOWN, Unlocated::UnknownMode(CpuMode::UNKNOWN)),
        (CpuMode(7), Unlocated::UnknownMode(CpuMode(7))),
    ] {
        assert_eq!(spaces.find(1, mode, 0), Err(reason));
    }
}

#[test]
fn only_a_change_after_a_later_record_is_late() {
    let mut spaces = AddressSpaces::new();
    let record = || mmap(CpuMode::USER, 1, 1, [0, 1, 0], "/bin/a");
    update(&mut spaces, record(), 10);
    update(&mut spaces, record(), 10);
    update(&mut spaces, record(), 0);
    assert_eq!(spaces.late_records(), 0);
    update(&mut spaces, record(), 9);
    assert_eq!(spaces.late_records(), 1);
    // A record that changes nothing advances the time but is not counted.
    let lost = |time| (RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[0, 1]), time);
    for (builder, time) in [lost(20), lost(5)] {
        update(&mut spaces, builder, time);
    }
    update(&mut spaces, record(), 15);
    assert_eq!(spaces.late_records(), 2);
}

#[test]
fn thread_has_the_name_of_the_one_that_made_it_until_its_own() {
    let mut spaces = AddressSpaces::new();
    let comm = |tid, name: &str| {
        RecordBuilder::new(RecordType::COMM, Misc::empty()).pair(1, tid).string(name.as_bytes())
    };
    update(&mut spaces, comm(1, "main"), 0);
    Change::Fork { pid: 1, ppid: 1, tid: 2, ptid: 1, is_exec: false }.apply(&mut spaces);
    assert_eq!(spaces.thread_name(2), Some(&b"main"[..]));
    update(&mut spaces, comm(2, "worker"), 0);
    assert_eq!((spaces.thread_name(1), spaces.thread_name(2)), (Some(&b"main"[..]), Some(&b"worker"[..])));
}

#[test]
fn thread_that_exits_keeps_its_name_until_its_id_is_used_again() {
    let mut spaces = AddressSpaces::new();
    let comm = |tid, name: &str| {
        RecordBuilder::new(RecordType::COMM, Misc::empty()).pair(1, tid).string(name.as_bytes())
    };
    for tid in 1..2000 {
        update(&mut spaces, comm(tid, "short"), 0);
        Change::Exit { pid: 1, tid }.apply(&mut spaces);
        let first_kept = tid.saturating_sub(511).max(1);
        assert_eq!(spaces.thread_name(first_kept), Some(&b"short"[..]), "thread {first_kept} after {tid}");
        assert_eq!(spaces.thread_name(tid.saturating_sub(1024)), None, "{tid} threads");
    }
    fork(1999, 1).apply(&mut spaces);
    assert_eq!(spaces.thread_name(1999), None);
}

#[test]
fn build_id_of_the_record_comes_before_the_one_of_the_path() {
    let id = |byte| BuildId::new(&[byte; 20]).expect("20 bytes");
    let mut spaces = AddressSpaces::new();
    let mmap2 = |misc, start: u64, file: [u64; 3]| {
        RecordBuilder::new(RecordType::MMAP2, Misc::with_cpu_mode(misc, CpuMode::USER))
            .pair(1, 1)
            .words(&[start, 0x1000, 0])
            .words(&file)
            .u32s(&[5, 2])
            .string(b"/bin/a")
    };
    let mut bytes = [9; 24];
    bytes[..4].copy_from_slice(&[20, 0, 0, 0]);
    let words = [0, 1, 2].map(|at| u64::from_ne_bytes(bytes[8 * at..8 * at + 8].try_into().expect("a word")));
    update(&mut spaces, mmap2(Misc::MMAP_BUILD_ID, 0x1000, words), 0);
    update(&mut spaces, mmap2(Misc::empty(), 0x2000, [8 | 1 << 32, 99, 3]), 0);
    update(&mut spaces, mmap2(Misc::empty(), 0x3000, [0; 3]), 0);

    let objects: Vec<_> = spaces.mappings(1).map(|mapping| mapping.object().clone()).collect();
    let [with_id, with_inode, with_neither] = &objects[..] else { panic!("{objects:?}") };
    assert_eq!((with_id.build_id, with_id.inode), (Some(id(9)), None));
    assert_eq!(with_inode.inode, Some(Inode { major: 8, minor: 1, inode: 99, generation: 3 }));
    assert_eq!((with_neither.inode, spaces.build_id(with_neither)), (None, None));
    spaces.add_build_id(b"/bin/a", id(7));
    assert_eq!(spaces.build_id(with_id), Some(id(9)));
    assert_eq!(spaces.build_id(with_inode), Some(id(7)));
}

#[test]
fn namespaces_and_control_groups_are_those_of_the_last_record() {
    let mut spaces = AddressSpaces::new();
    assert_eq!((spaces.namespaces(1), spaces.cgroup(5)), (None, None));
    let namespaces = |inode| {
        RecordBuilder::new(RecordType::NAMESPACES, Misc::empty()).pair(1, 1).words(&[2, 4, inode, 4, 77])
    };
    let links = |inode| [NamespaceLink { dev: 4, inode }, NamespaceLink { dev: 4, inode: 77 }];
    for inode in [66, 67] {
        update(&mut spaces, namespaces(inode), 0);
        assert_eq!(spaces.namespaces(1), Some(&links(inode)[..]));
    }
    // A child inherits them.
    fork(2, 1).apply(&mut spaces);
    assert_eq!(spaces.namespaces(2), Some(&links(67)[..]));
    update(&mut spaces, RecordBuilder::new(RecordType::CGROUP, Misc::empty()).u64(5).string(b"/a.slice"), 0);
    assert_eq!(spaces.cgroup(5), Some(&b"/a.slice"[..]));
}

#[test]
fn symbol_over_an_older_one_takes_its_addresses() {
    let mut spaces = AddressSpaces::new();
    update(&mut spaces, ksymbol(0x1000, KsymbolFlags::empty(), "older"), 0);
    update(&mut spaces, ksymbol(0x1080, KsymbolFlags::empty(), "newer"), 0);
    update(&mut spaces, ksymbol(0xf80, KsymbolFlags::empty(), "newest"), 0);
    for (addr, name) in [(0xf80, "newest"), (0x107f, "newest"), (0x1080, "newer"), (0x117f, "newer")] {
        assert_eq!(kernel_path(&spaces, addr), name, "{addr:#x}");
    }
    update(&mut spaces, ksymbol(0x1004, KsymbolFlags::empty(), "inside"), 0);
    assert_eq!(kernel_path(&spaces, 0x1003), "newest");
    let Ok(Location::KernelSymbol(symbol)) = spaces.find(1, CpuMode::KERNEL, 0x1004) else {
        panic!("a symbol")
    };
    assert_eq!((symbol.start, symbol.kind), (0x1004, KsymbolType::BPF));
}

#[test]
fn reason_is_one_line() {
    for (reason, text) in [
        (Unlocated::UnknownProcess, "no record names the process, which began before the recording"),
        (
            Unlocated::Unmapped,
            "nothing was mapped at the address, as while exec replaces a program, or in callchains of code without frame pointers",
        ),
        (
            Unlocated::UnknownMode(CpuMode(7)),
            "the CPU mode of the address is CpuMode(7), expected KERNEL or USER",
        ),
    ] {
        assert_eq!(reason.to_string(), text);
    }
}
