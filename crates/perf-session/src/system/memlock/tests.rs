//! Allowances of made-up users.

use super::*;
use crate::system::tree::Tree;

/// The memory of an unprivileged user at the defaults of Linux.
fn memory(mapped: u64) -> MemlockLimit {
    MemlockLimit {
        page_size: 4096,
        mlock_kb: 516,
        online_cpus: 2,
        limit: Some(8 << 20),
        pinned: 0,
        mapped: MemlockUsage { bytes: mapped, own_bytes: mapped, unreadable: 0 },
        is_unlimited: false,
    }
}

#[test]
fn allowance_is_whole_pages_for_each_cpu() {
    assert_eq!(memory(0).allowance(), 258 * 4096);
    let odd = MemlockLimit { mlock_kb: 515, ..memory(0) };
    assert_eq!(odd.allowance(), 256 * 4096);
    assert_eq!(MemlockLimit { page_size: 65536, ..memory(0) }.allowance(), 16 * 65536);
}

#[test]
fn limit_of_the_process_follows_the_allowance() {
    let total = (258 + 2048) * 4096;
    assert_eq!(memory(0).available(), Some(total));
    assert_eq!(memory(4096).available(), Some(total - 4096));
    // The allowance is used up; what is mapped beyond it is pinned by the process.
    let beyond = MemlockLimit { pinned: 3 * 4096, ..memory(261 * 4096) };
    assert_eq!(beyond.available(), Some((2048 - 3) * 4096));
    let exhausted = MemlockLimit { pinned: 1 << 40, limit: Some(0), ..memory(1 << 40) };
    assert_eq!(exhausted.available(), Some(0));
}

#[test]
fn control_page_counts_for_each_ring() {
    let memory = MemlockLimit { limit: Some(0), ..memory(0) }; // 258 pages
    assert_eq!(memory.data_pages(1, 1 << 20), Some(256));
    assert_eq!(memory.data_pages(2, 1 << 20), Some(128));
    assert_eq!(memory.data_pages(3, 1 << 20), Some(64));
    assert_eq!(memory.data_pages(129, 1 << 20), Some(1), "129 rings of 2 pages");
    assert_eq!(memory.data_pages(130, 1 << 20), None);
}

#[test]
fn size_is_at_most_what_was_asked() {
    assert_eq!(memory(0).data_pages(1, 64), Some(64));
    assert_eq!(memory(0).data_pages(1, 100), Some(64), "a power of two");
    assert_eq!(memory(0).data_pages(1, 0), None);
    assert_eq!(memory(0).data_pages(0, 8), Some(8));
}

#[test]
fn unlimited_memory_fits_any_size() {
    let by_capability = MemlockLimit { is_unlimited: true, ..memory(1 << 40) };
    assert_eq!(by_capability.available(), None);
    assert_eq!(by_capability.data_pages(1000, 1 << 20), Some(1 << 20));
    let by_limit = MemlockLimit { limit: None, ..memory(1 << 40) };
    assert_eq!(by_limit.data_pages(1000, 1 << 20), Some(1 << 20));
    assert!(by_limit.to_string().ends_with("no limit applies"), "{by_limit}");
}

const STATUS: &str =
    "Name:\tx\nPid:\t7\nUid:\t1000\t1000\t1000\t1000\nVmPin:\t      12 kB\nCapEff:\t0000000000000000\n";
const RING: &str = "7f0000000000-7f0000009000 rw-s 00000000 00:0f 1 anon_inode:[perf_event]\n";

/// The files of a user with id 1000 whose process 7 asks.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
    tree.file("/proc/sys/kernel/perf_event_paranoid", "2\n");
    tree.file("/sys/devices/system/cpu/online", "0-1,4\n");
    tree.file(
        "/proc/self/limits",
        "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  65536  unlimited  bytes\n",
    );
    tree.file("/proc/self/status", STATUS);
    tree.file("/proc/thread-self/status", STATUS);
    tree.file("/proc/self/maps", format!("55-56 r--p 0 0 0 /bin/x\n70-79 rw-s 0 0 0 /dev/shm/x\n{RING}"));
    tree.file("/proc/7/status", STATUS);
    tree.file("/proc/7/maps", RING);
    tree
}

