//! Per-CPU maps where `/sys/devices/system/cpu/possible` is not the kernel's list.

use std::process::{Command, Stdio};

use crate::prelude::*;

const ANY: BpfElemFlags = BpfElemFlags::empty();
const POSSIBLE: &str = "/sys/devices/system/cpu/possible";

/// Returns lists of fewer and of more CPUs than the kernel has.
fn wrong_lists() -> Vec<String> {
    let cpus = CpuList::possible(&System::new()).unwrap();
    let last = cpus.iter().last().unwrap();
    let fewer = cpus.iter().filter(|&cpu| cpu != last).collect::<CpuList>();
    let more = cpus.iter().chain([last + 1]).collect::<CpuList>();
    [fewer, more].into_iter().filter(|list| !list.is_empty()).map(|list| list.to_string()).collect()
}

#[track_caller]
fn assert_names_the_list(error: &Error, list: &str, values: usize) {
    assert!(matches!(error, Error::PossibleCpus { values: found, .. } if *found == values), "{error}");
    assert!(error.to_string().contains(list), "{error}");
}

#[test]
fn list_of_other_cpus_than_the_kernels_is_refused() {
    let Some(map) = map_or_skip::<u32, PerCpu<u64>>(BpfMapType::PERCPU_ARRAY, 1) else { return };
    let values = map.lookup(&0).unwrap().unwrap().values().len();
    for list in wrong_lists() {
        let fd = map.as_fd().try_clone_to_owned().unwrap();
        with_file_text(POSSIBLE, &format!("{list}\n"), move || {
            for map_type in [BpfMapType::PERCPU_ARRAY, BpfMapType::PERCPU_HASH, BpfMapType::LRU_PERCPU_HASH] {
                let error = MapFd::create(&MapSpec::new(map_type, 1).with_sizes(4, 8)).unwrap_err();
                assert_names_the_list(&error, &list, values);
            }
            assert_names_the_list(&MapFd::from_fd(fd).unwrap_err().error, &list, values);
            // The length of other elements does not depend on the list.
            MapFd::create(&MapSpec::new(BpfMapType::HASH, 1).with_sizes(4, 8)).unwrap();
        });
    }
}

/// The kernel rounds the capacity up to a multiple of the CPUs that it has itself.
#[test]
fn map_does_not_differ_because_another_list_of_cpus_is_shown() {
    let spec =
        || MapSpec::new(BpfMapType::LRU_HASH, 1).with_sizes(4, 8).with_flags(BpfMapFlags::NO_COMMON_LRU);
    let Some(map) = permitted(MapFd::create(&spec())) else { return };
    let info = map.info().unwrap();
    for list in wrong_lists() {
        with_file_text(POSSIBLE, &list, move || assert_eq!(spec().differences(&info).unwrap(), []));
    }
}

/// The list that the process of [`unprivileged_reader`] is shown; empty for the kernel's.
const LIST: &str = "PK_POSSIBLE_CPUS";

/// The first value of each CPU.
const INITIAL: u64 = 7;

/// Runs as a process that may not create maps, and so cannot count the kernel's values by a
/// separate one. Its standard input is a map with the key 1.
#[test]
#[ignore = "runs as a process of other tests"]
fn unprivileged_reader() {
    let Ok(list) = std::env::var(LIST) else { return };
    let fd = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    if list.is_empty() {
        as_nobody(move || reads_and_writes(MapFd::from_fd(fd).unwrap()));
    } else {
        let text = list.clone();
        with_file_text(POSSIBLE, &text, move || {
            as_nobody(move || gets_an_error(MapFd::from_fd(fd).unwrap(), &list));
        });
    }
}

fn reads_and_writes(map: MapFd) {
    let map = Map::<u32, PerCpu<u64>>::try_from(map).unwrap();
    let found = map.lookup(&1).unwrap().unwrap();
    assert!(found.values().iter().all(|&value| value == INITIAL), "{found:?}");
    map.update(&2, &map.per_cpu(|cpu| u64::from(cpu) + 100)).unwrap();
    map.update_batch(&[(3, map.per_cpu(|_| 3)), (4, map.per_cpu(|_| 4))]).unwrap();
    let mut cursor = BatchCursor::new(2);
    let mut elements = Vec::new();
    while !cursor.is_at_end() {
        elements.extend(map.lookup_batch(&mut cursor).unwrap());
    }
    elements.sort_unstable_by_key(|(key, _)| *key);
    assert_eq!(elements.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(elements[1].1.iter().all(|(cpu, value)| *value == u64::from(cpu) + 100), "{elements:?}");
    assert!(elements[2].1.values().iter().all(|&value| value == 3), "{elements:?}");
    if let Ok(taken) = map.lookup_and_delete(&2) {
        assert_eq!(taken.as_ref(), Some(&elements[1].1));
        assert_eq!(map.lookup(&2).unwrap(), None);
    }
    assert!(map.dump_reliably(|_, _| ()).unwrap().complete);
}

fn gets_an_error(map: MapFd, list: &str) {
    let size = map.element_size().unwrap();
    let mut memory = vec![0xee; size + 4096];
    let (value, after) = memory.split_at_mut(size);
    let read = map.lookup(&1_u32.to_ne_bytes(), value, ANY);
    let written = after.iter().filter(|&&byte| byte != 0xee).count();
    assert_eq!(written, 0, "bytes after the buffer changed");
    assert!(value.iter().all(|&byte| byte == 0xee), "values of unknown CPUs were returned");
    let values = match read.unwrap_err() {
        Error::PossibleCpus { values, .. } => values,
        error => panic!("{error}"),
    };
    assert_ne!(size, values * 8);
    assert_names_the_list(&map.lookup_and_delete(&1_u32.to_ne_bytes(), value).unwrap_err(), list, values);
    assert_names_the_list(&map.update(&9_u32.to_ne_bytes(), value, ANY).unwrap_err(), list, values);
    let map = Map::<u32, PerCpu<u64>>::try_from(map).unwrap();
    for error in [
        map.lookup(&1).unwrap_err(),
        map.lookup_batch(&mut BatchCursor::new(8)).unwrap_err(),
        map.dump_reliably(|_, _| ()).unwrap_err(),
        map.update_batch(&[(8, map.per_cpu(|_| 8))]).unwrap_err().error,
    ] {
        assert_names_the_list(&error, list, values);
    }
    // The failed removal left the element.
    assert!(map.keys().any(|key| key.unwrap() == 1));
}

#[test]
fn process_that_may_not_create_maps_reads_and_writes_values_of_all_cpus_or_gets_an_error() {
    for list in [String::new()].into_iter().chain(wrong_lists()) {
        let Some(map) = map_or_skip::<u32, PerCpu<u64>>(BpfMapType::PERCPU_HASH, 16) else { return };
        map.update(&1, &map.per_cpu(|_| INITIAL)).unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "possible_cpus::unprivileged_reader", "--ignored", "--nocapture"])
            .env(LIST, &list)
            .stdin(Stdio::from(map.into_map_fd().into_fd()))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{list:?}: {output:?}");
    }
}
