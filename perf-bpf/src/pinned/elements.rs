use perf_sys::abi::bpf::BpfMapType;

use super::MoveStats;
use crate::{Error, Key, Map, MapFd, Value};

/// Copies the elements of a map to a new one, which no other program uses yet. Returns `None` if
/// the maps do not permit it.
pub(super) fn move_elements<K: Key, V: Value>(
    old: &MapFd,
    new: &Map<K, V>,
) -> Result<Option<MoveStats>, Error> {
    if !is_movable(old.map_type()) || !is_movable(new.fd().map_type()) {
        return Ok(None);
    }
    let Ok(old) = Map::<K, V>::try_from(old.try_clone()?) else { return Ok(None) };
    let mut stats = MoveStats::default();
    let dump = old.dump_reliably(|key, value| match new.update(&key, &value) {
        Ok(()) => stats.moved += 1,
        Err(_) => stats.unmoved += 1,
    })?;
    if matches!(new.fd().map_type(), BpfMapType::LRU_HASH | BpfMapType::LRU_PERCPU_HASH) {
        // It accepts each element and evicts others.
        let found = new.keys().try_fold(0, |found, key| key.map(|_| found + 1))?;
        stats.unmoved += stats.moved.saturating_sub(found);
        stats.moved = found;
    }
    Ok(Some(MoveStats { complete: dump.complete, ..stats }))
}

/// Returns whether an element is written as it is read: a map of descriptors is read as ids, a queue
/// only by taking elements out, and storage belongs to other objects.
fn is_movable(map_type: BpfMapType) -> bool {
    matches!(
        map_type,
        BpfMapType::HASH
            | BpfMapType::ARRAY
            | BpfMapType::PERCPU_HASH
            | BpfMapType::PERCPU_ARRAY
            | BpfMapType::LRU_HASH
            | BpfMapType::LRU_PERCPU_HASH
            | BpfMapType::LPM_TRIE
    )
}