#[test]
fn limits_are_read_from_the_files() {
    let tree = tree();
    let memory = MemlockLimit::read(tree.system()).unwrap();
    assert_eq!((memory.mlock_kb, memory.online_cpus, memory.limit()), (516, 3, Some(65536)));
    assert_eq!((memory.pinned, memory.is_unlimited()), (12 * 1024, false));
    assert_eq!(
        memory.mapped(),
        MemlockUsage { bytes: 0x9000, own_bytes: 0x9000, unreadable: 0 },
        "7 is the process itself"
    );
}

#[test]
fn rings_of_other_processes_of_the_user_count() {
    let tree = tree();
    tree.file("/proc/8/status", "Pid:\t8\nUid:\t1000\t0\t0\t0\n");
    tree.file("/proc/8/maps", RING.repeat(2));
    tree.file("/proc/9/status", "Pid:\t9\nUid:\t1001\t1001\t1001\t1001\n");
    tree.file("/proc/9/maps", RING);
    tree.file("/proc/10/status", "Pid:\t10\nUid:\t1000\t1000\t1000\t1000\n");
    tree.file("/proc/10/maps/x", "a folder cannot be read");
    tree.file("/proc/12/status", b"Name:\t\xff\nPid:\t12\nUid:\t1000\t1000\t1000\t1000\n");
    tree.file("/proc/12/maps", [&b"1-2 r--p 0 0:0 1 /\xff\n"[..], RING.as_bytes()].concat());
    tree.file("/proc/11/status", "Pid:\t11\nUid:\t1000\t1000\t1000\t1000\n");
    let mapped = MemlockUsage::read(tree.system()).unwrap();
    assert_eq!(mapped, MemlockUsage { bytes: 4 * 0x9000, own_bytes: 0x9000, unreadable: 1 });
    assert!(mapped.to_string().contains("(1 not readable)"), "{mapped}");
}

#[test]
fn capability_or_negative_level_has_no_limit() {
    let with = tree();
    with.file(
        "/proc/thread-self/status",
        STATUS.replace("CapEff:\t0000000000000000", "CapEff:\t0000000000004000"),
    );
    assert!(MemlockLimit::read(with.system()).unwrap().is_unlimited());
    let open = tree();
    open.file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    assert!(MemlockLimit::read(open.system()).unwrap().is_unlimited());
    open.file("/proc/sys/kernel/perf_event_paranoid", "0\n");
    assert!(!MemlockLimit::read(open.system()).unwrap().is_unlimited());
}

#[test]
fn evidence_is_each_value_with_its_file() {
    let memory = MemlockLimit { pinned: 4096, ..memory(0) };
    let evidence: Vec<_> =
        memory.evidence().iter().map(|of| format!("{}: {}", of.source, of.value)).collect();
    let expected = [
        "/proc/sys/kernel/perf_event_mlock_kb: 516",
        "the number of online CPUs: 2",
        "Max locked memory of /proc/self/limits: 8388608",
        "VmPin of /proc/self/status: 4096 bytes",
    ];
    assert_eq!(evidence.get(..4), Some(expected.map(str::to_owned).as_slice()));
    assert!(
        evidence.iter().any(|line| line.starts_with("the mapped rings of the user: 0 bytes")),
        "{evidence:?}"
    );
}

#[test]
fn malformed_files_are_errors_that_name_them() {
    let files = [
        ("/proc/self/limits", "Max locked memory  much  much  bytes\n"),
        ("/proc/self/limits", "Max open files 1 1 files\n"),
        ("/proc/self/status", "VmPin:\t many kB\n"),
        ("/proc/sys/kernel/perf_event_mlock_kb", "-1\n"),
        ("/sys/devices/system/cpu/online", "x\n"),
    ];
    for (file, content) in files {
        let tree = tree();
        tree.file(file, content);
        let error = MemlockLimit::read(tree.system()).unwrap_err();
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn process_without_vm_pin_has_pinned_nothing() {
    let tree = tree();
    tree.file("/proc/self/status", "Pid:\t7\nUid:\t1000\n");
    assert_eq!(MemlockLimit::read(tree.system()).unwrap().pinned, 0);
}
