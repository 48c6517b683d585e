//! Dumps of arrays with empty slots, and of tries.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::prelude::*;

/// Returns the elements of both dumps and of the iterator, which are the same.
fn dumped(map: &Map<u32, u32>) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let stats = map.dump_reliably(|key, value| found.push((key, value))).unwrap();
    assert!(stats.complete, "{stats}");
    assert_eq!(stats.delivered, found.len() as u64, "{stats}");
    let mut by_keys = Vec::new();
    assert!(map.dump_by_keys(|key, value| by_keys.push((key, value))).unwrap().complete);
    assert_eq!(by_keys, found);
    assert_eq!(map.iter().collect::<Result<Vec<_>, _>>().unwrap(), found);
    found
}

#[test]
fn an_array_with_empty_slots_delivers_what_is_there() {
    let code = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];
    let program = ProgramFd::load(BpfProgType::SOCKET_FILTER, &code, c"GPL", ObjectName::EMPTY);
    let (Some(program), Some(inner)) = (permitted(program), map_or_skip::<u32, u64>(BpfMapType::HASH, 4))
    else {
        return;
    };
    let maps = MapSpec::new(BpfMapType::ARRAY_OF_MAPS, 8).with_inner(&inner);
    let (map_id, program_id) = (inner.fd().info().unwrap().id, program.info().unwrap().id);
    for (spec, slot, written, read) in [
        (maps, 2, inner.as_fd().as_raw_fd().unsigned_abs(), map_id),
        (MapSpec::new(BpfMapType::PROG_ARRAY, 8), 5, program.as_fd().as_raw_fd().unsigned_abs(), program_id),
        (MapSpec::new(BpfMapType::CPUMAP, 8), 1, 192, 192), // the length of a queue
        (MapSpec::new(BpfMapType::DEVMAP, 8), 7, 1, 1),     // the loopback device
    ] {
        // This kernel may have no networking.
        let Ok(map) = Map::<u32, u32>::create(spec) else { continue };
        assert_eq!(dumped(&map), []);
        map.update(&slot, &written).unwrap();
        assert_eq!(dumped(&map), [(slot, read)], "{}", spec.map_type());
    }
}

#[test]
fn an_array_that_cannot_be_read_is_an_error() {
    let Some(map) = map_or_skip::<u32, u32>(BpfMapType::PERF_EVENT_ARRAY, 2) else { return };
    for error in [map.dump_reliably(|_, _| ()).unwrap_err(), map.dump_by_keys(|_, _| ()).unwrap_err()] {
        assert!(error.to_string().contains("does not support the command"), "{error}");
    }
}

/// Dumps a trie while another thread adds and deletes prefixes of 32 bits, none of them twice,
/// which a prefix of length 0 covers.
fn dump_covered_prefixes(dump: impl Fn(&Map<[u32; 2], u64>, &mut dyn FnMut([u32; 2], u64)) -> bool) {
    const COVER: u64 = 999;
    let spec = MapSpec::new(BpfMapType::LPM_TRIE, 4096).with_flags(BpfMapFlags::NO_PREALLOC);
    let Some(trie) = permitted(Map::<[u32; 2], u64>::create(spec)) else { return };
    let prefix = |bits: u32| [32, bits.to_be()];
    trie.update(&[0, 0], &COVER).unwrap();
    (0..500).for_each(|bits| trie.update(&prefix(bits), &1).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut bits = 500;
            while !done.load(Ordering::Relaxed) {
                (bits..bits + 500).for_each(|bits| trie.update(&prefix(bits), &2).unwrap());
                (bits..bits + 500).for_each(|bits| assert!(trie.delete(&prefix(bits)).unwrap()));
                bits += 500;
            }
        });
        let _done = SetOnDrop(&done);
        for _ in 0..100 {
            let mut found = HashSet::new();
            let complete = dump(&trie, &mut |key, value| {
                let expected = if key[0] == 0 { COVER } else { u64::from(u32::from_be(key[1]) >= 500) + 1 };
                assert_eq!(value, expected, "{key:?} has the value of a shorter prefix");
                found.insert(key);
            });
            let lasting = (0..500).all(|bits| found.contains(&prefix(bits)));
            assert!(!complete || lasting && found.contains(&[0, 0]));
        }
    });
}

#[test]
fn a_dump_of_a_trie_delivers_no_deleted_prefix() {
    dump_covered_prefixes(|trie, deliver| trie.dump_reliably(deliver).unwrap().complete);
}

#[test]
fn an_iterator_of_a_trie_returns_no_deleted_prefix() {
    dump_covered_prefixes(|trie, deliver| {
        // It begins anew if its last key is deleted, so it may never end.
        let elements = trie.iter().take(4096).map(Result::unwrap);
        elements.for_each(|(key, value)| deliver(key, value));
        false
    });
}
