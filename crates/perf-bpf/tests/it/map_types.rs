//! All operations on each map type.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::prelude::*;

/// The key of an LPM trie: a prefix of an IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Prefix {
    length: u32,
    address: [u8; 4],
}

/// Returns the elements by ascending key.
fn sorted<V: Value>(map: &Map<u32, V>) -> Vec<(u32, V)> {
    let mut elements: Vec<_> = map.iter().collect::<Result<_, _>>().unwrap();
    elements.sort_by_key(|(key, _)| *key);
    elements
}

#[test]
fn a_full_hash_refuses_an_element_and_an_lru_hash_evicts_one() {
    let Some(hash) = map_or_skip::<u32, u64>(BpfMapType::HASH, 2) else { return };
    (0..2).for_each(|key| hash.update(&key, &0).unwrap());
    let error = hash.update(&2, &0).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::E2BIG));
    assert!(error.to_string().contains("the map is full"), "{error}");
    let Some(lru) = map_or_skip::<u32, u64>(BpfMapType::LRU_HASH, 64) else { return };
    (0..10_000).for_each(|key| lru.update(&key, &0).unwrap());
    assert!((1..=64).contains(&lru.keys().count()));
}

#[test]
fn elements_of_an_array_always_exist() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::ARRAY, 3) else { return };
    map.update(&2, &7).unwrap();
    assert_eq!(sorted(&map), [(0, 0), (1, 0), (2, 7)]);
    assert_eq!(map.update(&3, &0).unwrap_err().errno(), Some(Errno::E2BIG));
    assert_eq!(map.lookup(&3).unwrap(), None);
    assert!(!map.insert(&0, &1).unwrap());
    let error = map.delete(&0).unwrap_err();
    assert!(error.to_string().contains("elements of an array cannot be deleted"), "{error}");
    assert_eq!(map.dump_reliably(|_, _| ()).unwrap().delivered, 3);
}

#[test]
fn per_cpu_maps_have_a_value_for_each_possible_cpu() {
    for map_type in [BpfMapType::PERCPU_HASH, BpfMapType::PERCPU_ARRAY, BpfMapType::LRU_PERCPU_HASH] {
        // 12 bytes: padded by the kernel to 16.
        let Some(map) = map_or_skip::<u32, PerCpu<[u32; 3]>>(map_type, 16) else { return };
        map.update(&1, &map.per_cpu(|cpu| [cpu, 7, !cpu])).unwrap();
        let found = map.lookup(&1).unwrap().unwrap();
        assert!(!found.cpus().is_empty());
        for (cpu, value) in found.iter() {
            assert_eq!((*value, found.get(cpu)), ([cpu, 7, !cpu], Some(value)));
        }
        assert_eq!(found.get(u32::MAX), None);
        let elements = sorted(&map);
        assert!(elements.contains(&(1, found.clone())));
        let batch = map.lookup_batch(&mut BatchCursor::new(64)).unwrap();
        assert!(batch.contains(&(1, found)), "{map_type}");
    }
}

#[test]
fn values_of_another_number_of_cpus_are_refused() {
    let Some(map) = map_or_skip::<u32, PerCpu<u64>>(BpfMapType::PERCPU_ARRAY, 1) else { return };
    let error = Map::<u32, u64>::try_from(map.into_map_fd()).unwrap_err();
    assert!(matches!(error.error, Error::PerCpu { .. }), "{error}");
    let error = Map::<u32, PerCpu<u64>>::create(MapSpec::new(BpfMapType::ARRAY, 1)).unwrap_err();
    assert!(error.to_string().contains("PerCpu<V>"), "{error}");
}

#[test]
fn types_of_another_size_are_refused() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 1) else { return };
    map.update(&1, &10).unwrap();
    let refused = Map::<u32, u32>::try_from(map.into_map_fd()).unwrap_err();
    assert!(refused.to_string().contains("expected 8 bytes, found 4"), "{refused}");
    // The map is returned, and lives on.
    let refused = Map::<u64, u64>::try_from(*refused.value).unwrap_err();
    assert!(matches!(refused.error, Error::Size { part: "key", .. }), "{refused}");
    let refused = Map::<u32, u32>::from_fd(refused.value.into_fd()).unwrap_err();
    let map = Map::<u32, u64>::from_fd(refused.value).unwrap();
    assert_eq!(map.lookup(&1).unwrap(), Some(10));
}

