//! Failed mappings.

use super::*;
use perf_ring::sys::Error as SysError;

fn of_map(tree: &Tree, error: Error, attr: &Attr) -> Diagnosis {
    explain_mapping(tree.system(), &error, attr, 512)
}

fn mmap(errno: Errno) -> Error {
    Error::Sys(SysError::System { call: Call::Mmap, errno })
}

#[test]
fn locked_memory_has_all_limits_and_the_size_that_fits() {
    let tree = tree();
    tree.file("/proc/self/limits", "Max locked memory  0  0  bytes\n");
    tree.file("/proc/self/maps", "");
    let explanation = of_map(&tree, mmap(Errno::EPERM), &CLOCK);
    let words =
        ["512 data pages", "perf_event_mlock_kb: 516", "online CPUs: 3", "Max locked memory", "CAP_IPC_LOCK"];
    assert_is(&explanation, Cause::MemlockLimit, &words);
    // 516 KiB for each of 3 CPUs are 387 pages of 4 KiB.
    if perf_ring::sys::page_size() == 4096 {
        assert!(explanation.remedy.starts_with("map at most 256 data pages"), "{explanation}");
    }
    let unknown = explain(tree.system(), mmap(Errno::EPERM), &CLOCK, Target::calling_thread());
    assert_is(&unknown, Cause::MemlockLimit, &["the ring: an unknown number of data pages"]);
}

#[test]
fn limits_that_do_not_apply_are_not_the_cause() {
    let tree = tree();
    tree.file("/proc/self/limits", "Max locked memory  0  0  bytes\n");
    tree.file("/proc/self/maps", "");
    tree.file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    assert_is(&of_map(&tree, mmap(Errno::EPERM), &CLOCK), Cause::Unknown, &["do not apply"]);
}

#[test]
fn exhausted_memory_has_other_rings_as_remedy() {
    let tree = tree();
    tree.file("/proc/self/limits", "Max locked memory  0  0  bytes\n");
    tree.file("/proc/self/maps", "10000000-80000000 rw-s 0 00:0f 1 anon_inode:[perf_event]\n");
    assert_is(&of_map(&tree, mmap(Errno::EPERM), &CLOCK), Cause::MemlockLimit, &["unmap other rings"]);
}

#[test]
fn unreadable_limits_are_named() {
    let explanation = of_map(&Tree::new(), mmap(Errno::EPERM), &CLOCK);
    assert_is(&explanation, Cause::MemlockLimit, &["perf_event_mlock_kb: not readable", "map fewer pages"]);
}

#[test]
fn other_errnos_of_a_mapping_have_their_causes() {
    let tree = tree();
    tree.file("/proc/sys/vm/max_map_count", "65530\n");
    assert_is(&of_map(&tree, mmap(Errno::ENOMEM), &CLOCK), Cause::Memory, &["max_map_count: 65530"]);
    let inherited = CLOCK.with_flags(AttrFlags::INHERIT);
    assert_is(&of_map(&tree, mmap(Errno::EINVAL), &inherited), Cause::AttrField, &["INHERIT", "on each CPU"]);
    assert_is(&of_map(&tree, mmap(Errno::EINVAL), &CLOCK), Cause::State, &["another size"]);
    assert_is(&of_map(&tree, mmap(Errno::EBUSY), &CLOCK), Cause::State, &["another event"]);
    assert_is(&of_map(&tree, mmap(Errno::ENODEV), &CLOCK), Cause::State, &["gone"]);
    assert_is(&of_map(&tree, mmap(Errno::EOPNOTSUPP), &CLOCK), Cause::PmuFeature, &["AUX"]);
    assert_is(&of_map(&tree, mmap(Errno::EIO), &CLOCK), Cause::Unknown, &["unknown"]);
    assert_is(
        &of_map(&tree, Error::Sys(SysError::PageCount { found: 3 }), &CLOCK),
        Cause::Argument,
        &["power of two"],
    );
    assert_is(
        &of_map(&tree, Error::Sys(SysError::WriteBackward), &CLOCK),
        Cause::Argument,
        &["SnapshotRing"],
    );
}
