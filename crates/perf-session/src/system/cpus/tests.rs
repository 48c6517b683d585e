//! Lists of CPUs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::*;
use crate::system::System;
use crate::system::tree::Tree;

fn list(text: &str) -> CpuList {
    text.parse().unwrap()
}

fn error(text: &str) -> (usize, &'static str) {
    let CpuListError { offset, expected } = text.parse::<CpuList>().unwrap_err();
    (offset, expected)
}

#[test]
fn list_has_its_ranges_and_holes() {
    let cpus = list("0-3,8,10-11\n");
    assert_eq!(cpus.as_slice(), [0, 1, 2, 3, 8, 10, 11]);
    assert_eq!((cpus.len(), cpus.contains(3), cpus.contains(4)), (7, true, false));
    assert_eq!(cpus.to_string(), "0-3,8,10-11");
    assert_eq!((&cpus).into_iter().sum::<u32>(), cpus.into_iter().sum());
}

#[test]
fn empty_text_is_an_empty_list() {
    for text in ["", "\n", " \t\n"] {
        assert!(list(text).is_empty());
    }
    assert_eq!(list("").to_string(), "");
}

#[test]
fn ranges_may_overlap_and_be_in_any_order() {
    assert_eq!(list(" 5,3-4,0,4-5,3 ").to_string(), "0,3-5");
    assert_eq!(list("0-9,2-3,5").to_string(), "0-9");
    assert_eq!((list("65535").as_slice(), list("3-3").as_slice()), (&[CpuList::MAX_CPU][..], &[3][..]));
}

#[test]
fn wrong_character_is_pointed_at() {
    assert_eq!(error("0-3,x"), (4, "a CPU"));
    assert_eq!(error("0,"), (2, "a CPU"));
    assert_eq!(error(","), (0, "a CPU"));
    assert_eq!(error(" 3 4"), (2, "`,`, `-` or the end"));
    assert_eq!(error("1-2-3"), (3, "`,`, `-` or the end"));
    assert_eq!(error("0,7-5"), (4, "a CPU that is not below the first of the range"));
    assert_eq!(error("-1"), (0, "a CPU"));
    assert_eq!(error("1-"), (2, "a CPU"));
    assert_eq!(error("٣"), (0, "a CPU"));
    let message = "0-x".parse::<CpuList>().unwrap_err().to_string();
    assert_eq!(message, "CPU list: expected a CPU at offset 2; write it as `0-3,8`");
}

#[test]
fn ids_that_no_machine_has_are_refused_and_not_allocated() {
    assert_eq!(error("0-4294967295"), (2, "a CPU of at most 65535"));
    assert_eq!(error("65536"), (0, "a CPU of at most 65535"));
    assert_eq!(error("0,99999999999999999999999"), (2, "a CPU of at most 65535"));
    // A range may be repeated: it claims no memory again.
    assert_eq!(list(&"0-65535,".repeat(10_000)[..79_999]).len(), 65536);
}

#[test]
fn offline_cpus_of_a_machine_are_read_from_its_files() {
    let tree = Tree::new();
    tree.file("/sys/devices/system/cpu/online", "0-3,8,10-11\n");
    tree.file("/sys/devices/system/cpu/possible", "0-15\n");
    tree.file("/sys/devices/system/cpu/offline", "4-7,9,12-15\n");
    assert_eq!(CpuList::online(tree.system()).unwrap(), list("0-3,8,10-11"));
    assert_eq!(CpuList::possible(tree.system()).unwrap(), list("0-15"));
    assert_eq!(CpuList::offline(tree.system()).unwrap(), list("4-7,9,12-15"));
    tree.file("/sys/devices/system/cpu/online", "0-3,zwei\n");
    let error = CpuList::online(tree.system()).unwrap_err();
    assert_eq!(error.path(), tree.system().path("/sys/devices/system/cpu/online"));
    assert!(error.to_string().ends_with("with a CPU, found `zwei`"), "{error}");
    assert!(CpuList::online(&System::at("/nowhere")).unwrap_err().is_not_found());
}

