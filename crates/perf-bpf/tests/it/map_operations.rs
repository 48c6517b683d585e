//! Each operation on each type of hash, trie and array, with one value and with values per CPU.

use std::fmt::Debug;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::prelude::*;

/// Older kernels reserve 128 elements of an LRU hash for each CPU, and evict before it is full.
const CAPACITY: u32 = 20_000;

/// The key of an LPM trie with the longest prefix, which is looked up exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Exact {
    length: u32,
    bits: u32,
}

/// Reads all elements by each way, and checks that they are the same.
fn read_all<K: Key + Copy + Ord + Debug, V: Value + PartialEq + Clone + Debug>(
    map: &Map<K, V>,
) -> Vec<(K, V)> {
    let sorted = |mut elements: Vec<(K, V)>| {
        elements.sort_by_key(|(key, _)| *key);
        elements
    };
    let expected = sorted(map.iter().collect::<Result<_, _>>().unwrap());
    let mut keys: Vec<K> = map.keys().collect::<Result<_, _>>().unwrap();
    keys.sort_unstable();
    assert!(keys.iter().eq(expected.iter().map(|(key, _)| key)));
    let mut found = Vec::new();
    map.dump(|key, value| found.push((key, value))).unwrap();
    assert_eq!(sorted(found), expected);
    let mut found = Vec::new();
    assert!(map.dump_reliably(|key, value| found.push((key, value))).unwrap().complete);
    assert_eq!(sorted(found), expected);
    let mut found = Vec::new();
    assert!(map.dump_by_keys(|key, value| found.push((key, value))).unwrap().complete);
    assert_eq!(sorted(found), expected);
    let mut found = Vec::new();
    let mut cursor = BatchCursor::new(3);
    while !cursor.is_at_end() {
        found.extend(map.lookup_batch(&mut cursor).unwrap());
    }
    assert_eq!(sorted(found), expected);
    expected
}

/// All operations on a map whose elements come and go.
fn use_hash<K, V>(map: &Map<K, V>, key: impl Fn(u32) -> K, value: impl Fn(u32) -> V)
where
    K: Key + Copy + Ord + Debug,
    V: Value + PartialEq + Clone + Debug,
{
    map.update(&key(1), &value(10)).unwrap();
    assert!(map.insert(&key(2), &value(20)).unwrap());
    assert!(!map.insert(&key(2), &value(21)).unwrap());
    assert!(map.replace(&key(1), &value(11)).unwrap());
    assert!(!map.replace(&key(3), &value(30)).unwrap());
    assert_eq!(map.lookup(&key(2)).unwrap(), Some(value(20)));
    assert_eq!(map.lookup(&key(3)).unwrap(), None);
    assert_eq!(read_all(map), [(key(1), value(11)), (key(2), value(20))]);
    assert!(map.delete(&key(1)).unwrap());
    assert!(!map.delete(&key(1)).unwrap());
    let many: Vec<(K, V)> = (3..9).map(|number| (key(number), value(number))).collect();
    map.update_batch(&many).unwrap();
    assert_eq!(read_all(map).len(), 7);
    assert_eq!(map.delete_batch(&[key(3), key(99), key(4)]).unwrap(), 2);
    let mut cursor = BatchCursor::by_keys(2);
    assert_eq!(map.lookup_and_delete_batch(&mut cursor).unwrap().len(), 2);
    assert_eq!(map.delete_all().unwrap(), 3);
    assert!(map.next_key(None).unwrap().is_none());
    assert_eq!(read_all(map), []);
}

#[test]
fn hashes_have_all_operations() {
    for map_type in [BpfMapType::HASH, BpfMapType::LRU_HASH] {
        let Some(map) = map_or_skip::<u32, u64>(map_type, CAPACITY) else { return };
        use_hash(&map, |number| number, u64::from);
        map.update(&1, &10).unwrap();
        assert_eq!(map.lookup_and_delete(&1).unwrap(), Some(10));
        assert_eq!(map.lookup_and_delete(&1).unwrap(), None);
    }
}

#[test]
fn hashes_with_values_per_cpu_have_all_operations() {
    for map_type in [BpfMapType::PERCPU_HASH, BpfMapType::LRU_PERCPU_HASH] {
        let Some(map) = map_or_skip::<u32, PerCpu<u32>>(map_type, CAPACITY) else { return };
        let value = |number| map.per_cpu(|cpu| number * 1000 + cpu);
        use_hash(&map, |number| number, value);
        map.update(&1, &value(10)).unwrap();
        assert_eq!(map.lookup_and_delete(&1).unwrap(), Some(value(10)));
        assert_eq!(map.lookup_and_delete(&1).unwrap(), None);
    }
}

#[test]
fn a_trie_has_all_operations_of_a_hash() {
    let spec = MapSpec::new(BpfMapType::LPM_TRIE, 100).with_flags(BpfMapFlags::NO_PREALLOC);
    let Some(map) = permitted(Map::<Exact, u64>::create(spec)) else { return };
    use_hash(&map, |number| Exact { length: 32, bits: number.to_be() }, u64::from);
    let error = map.lookup_and_delete(&Exact { length: 32, bits: 1 }).unwrap_err();
    assert!(error.to_string().contains("does not support the command"), "{error}");
}

/// All operations on an array of 4 elements.
fn use_array<V: Value + PartialEq + Clone + Debug>(map: &Map<u32, V>, value: impl Fn(u32) -> V) {
    assert_eq!(read_all(map).len(), 4);
    map.update(&1, &value(10)).unwrap();
    assert!(!map.insert(&1, &value(11)).unwrap());
    assert!(map.replace(&2, &value(20)).unwrap());
    assert_eq!(map.lookup(&1).unwrap(), Some(value(10)));
    assert_eq!(map.lookup(&4).unwrap(), None);
    assert_eq!(map.update(&4, &value(40)).unwrap_err().errno(), Some(Errno::E2BIG));
    map.update_batch(&[(0, value(1)), (3, value(4))]).unwrap();
    assert_eq!(read_all(map), [(0, value(1)), (1, value(10)), (2, value(20)), (3, value(4))]);
    for error in [map.delete(&1).unwrap_err(), map.delete_all().unwrap_err()] {
        assert_eq!(error.errno(), Some(Errno::EINVAL), "{error}");
    }
    assert!(map.delete_batch(&[1]).is_err() && map.lookup_and_delete(&1).is_err());
}

#[test]
fn arrays_have_all_operations_but_deletion() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::ARRAY, 4) else { return };
    use_array(&map, u64::from);
    let Some(map) = map_or_skip::<u32, PerCpu<[u8; 3]>>(BpfMapType::PERCPU_ARRAY, 4) else { return };
    use_array(&map, |number| map.per_cpu(|cpu| [number as u8, cpu as u8, 7]));
}
