//! Moving the elements of a pinned map to the map that replaces it.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use crate::prelude::*;

fn spec(max_entries: u32) -> MapSpec<'static> {
    MapSpec::new(BpfMapType::HASH, max_entries)
}

/// Writes 10 elements, opens the path with another spec and moves them, and returns the moved
/// elements.
fn moved<K: Key, V: Value>(
    fs: &BpfFs,
    specs: [MapSpec<'_>; 2],
    key: impl Fn(u32) -> K,
    value: impl Fn(&Map<K, V>) -> V,
) -> Option<(PinnedMap<K, V>, u64, u64)> {
    let path = fs.path("moved").unwrap();
    let (old, _) = permitted(PinnedMap::<K, V>::open_or_create(&path, specs[0]))?;
    (0..10).for_each(|number| old.update(&key(number), &value(&old)).unwrap());
    let (new, outcome) =
        PinnedMap::open_or_create_with(&path, specs[1], |_| IfDifferent::MoveFitting).unwrap();
    let PinOutcome::Moved(_, stats) = outcome else { panic!("{outcome}") };
    assert!(stats.complete, "{stats}");
    assert!(unpin(path).unwrap());
    Some((new, stats.moved, stats.unmoved))
}

#[test]
fn elements_are_moved_to_a_larger_map_and_counted_if_they_do_not_fit() {
    with_bpf_fs(|fs| {
        let seven = |_: &Map<u32, u64>| 7;
        let Some((map, moved_all, unmoved)) = moved(fs, [spec(10), spec(20)], |key| key, seven) else {
            return;
        };
        assert_eq!((moved_all, unmoved, map.iter().count()), (10, 0, 10));
        assert_eq!(map.lookup(&9).unwrap(), Some(7));
        let (map, fitting, unmoved) = moved(fs, [spec(10), spec(4)], |key| key, seven).unwrap();
        assert_eq!((fitting, unmoved, map.iter().count()), (4, 6, 4));
    });
}

#[test]
fn map_whose_elements_do_not_all_fit_into_the_new_one_stays_pinned() {
    with_bpf_fs(|fs| {
        let path = fs.path("flows").unwrap();
        let Some((old, _)) = permitted(Pinned::open_or_create(&path, spec(64))) else { return };
        (0..64).for_each(|key| old.update(&key, &u64::from(key)).unwrap());
        let id = old.fd().info().unwrap().id;
        for smaller in [spec(10), MapSpec::new(BpfMapType::LRU_HASH, 10), MapSpec::new(BpfMapType::ARRAY, 10)]
        {
            let error = Pinned::open_or_create_with(&path, smaller, |_| IfDifferent::Move).unwrap_err();
            let text = error.to_string();
            let Error::Unmoved { stats, differences, map, .. } = error else { panic!("{text}") };
            assert_eq!((stats.moved + stats.unmoved, stats.complete), (64, true), "{text}");
            assert!(stats.unmoved > 0 && !differences.is_empty());
            assert!(text.contains("max_entries: expected 10, found 64"), "{text}");
            assert!(text.contains(&format!("{} of 64 elements", stats.unmoved)), "{text}");
            assert_eq!(map.info().unwrap().id, id);
            let pinned = Pinned::open(&path).unwrap();
            assert_eq!((pinned.fd().info().unwrap().id, pinned.iter().count()), (id, 64), "nothing is lost");
            assert_eq!(pin_names(fs), ["flows"]);
        }
        let (_, outcome) = Pinned::open_or_create_with(&path, spec(65), |_| IfDifferent::Move).unwrap();
        assert!(matches!(outcome, PinOutcome::Moved(_, stats) if (stats.moved, stats.unmoved) == (64, 0)));
    });
}

#[test]
fn elements_that_an_lru_hash_evicts_are_counted_as_not_moved() {
    with_bpf_fs(|fs| {
        let lru = MapSpec::new(BpfMapType::LRU_HASH, 1);
        let Some((map, fitting, unmoved)) = moved(fs, [spec(10), lru], |key| key, |_| 7_u64) else { return };
        assert_eq!(fitting, map.keys().count() as u64);
        assert_eq!((fitting + unmoved, unmoved > 0), (10, true));
    });
}

#[test]
fn values_of_each_cpu_and_prefixes_are_moved() {
    with_bpf_fs(|fs| {
        let spec = |size| MapSpec::new(BpfMapType::PERCPU_HASH, size);
        let value = |map: &Map<u32, PerCpu<u32>>| map.per_cpu(|cpu| cpu + 3);
        let Some((map, fitting, 0)) = moved(fs, [spec(10), spec(20)], |key| key, value) else { return };
        assert_eq!((fitting, map.lookup(&4).unwrap()), (10, Some(map.per_cpu(|cpu| cpu + 3))));
        let spec = |size| MapSpec::new(BpfMapType::LPM_TRIE, size).with_flags(BpfMapFlags::NO_PREALLOC);
        let (map, fitting, _) = moved(fs, [spec(10), spec(20)], |key| [32, key], |_| 7_u64).unwrap();
        assert_eq!((fitting, map.iter().count()), (10, 10));
    });
}

#[test]
fn a_map_whose_elements_cannot_be_moved_is_refused() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let Some((old, _)) = permitted(Pinned::open_or_create(&path, spec(4))) else { return };
        old.update(&1, &10).unwrap();
        // Values of another size.
        let other = PinnedMap::<u32, u32>::open_or_create_with(&path, spec(4), |_| IfDifferent::Move);
        assert!(matches!(other, Err(Error::Differs { .. })), "{other:?}");
        // Programs are read as ids and written as descriptors.
        let programs = MapSpec::new(BpfMapType::PROG_ARRAY, 4);
        PinnedMap::<u32, u32>::create_anew(&path, programs).unwrap();
        let larger = programs.with_max_entries(8);
        let other = PinnedMap::<u32, u32>::open_or_create_with(&path, larger, |_| IfDifferent::Move);
        assert!(matches!(other, Err(Error::Differs { .. })), "{other:?}");
        assert_eq!(pin_names(fs), ["map"]);
    });
}