#[test]
fn cpus_of_a_machine_without_sys_are_those_that_proc_counts() {
    let tree = Tree::new();
    tree.file("/proc/stat", "cpu  10 20 30\ncpu0 5 10 15\ncpu3 5 10 15\nintr 7 8\nctxt 9\n");
    assert_eq!(CpuList::online(tree.system()).unwrap(), list("0,3"));
    assert_eq!(CpuList::possible(tree.system()).unwrap(), list("0,3"));
    tree.file("/proc/stat", "cpu  10 20 30\n");
    assert!(CpuList::online(tree.system()).unwrap_err().is_not_found());
}

#[test]
fn allowed_cpus_are_read_from_the_status_file() {
    let tree = Tree::new();
    tree.file("/proc/thread-self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0,1024-1030\n");
    assert_eq!(allowed(tree.system()).unwrap(), list("0,1024-1030"));
    tree.file("/proc/thread-self/status", "Name:\tx\n");
    let error = allowed(tree.system()).unwrap_err();
    assert!(error.to_string().contains("expected a line `Cpus_allowed_list:`, found nothing"), "{error}");
}

#[test]
fn affinity_is_that_of_the_calling_thread() {
    let system = System::new();
    let Some(first) = CpuList::affinity(&system).unwrap().iter().next() else {
        panic!("a thread that runs has a CPU");
    };
    let Ok(whole) = sched_getaffinity(None) else {
        eprintln!("skipped: more than 1024 CPUs");
        return;
    };
    let mut one = CpuSet::new();
    one.set(first as usize);
    sched_setaffinity(None, &one).unwrap();
    let pinned = (CpuList::affinity(&system), allowed(&system));
    sched_setaffinity(None, &whole).unwrap();
    assert_eq!(pinned.0.unwrap(), CpuList::from(first));
    assert_eq!(pinned.1.unwrap(), CpuList::from(first));
    assert_eq!(CpuList::affinity(&system).unwrap().len(), whole.count() as usize);
}

#[test]
fn online_cpus_are_possible_and_not_offline() {
    let system = System::new();
    let (Ok(online), Ok(possible), Ok(offline)) =
        (CpuList::online(&system), CpuList::possible(&system), CpuList::offline(&system))
    else {
        eprintln!("skipped: no CPUs in sysfs");
        return;
    };
    assert!(!online.is_empty());
    assert_eq!(online.difference(&possible), CpuList::default());
    assert_eq!(online.intersection(&offline), CpuList::default());
}

proptest! {
    #[test]
    fn printing_and_parsing_is_the_identity(cpus in prop::collection::vec(0..=CpuList::MAX_CPU, 0..40), near in 0_u32..100) {
        let cpus: CpuList = cpus.into_iter().chain(near..near + near % 7).collect();
        prop_assert_eq!(list(&cpus.to_string()), cpus);
    }

    #[test]
    fn operations_are_those_of_sets(a in prop::collection::btree_set(0_u32..40, 0..30), b in prop::collection::btree_set(0_u32..40, 0..30)) {
        let lists: (CpuList, CpuList) = (a.iter().copied().collect(), b.iter().copied().collect());
        let same = |list: CpuList, set: BTreeSet<u32>| list.iter().eq(set);
        prop_assert!(same(lists.0.union(&lists.1), a.union(&b).copied().collect()));
        prop_assert!(same(lists.0.intersection(&lists.1), a.intersection(&b).copied().collect()));
        prop_assert!(same(lists.0.difference(&lists.1), a.difference(&b).copied().collect()));
    }

    #[test]
    fn any_text_is_a_list_or_an_error_within_it(text in "[0-9,\\- \n]{0,30}|.{0,20}") {
        match text.parse::<CpuList>() {
            Ok(cpus) => prop_assert_eq!(list(&cpus.to_string()), cpus),
            Err(error) => prop_assert!(error.offset <= text.len()),
        }
    }
}