#[test]
fn an_lpm_trie_finds_the_longest_prefix() {
    let spec = MapSpec::new(BpfMapType::LPM_TRIE, 8).with_flags(BpfMapFlags::NO_PREALLOC);
    let Some(map) = permitted(Map::<Prefix, u64>::create(spec)) else { return };
    let prefix = |length, address| Prefix { length, address };
    map.update(&prefix(8, [10, 0, 0, 0]), &8).unwrap();
    map.update(&prefix(16, [10, 1, 0, 0]), &16).unwrap();
    assert_eq!(map.lookup(&prefix(32, [10, 1, 2, 3])).unwrap(), Some(16));
    assert_eq!(map.lookup(&prefix(32, [10, 2, 2, 3])).unwrap(), Some(8));
    assert_eq!(map.lookup(&prefix(32, [11, 0, 0, 0])).unwrap(), None);
    assert_eq!(map.dump_reliably(|_, _| ()).unwrap().delivered, 2);
    assert_eq!(map.delete_all().unwrap(), 2);
}

#[test]
fn queues_and_stacks_have_values_without_keys() {
    for (map_type, first) in [(BpfMapType::QUEUE, 1), (BpfMapType::STACK, 2)] {
        let Some(map) = map_or_skip::<(), u32>(map_type, 8) else { return };
        map.update(&(), &1).unwrap();
        map.update(&(), &2).unwrap();
        assert_eq!(map.lookup(&()).unwrap(), Some(first));
        assert_eq!(map.lookup_and_delete(&()).unwrap(), Some(first));
        assert_eq!(map.lookup_and_delete(&()).unwrap(), Some(3 - first));
        assert_eq!(map.lookup_and_delete(&()).unwrap(), None);
    }
}

#[test]
fn batches_return_each_element_once() {
    for map_type in [BpfMapType::HASH, BpfMapType::LRU_HASH, BpfMapType::ARRAY] {
        let capacity = if map_type == BpfMapType::LRU_HASH { 20_000 } else { 1000 };
        let Some(map) = map_or_skip::<u32, u64>(map_type, capacity) else { return };
        let written: Vec<_> = (0..500).map(|key| (key, u64::from(key) * 3)).collect();
        map.update_batch(&written).unwrap();
        for mut cursor in [BatchCursor::new(7), BatchCursor::by_keys(7)] {
            let is_fallback = cursor.is_fallback();
            let mut found = Vec::new();
            while !cursor.is_at_end() {
                found.extend(map.lookup_batch(&mut cursor).unwrap());
            }
            found.sort_unstable();
            assert_eq!(found[..500], written, "{map_type}");
            assert!(found[500..].iter().all(|(_, value)| *value == 0));
            assert!(map.lookup_batch(&mut cursor).unwrap().is_empty());
            assert_eq!(cursor.is_fallback(), is_fallback);
        }
    }
}

#[test]
fn a_batch_deletes_the_keys_that_exist() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 100) else { return };
    (0..100).for_each(|key| map.update(&key, &1).unwrap());
    // 200 to 202 do not exist.
    assert_eq!(map.delete_batch(&[3, 200, 4, 201, 202, 5]).unwrap(), 3);
    for (mut cursor, expected) in [(BatchCursor::new(1), 97), (BatchCursor::by_keys(1), 100)] {
        let mut taken = 0;
        while !cursor.is_at_end() {
            taken += map.lookup_and_delete_batch(&mut cursor).unwrap().len();
        }
        assert_eq!((taken, map.keys().count()), (expected, 0));
        (0..100).for_each(|key| map.update(&key, &1).unwrap());
    }
}

#[test]
fn a_batch_reports_the_element_that_failed() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 2) else { return };
    let error = map.update_batch(&[(1, 1), (2, 2), (3, 3), (4, 4)]).unwrap_err();
    assert_eq!((error.written, error.error.errno()), (2, Some(Errno::E2BIG)));
    let Some(array) = map_or_skip::<u32, u64>(BpfMapType::ARRAY, 2) else { return };
    let error = array.delete_batch(&[0]).unwrap_err();
    assert_eq!((error.written, error.error.errno()), (0, Some(Errno::EINVAL)));
}

