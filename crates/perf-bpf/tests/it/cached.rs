//! The copy of a map in memory.

use crate::prelude::*;

#[test]
fn each_write_goes_to_the_map_and_the_copy() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    let mut map = CachedMap::new(map);
    map.update(1, 10).unwrap();
    map.update(1, 11).unwrap();
    map.update(2, 20).unwrap();
    assert!(map.delete(&2).unwrap());
    assert!(!map.delete(&3).unwrap());
    let entries: Vec<_> = map.entries().map(|entry| (*entry.key(), entry.value().copied())).collect();
    assert_eq!(entries, [(1, Some(11))]);
    assert_eq!(map.get(&1).unwrap().desired_action(), DesiredAction::InSync);
    assert_eq!(map.map().lookup(&1).unwrap(), Some(11));
    assert_eq!(map.delete_all().unwrap(), 1);
    assert_eq!(map.entries().len(), 0);
}

#[test]
fn a_refused_update_is_repeated_by_sync() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 1) else { return };
    let mut map = CachedMap::new(map);
    map.update(1, 10).unwrap();
    assert_eq!(map.update(2, 20).unwrap_err().errno(), Some(Errno::E2BIG));
    let entry = map.get(&2).unwrap();
    assert_eq!((entry.value(), entry.desired_action()), (Some(&20), DesiredAction::Insert));
    assert_eq!(entry.last_error().unwrap().errno(), Some(Errno::E2BIG));
    assert_eq!(map.sync(), 1);
    map.delete(&1).unwrap();
    assert_eq!(map.sync(), 0);
    assert_eq!(map.map().lookup(&2).unwrap(), Some(20));
    assert!(map.get(&2).unwrap().last_error().is_none());
}

#[test]
fn a_refused_deletion_is_repeated_by_sync() {
    let Some(frozen) = map_or_skip::<u32, u64>(BpfMapType::HASH, 2) else { return };
    let mut map = CachedMap::new(frozen);
    map.update(1, 10).unwrap();
    map.map().freeze().unwrap();
    assert_eq!(map.delete(&1).unwrap_err().errno(), Some(Errno::EPERM));
    assert!(map.delete(&2).is_err());
    for key in [1, 2] {
        assert_eq!(map.get(&key).unwrap().desired_action(), DesiredAction::Delete, "{key}");
    }
    assert_eq!((map.get(&1).unwrap().value(), map.get(&2).unwrap().value()), (Some(&10), None));
    assert_eq!((map.sync(), map.entries().len()), (2, 2));
}

#[test]
fn a_new_map_gets_all_elements() {
    let Some(first) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    let mut map = CachedMap::new(first);
    (0..4).for_each(|key| map.update(key, 7).unwrap());
    let small = map_or_skip::<u32, u64>(BpfMapType::HASH, 3).unwrap();
    assert_eq!(map.rewrite(small), 1);
    let large = map_or_skip::<u32, u64>(BpfMapType::HASH, 4).unwrap();
    assert_eq!(map.rewrite(large), 0);
    assert_eq!(map.into_map().keys().count(), 4);
}

#[test]
fn a_refused_deletion_of_all_is_left_to_sync() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    let mut map = CachedMap::new(map);
    (0..3).for_each(|key| map.update(key, 7).unwrap());
    // Simulate a deletion that failed in the middle.
    map.map().delete(&1).unwrap();
    map.map().freeze().unwrap();
    assert_eq!(map.delete_all().unwrap_err().errno(), Some(Errno::EPERM));
    for entry in map.entries() {
        assert_eq!(entry.desired_action(), DesiredAction::Delete, "{}", entry.key());
        assert_eq!(entry.last_error().unwrap().errno(), Some(Errno::EPERM));
    }
    assert_eq!((map.sync(), map.entries().len()), (3, 3));
    let other = map_or_skip::<u32, u64>(BpfMapType::HASH, 4).unwrap();
    other.update(&2, &7).unwrap();
    assert_eq!((map.rewrite(other), map.entries().len()), (0, 0));
    assert_eq!(map.map().keys().count(), 0);
}
