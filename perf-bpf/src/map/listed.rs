use perf_sys::abi::bpf::BpfMapType;

use super::{Key, Map, Value};
use crate::Error;

/// The lookup of a key that the kernel listed a moment ago.
pub(super) enum Listed<V> {
    /// The value of the key.
    Value(V),
    /// The key was deleted, or the slot of an array is empty.
    Missing,
    /// The key of a trie was deleted, and the value found is that of a shorter prefix.
    ShorterPrefix,
}

impl<K: Key, V: Value> Map<K, V> {
    /// Returns the value of a key that [`next_key`](Self::next_key) returned. Unlike
    /// [`lookup`](Self::lookup), it does not take the value of a shorter prefix in a trie for that
    /// of the key.
    pub(super) fn lookup_listed(&self, key: &K) -> Result<Listed<V>, Error> {
        Ok(match self.lookup(key)? {
            None => Listed::Missing,
            Some(_) if self.fd().map_type() == BpfMapType::LPM_TRIE && !self.is_in_trie(key)? => {
                Listed::ShorterPrefix
            }
            Some(value) => Listed::Value(value),
        })
    }

    /// Returns whether a trie has exactly this key. No command reports that: a lookup takes
    /// shorter prefixes too. But the key after an absent one is the first key, which comes after no
    /// key of the trie. It is read twice, as another task may change it meanwhile.
    fn is_in_trie(&self, key: &K) -> Result<bool, Error> {
        let before = self.next_key(None)?;
        let next = self.next_key(Some(key))?;
        let after = self.next_key(None)?;
        let [before, next, after] = [&before, &next, &after].map(|key| key.as_ref().map(K::as_bytes));
        Ok(next != before && next != after)
    }
}

/// Returns whether the keys of a map are the indices of an array, whose slots may be empty.
pub(super) fn has_slots(map_type: BpfMapType) -> bool {
    matches!(
        map_type,
        BpfMapType::ARRAY
            | BpfMapType::PERCPU_ARRAY
            | BpfMapType::PROG_ARRAY
            | BpfMapType::PERF_EVENT_ARRAY
            | BpfMapType::CGROUP_ARRAY
            | BpfMapType::ARRAY_OF_MAPS
            | BpfMapType::DEVMAP
            | BpfMapType::SOCKMAP
            | BpfMapType::CPUMAP
            | BpfMapType::XSKMAP
            | BpfMapType::REUSEPORT_SOCKARRAY
            | BpfMapType::INSN_ARRAY
    )
}
