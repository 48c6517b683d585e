//! Iterators over keys and elements.

use core::fmt;

use perf_ring::abi::bpf::BpfMapType;

use super::{Key, Map, Value};
use crate::error::Error;

/// The keys of a map, from [`Map::keys`].
pub struct Keys<'a, K, V> {
    map: &'a Map<K, V>,
    state: State<K>,
}

enum State<K> {
    Start,
    After(K),
    End,
}

impl<K: Key, V: Value> Iterator for Keys<'_, K, V> {
    type Item = Result<K, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &self.state {
            State::Start => self.map.next_key(None),
            State::After(key) => self.map.next_key(Some(key)),
            State::End => return None,
        };
        self.state = match &next {
            Ok(Some(key)) => State::After(copy(key)),
            Ok(None) | Err(_) => State::End,
        };
        next.transpose()
    }
}

/// Returns the same key. `Key` does not imply `Clone`, and all of its bytes are plain.
pub(crate) fn copy<K: Key>(key: &K) -> K {
    let mut copy = K::new_zeroed();
    copy.as_mut_bytes().copy_from_slice(key.as_bytes());
    copy
}

/// The elements of a map, from [`Map::iter`].
pub struct Iter<'a, K, V> {
    keys: Keys<'a, K, V>,
}

impl<K: Key, V: Value> Iterator for Iter<'_, K, V> {
    type Item = Result<(K, V), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let key = match self.keys.next()? {
                Ok(key) => key,
                Err(error) => return Some(Err(error)),
            };
            match self.keys.map.lookup_listed(&key) {
                Ok(Listed::Value(value)) => return Some(Ok((key, value))),
                Ok(Listed::Missing | Listed::ShorterPrefix) => {} // deleted since, or an empty slot
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Iteration.
impl<K: Key, V: Value> Map<K, V> {
    /// Returns the keys. The iterator ends after an error.
    ///
    /// If another task deletes the last returned key of a hash, the iteration begins anew and
    /// returns keys twice. [`dump_reliably`](Self::dump_reliably) does not.
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys { map: self, state: State::Start }
    }

    /// Returns the elements, with two system calls for each, five in a trie. Elements that are
    /// deleted between them are left out. As [`keys`](Self::keys), it may begin anew.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { keys: self.keys() }
    }

    /// Calls `callback` with each element, as [`iter`](Self::iter) returns them.
    pub fn dump(&self, mut callback: impl FnMut(K, V)) -> Result<(), Error> {
        self.iter().try_for_each(|element| element.map(|(key, value)| callback(key, value)))
    }
}

impl<'a, K: Key, V: Value> IntoIterator for &'a Map<K, V> {
    type Item = Result<(K, V), Error>;
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K, V> fmt::Debug for Keys<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("map", &self.map).finish_non_exhaustive()
    }
}

impl<K, V> fmt::Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("map", &self.keys.map).finish_non_exhaustive()
    }
}

/// The lookup of a key that the kernel listed a moment ago.
pub(super) enum Listed<V> {
    /// The value of the key.
    Value(V),
    /// The key was deleted, or the slot of an array is empty.
    Missing,
    /// The key was deleted from a trie, and the lookup found the value of a shorter prefix.
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
