//! Dumps while another thread deletes.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::prelude::*;

/// Keys below this stay, those from it on come and go.
const LASTING: u32 = 2000;
const KEYS: u32 = 4000;

/// Dumps while another thread inserts and deletes keys, and returns the statistics of each dump.
fn dump_under_churn(
    map: &Map<u32, u64>,
    dump: impl Fn(&mut dyn FnMut(u32, u64)) -> DumpStats,
) -> Vec<DumpStats> {
    (0..LASTING).for_each(|key| map.update(&key, &u64::from(key)).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                (LASTING..KEYS).for_each(|key| map.update(&key, &u64::from(key)).unwrap());
                (LASTING..KEYS).for_each(|key| assert!(map.delete(&key).unwrap()));
            }
        });
        let _done = SetOnDrop(&done);
        let stats = (0..10).map(|_| {
            let mut found = HashSet::new();
            let stats = dump(&mut |key, value| {
                assert_eq!(value, u64::from(key));
                assert!(found.insert(key), "{key} was delivered twice");
            });
            assert_eq!(stats.delivered, found.len() as u64);
            // Batches copy whole buckets; a step by keys may be led astray by a deletion in the
            // kernel.
            if stats.batches > 0 {
                assert!((0..LASTING).all(|key| found.contains(&key)), "{stats}");
            }
            stats
        });
        stats.collect()
    })
}

#[test]
fn a_reliable_dump_delivers_all_lasting_elements_once() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, KEYS) else { return };
    let stats = dump_under_churn(&map, |deliver| map.dump_reliably(deliver).unwrap());
    for stats in stats {
        assert!(stats.complete && stats.batches > 0, "{stats}");
        assert_eq!((stats.lookups, stats.interruptions), (0, 0));
    }
}

#[test]
fn a_dump_by_keys_continues_after_deleted_keys() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, KEYS) else { return };
    let stats = dump_under_churn(&map, |deliver| map.dump_by_keys(deliver).unwrap());
    for stats in &stats {
        assert_eq!(stats.lookups, stats.delivered + stats.failed_lookups, "{stats}");
        assert_eq!(stats.failed_lookups, stats.fallbacks + stats.interruptions, "{stats}");
        assert!(stats.interruptions >= stats.unavailable_keys, "{stats}");
        assert_eq!((stats.batches, stats.max_entries), (0, KEYS));
        eprintln!("{stats}");
    }
}

#[test]
fn a_key_deleted_during_the_dump_is_a_failed_lookup() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 100) else { return };
    (0..100).for_each(|key| map.update(&key, &0).unwrap());
    let order: Vec<u32> = map.keys().collect::<Result<_, _>>().unwrap();
    let mut found = Vec::new();
    // The successor is known already when its key is deleted.
    let stats = map.dump_by_keys(|key, _| {
        if key == order[10] {
            assert!(map.delete(&order[11]).unwrap());
        }
        if key == order[50] {
            assert!(map.delete(&order[50]).unwrap());
            assert!(map.delete(&order[51]).unwrap());
        }
        found.push(key);
    });
    let stats = stats.unwrap();
    assert!(stats.complete, "{stats}");
    assert_eq!((stats.failed_lookups, stats.fallbacks, stats.interruptions), (2, 1, 1));
    assert_eq!(stats.unavailable_keys, 1);
    found.sort_unstable();
    let expected: Vec<u32> = (0..100).filter(|key| ![order[11], order[51]].contains(key)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_dump_of_an_empty_map_is_complete() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    for stats in [map.dump_reliably(|_, _| ()).unwrap(), map.dump_by_keys(|_, _| ()).unwrap()] {
        assert!(stats.complete && stats.delivered == 0, "{stats}");
    }
}

/// Returns the batches of an iteration, and deletes the last key of each batch before the next one.
fn batches_under_deletion<K: Key + Copy>(map: &Map<K, u64>, mut cursor: BatchCursor) -> Vec<Vec<K>> {
    let mut batches = Vec::new();
    while !cursor.is_at_end() {
        let batch: Vec<K> = map.lookup_batch(&mut cursor).unwrap().into_iter().map(|(key, _)| key).collect();
        if let Some(last) = batch.last() {
            assert!(map.delete(last).unwrap());
        }
        batches.push(batch);
    }
    batches
}

/// If the previous key was deleted, the kernel continues with the first key.
#[test]
fn batches_deliver_no_key_twice_while_others_are_deleted() {
    let spec = MapSpec::new(BpfMapType::LPM_TRIE, 64).with_flags(BpfMapFlags::NO_PREALLOC);
    for cursor in [BatchCursor::new(2), BatchCursor::by_keys(2)] {
        let Some(map) = permitted(Map::<[u32; 2], u64>::create(spec)) else { return };
        (0..64).for_each(|key| map.update(&[32, key], &7).unwrap());
        let keys: Vec<_> = batches_under_deletion(&map, cursor).concat();
        let distinct: HashSet<_> = keys.iter().collect();
        assert_eq!((keys.len(), distinct.len()), (64, 64), "each key once");
    }
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 64) else { return };
    (0..64).for_each(|key| map.update(&key, &7).unwrap());
    let keys: Vec<_> = batches_under_deletion(&map, BatchCursor::by_keys(2)).concat();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
}

#[test]
fn batches_of_a_trie_deliver_all_lasting_keys_once_under_churn() {
    let spec = MapSpec::new(BpfMapType::LPM_TRIE, KEYS).with_flags(BpfMapFlags::NO_PREALLOC);
    let Some(map) = permitted(Map::<[u32; 2], u64>::create(spec)) else { return };
    (0..200).for_each(|key| map.update(&[32, key], &7).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                (200..400).for_each(|key| map.update(&[32, key], &7).unwrap());
                (200..400).for_each(|key| assert!(map.delete(&[32, key]).unwrap()));
            }
        });
        let _done = SetOnDrop(&done);
        for _ in 0..50 {
            let (mut cursor, mut found) = (BatchCursor::new(16), HashSet::new());
            while !cursor.is_at_end() {
                for ([_, key], _) in map.lookup_batch(&mut cursor).unwrap() {
                    assert!(found.insert(key), "{key} was delivered twice");
                }
            }
            assert!((0..200).all(|key| found.contains(&key)));
        }
    });
}

/// An element that is added again after its removal is a different one.
#[test]
fn key_that_is_added_again_is_taken_out_again() {
    let spec = MapSpec::new(BpfMapType::LPM_TRIE, 8).with_flags(BpfMapFlags::NO_PREALLOC);
    let Some(map) = permitted(Map::<[u32; 2], u64>::create(spec)) else { return };
    (0..4).for_each(|key| map.update(&[32, key], &7).unwrap());
    let mut cursor = BatchCursor::new(2);
    let first = map.lookup_and_delete_batch(&mut cursor).unwrap();
    for (key, _) in &first {
        map.update(key, &8).unwrap();
    }
    let mut taken = first.len();
    while !cursor.is_at_end() {
        taken += map.lookup_and_delete_batch(&mut cursor).unwrap().len();
    }
    assert_eq!(taken + map.iter().count(), 6);
}