#[test]
fn a_type_without_batch_commands_is_read_by_keys() {
    // Stack traces have none.
    let spec = MapSpec::new(BpfMapType::STACK_TRACE, 4);
    let Some(map) = permitted(Map::<u32, [u64; 8]>::create(spec)) else { return };
    let mut cursor = BatchCursor::new(4);
    assert!(map.lookup_batch(&mut cursor).unwrap().is_empty());
    assert!(cursor.is_at_end() && cursor.is_fallback());
}

#[test]
fn a_frozen_map_is_read_only() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::ARRAY, 1) else { return };
    map.update(&0, &7).unwrap();
    map.freeze().unwrap();
    let error = map.update(&0, &8).unwrap_err();
    assert!(error.to_string().contains("the map is frozen"), "{error}");
    assert_eq!(map.lookup(&0).unwrap(), Some(7));
    assert!(matches!(map.freeze().unwrap_err().errno(), Some(Errno::EBUSY | Errno::EPERM)));
}

#[test]
fn an_unsupported_flag_is_an_error() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 1) else { return };
    // The values have no spin lock.
    assert_eq!(map.lookup_with(&0, BpfElemFlags::LOCK).unwrap_err().errno(), Some(Errno::EINVAL));
}

#[test]
fn a_map_of_maps_holds_maps_like_its_template() {
    let Some(template) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    template.update(&7, &70).unwrap();
    let spec = MapSpec::new(BpfMapType::HASH_OF_MAPS, 4).with_inner(&template);
    let outer = Map::<u32, MapRef<'_>>::create(spec).unwrap();
    outer.update(&1, &MapRef::new(&template)).unwrap();
    let found = outer.lookup(&1).unwrap().unwrap();
    assert_eq!(found.id(), Some(template.fd().info().unwrap().id));
    // The value that was read can be written, though the kernel reads an id and writes a
    // descriptor.
    outer.update(&2, &found).unwrap();
    let opened = outer.lookup(&2).unwrap().unwrap().open().unwrap().unwrap();
    assert_eq!(Map::<u32, u64>::try_from(opened).unwrap().lookup(&7).unwrap(), Some(70));
    let Some(other) = map_or_skip::<u64, u64>(BpfMapType::HASH, 4) else { return };
    let refused = outer.update(&2, &MapRef::new(&other)).unwrap_err();
    assert_eq!(refused.errno(), Some(Errno::EINVAL));
}

#[test]
fn an_array_of_programs_holds_programs() {
    let code = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];
    let program = ProgramFd::load(BpfProgType::SOCKET_FILTER, &code, c"GPL", ObjectName::EMPTY);
    let Some(program) = permitted(program) else { return };
    let array = Map::<u32, ProgramRef<'_>>::create(MapSpec::new(BpfMapType::PROG_ARRAY, 2)).unwrap();
    array.update(&0, &ProgramRef::new(&program)).unwrap();
    let found = array.lookup(&0).unwrap().unwrap();
    assert_eq!(found.id(), Some(program.info().unwrap().id));
    array.update(&1, &found).unwrap();
    let opened = array.lookup(&1).unwrap().unwrap().open().unwrap().unwrap();
    assert_eq!(opened.info().unwrap(), program.info().unwrap());
    assert_eq!(array.dump_reliably(|_, _| ()).unwrap().delivered, 2);
}

#[test]
fn a_map_of_plain_values_holds_no_objects() {
    let Some(map) = map_or_skip::<u32, u32>(BpfMapType::HASH, 4) else { return };
    let error = Map::<u32, MapRef<'_>>::try_from(map.into_map_fd()).unwrap_err();
    assert!(error.to_string().contains("expected type ARRAY_OF_MAPS, found HASH"), "{error}");
}

#[test]
fn a_duplicated_descriptor_is_of_the_same_map() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    let other = Map::<u32, u64>::try_from(map.fd().try_clone().unwrap()).unwrap();
    map.update(&1, &10).unwrap();
    assert_eq!(other.lookup(&1).unwrap(), Some(10));
}