/// Starts this test program again, to run one ignored test, which knows the path.
fn spawn(test: &str, path: &PathBuf) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("pin_move::{test}"), "--ignored", "--nocapture"])
        .env("PK_PIN", path)
        .spawn()
        .unwrap()
}

#[test]
fn an_agent_and_its_successor_share_a_map() {
    with_bpf_fs(|fs| {
        let path = fs.path("shared").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(64))) else { return };
        map.update(&0, &10).unwrap();
        drop(map);
        // Both replace the map again and again while this thread opens it.
        let mut children = [0, 1].map(|_| spawn("child_moves_the_shared_map", &path));
        let mut exited = [None; 2];
        let mut opened = 0;
        while exited.iter().any(Option::is_none) {
            let map = Pinned::open(&path).unwrap();
            assert_eq!(map.lookup(&0).unwrap(), Some(10));
            opened += 1;
            for (child, exited) in children.iter_mut().zip(&mut exited) {
                *exited = exited.or_else(|| child.try_wait().unwrap());
            }
        }
        assert!(exited.iter().flatten().all(ExitStatus::success), "{exited:?}");
        assert!(opened > 10);
        // The element outlives all processes that moved it.
        assert_eq!(Pinned::open(&path).unwrap().lookup(&0).unwrap(), Some(10));
        assert_eq!(pin_names(fs), ["shared"]);
    });
}

#[test]
fn agents_that_are_killed_while_they_replace_the_map_leave_one_map() {
    with_bpf_fs(|fs| {
        let path = fs.path("shared").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(64))) else { return };
        map.update(&0, &10).unwrap();
        drop(map);
        let id = || Pinned::open(&path).unwrap().fd().info().unwrap().id;
        for _ in 0..20 {
            let mut children = [0, 1].map(|_| spawn("child_moves_the_shared_map", &path));
            let first = id();
            // Both have replaced it, or they have ended.
            while id() < first + 6 && children[0].try_wait().unwrap().is_none() {}
            for child in &mut children {
                child.kill().unwrap();
            }
            for mut child in children {
                child.wait().unwrap();
            }
            assert_eq!(Pinned::open(&path).unwrap().lookup(&0).unwrap(), Some(10));
            assert_eq!(pin_names(fs), ["shared"]);
        }
    });
}

#[test]
#[ignore = "run by an_agent_and_its_successor_share_a_map"]
fn child_moves_the_shared_map() {
    let Some(path) = std::env::var_os("PK_PIN") else { return };
    for round in 0..200 {
        // Another capacity each time: the elements move to a new map at the same path.
        let spec = spec(64 + round % 3 + std::process::id() % 2 * 10);
        let (map, outcome) = Pinned::open_or_create_with(&path, spec, |_| IfDifferent::Move).unwrap();
        assert!(!matches!(outcome, PinOutcome::Created), "the path was without a map");
        map.update(&std::process::id(), &1).unwrap();
    }
}
