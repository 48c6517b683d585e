//! The typed hash map, compared with the standard library's map.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;

use crate::prelude::*;

const CAPACITY: u32 = 12;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Lookup(u16),
    Update(u16, u64),
    Insert(u16, u64),
    Replace(u16, u64),
    Delete(u16),
    LookupAndDelete(u16),
    DeleteBatch([u16; 3]),
    UpdateBatch([(u16, u64); 3]),
    DeleteAll,
    Compare,
}

fn operation() -> impl Strategy<Value = Operation> {
    let (key, value) = (0..20_u16, any::<u64>());
    let element = (key.clone(), value);
    prop_oneof![
        key.clone().prop_map(Operation::Lookup),
        element.clone().prop_map(|(key, value)| Operation::Update(key, value)),
        element.clone().prop_map(|(key, value)| Operation::Insert(key, value)),
        element.clone().prop_map(|(key, value)| Operation::Replace(key, value)),
        key.clone().prop_map(Operation::Delete),
        key.clone().prop_map(Operation::LookupAndDelete),
        [key.clone(), key.clone(), key].prop_map(Operation::DeleteBatch),
        [element.clone(), element.clone(), element].prop_map(Operation::UpdateBatch),
        select(vec![Operation::DeleteAll, Operation::Compare, Operation::Compare]),
    ]
}

/// Inserts as a map with a capacity does.
fn update(model: &mut BTreeMap<u16, u64>, key: u16, value: u64) -> Result<(), Errno> {
    if !model.contains_key(&key) && model.len() == CAPACITY as usize {
        return Err(Errno::E2BIG);
    }
    model.insert(key, value);
    Ok(())
}

fn apply(map: &Map<u16, u64>, model: &mut BTreeMap<u16, u64>, operation: Operation) {
    match operation {
        Operation::Lookup(key) => assert_eq!(map.lookup(&key).unwrap(), model.get(&key).copied()),
        Operation::Update(key, value) => {
            let found = map.update(&key, &value).map_err(|error| error.errno().unwrap());
            assert_eq!(found, update(model, key, value));
        }
        Operation::Insert(key, value) => {
            let expected =
                if model.contains_key(&key) { Ok(false) } else { update(model, key, value).map(|()| true) };
            assert_eq!(map.insert(&key, &value).map_err(|error| error.errno().unwrap()), expected);
        }
        Operation::Replace(key, value) => {
            let expected = model.get_mut(&key).map(|old| *old = value).is_some();
            assert_eq!(map.replace(&key, &value).unwrap(), expected);
        }
        Operation::Delete(key) => assert_eq!(map.delete(&key).unwrap(), model.remove(&key).is_some()),
        Operation::LookupAndDelete(key) => {
            assert_eq!(map.lookup_and_delete(&key).unwrap(), model.remove(&key));
        }
        Operation::DeleteBatch(keys) => {
            let expected = keys.iter().filter(|key| model.remove(key).is_some()).count();
            assert_eq!(map.delete_batch(&keys).unwrap(), expected);
        }
        Operation::UpdateBatch(elements) => {
            let failed = elements.iter().position(|&(key, value)| update(model, key, value).is_err());
            assert_eq!(map.update_batch(&elements).map_err(|error| error.written).err(), failed);
        }
        Operation::DeleteAll => {
            assert_eq!(map.delete_all().unwrap(), model.len() as u64);
            model.clear();
        }
        Operation::Compare => compare(map, model),
    }
}

/// Compares all ways of reading the whole map.
fn compare(map: &Map<u16, u64>, model: &BTreeMap<u16, u64>) {
    assert_eq!(map.iter().collect::<Result<BTreeMap<_, _>, _>>().unwrap(), *model);
    for by_keys in [false, true] {
        let mut dumped = BTreeMap::new();
        let deliver = |key, value| assert_eq!(dumped.insert(key, value), None);
        let stats =
            if by_keys { map.dump_by_keys(deliver).unwrap() } else { map.dump_reliably(deliver).unwrap() };
        assert_eq!((dumped == *model, stats.complete), (true, true));
    }
    for mut cursor in [BatchCursor::new(2), BatchCursor::by_keys(2)] {
        let mut found = BTreeMap::new();
        while !cursor.is_at_end() {
            for (key, value) in map.lookup_batch(&mut cursor).unwrap() {
                assert_eq!(found.insert(key, value), None);
            }
        }
        assert_eq!(found, *model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_hash_behaves_as_a_btree_map(operations in prop::collection::vec(operation(), 0..60)) {
        let Some(map) = map_or_skip::<u16, u64>(BpfMapType::HASH, CAPACITY) else { return Ok(()) };
        let mut model = BTreeMap::new();
        for operation in operations {
            apply(&map, &mut model, operation);
        }
        compare(&map, &model);
    }
}
