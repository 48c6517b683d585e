//! Maps with a copy in memory, which repeats failed writes.

use core::fmt;
use std::collections::BTreeMap;

use crate::error::Error;
use crate::map::{Key, Map, Value};

/// A map with a copy in memory of what this process wrote, and the status of each element.
///
/// A write that the kernel refused, for example because the map is full, stays in the copy as an
/// action to repeat by [`sync`](Self::sync). The copy does not see what programs and other
/// processes write.
///
/// ```
/// use perf_bpf::{BpfMapType, CachedMap, DesiredAction, Map, MapSpec};
///
/// # fn main() -> Result<(), perf_bpf::Error> {
/// # if Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1)).is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let map = Map::<u32, u64>::create(MapSpec::new(BpfMapType::HASH, 1))?;
/// let mut map = CachedMap::new(map);
/// map.update(1, 10)?;
/// assert!(map.update(2, 20).is_err()); // full
/// assert_eq!(map.get(&2).map(|entry| entry.desired_action()), Some(DesiredAction::Insert));
/// map.delete(&1)?;
/// assert_eq!(map.sync(), 0); // no action is left
/// assert_eq!(map.map().lookup(&2)?, Some(20));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CachedMap<K, V> {
    map: Map<K, V>,
    /// By the bytes of the key.
    entries: BTreeMap<Box<[u8]>, CacheEntry<K, V>>,
}

impl<K: Key, V: Value> CachedMap<K, V> {
    /// Returns the map with an empty copy.
    pub fn new(map: Map<K, V>) -> Self {
        Self { map, entries: BTreeMap::new() }
    }

    /// Returns the map.
    pub fn map(&self) -> &Map<K, V> {
        &self.map
    }

    /// Returns the map without the copy. Actions that are still to be done are dropped with it.
    pub fn into_map(self) -> Map<K, V> {
        self.map
    }

    /// Writes an element to the copy and to the map. If the map refuses it, it stays in the copy
    /// with [`DesiredAction::Insert`] and the error.
    pub fn update(&mut self, key: K, value: V) -> Result<(), Error> {
        let written = self.map.update(&key, &value);
        let error = written.as_ref().err().cloned();
        // Keep the value even if the write failed, so that `sync` can repeat it.
        let bytes = key.as_bytes().into();
        self.entries.insert(bytes, CacheEntry::inserted(key, value, error));
        written
    }

    /// Deletes an element from the map and the copy, and returns `false` if the map does not
    /// contain the key. If the kernel refuses, the entry stays with [`DesiredAction::Delete`] and
    /// the error.
    pub fn delete(&mut self, key: &K) -> Result<bool, Error> {
        let deleted = self.map.delete(key);
        match &deleted {
            Ok(_) => drop(self.entries.remove(key.as_bytes())),
            Err(error) => {
                if let Some(entry) = self.entries.get_mut(key.as_bytes()) {
                    entry.refuse_deletion(error.clone());
                } else {
                    // The copy has never seen this key, but the deletion must be repeated.
                    let entry = CacheEntry::undeleted(crate::map::copy(key), error.clone());
                    self.entries.insert(key.as_bytes().into(), entry);
                }
            }
        }
        deleted
    }

    /// Deletes all elements of the map, and the copy. Returns the number of deleted elements.
    ///
    /// # Errors
    ///
    /// The error of the element that the map refused to delete. All entries stay with
    /// [`DesiredAction::Delete`] and this error, also those that were deleted before it, and
    /// [`sync`](Self::sync) repeats the deletion. Elements that the copy does not have may be left.
    pub fn delete_all(&mut self) -> Result<u64, Error> {
        let deleted = self.map.delete_all();
        match &deleted {
            Ok(_) => self.entries.clear(),
            Err(error) => self.entries.values_mut().for_each(|entry| entry.refuse_deletion(error.clone())),
        }
        deleted
    }

    /// Repeats the actions that failed, deletions first, and returns the number of those that
    /// failed again. Their errors are in their entries.
    pub fn sync(&mut self) -> usize {
        let map = &self.map;
        // A deletion may make space for an insertion.
        self.entries.retain(|_, entry| !entry.retry_deletion(map));
        self.entries.values_mut().map(|entry| entry.retry_insertion(map)).filter(|done| !done).count()
            + self.entries.values().filter(|entry| entry.desired_action() == DesiredAction::Delete).count()
    }

    /// Writes all elements of the copy to a map that takes the place of this one, such as one that
    /// was deleted and created anew, and deletes those whose deletion failed. Returns the number of
    /// actions that failed, as [`sync`](Self::sync).
    pub fn rewrite(&mut self, map: Map<K, V>) -> usize {
        self.map = map;
        self.entries.values_mut().for_each(CacheEntry::demand_insertion);
        self.sync()
    }

    /// Returns the entry of a key.
    pub fn get(&self, key: &K) -> Option<&CacheEntry<K, V>> {
        self.entries.get(key.as_bytes())
    }

    /// Returns all entries, in the order of the bytes of their keys.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &CacheEntry<K, V>> + '_ {
        self.entries.values()
    }
}

/// The action that brings an element of the map in line with its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DesiredAction {
    /// No action, because map and copy agree.
    InSync,
    /// The element needs to be created or updated.
    Insert,
    /// The element needs to be deleted.
    Delete,
}

/// `in sync`, `insert` or `delete`.
impl fmt::Display for DesiredAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::InSync => "in sync",
            Self::Insert => "insert",
            Self::Delete => "delete",
        })
    }
}

/// An element of a [`CachedMap`](crate::CachedMap) and its status.
#[derive(Debug)]
pub struct CacheEntry<K, V> {
    key: K,
    /// `None` if a deletion failed of an element that was not in the copy.
    value: Option<V>,
    desired_action: DesiredAction,
    last_error: Option<Error>,
}

impl<K, V> CacheEntry<K, V> {
    /// Returns the key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the value that was written last; `None` if the copy never had one.
    pub fn value(&self) -> Option<&V> {
        self.value.as_ref()
    }

    /// Returns the action that is still to be done.
    pub fn desired_action(&self) -> DesiredAction {
        self.desired_action
    }

    /// Returns the error of the last attempt, if it failed.
    pub fn last_error(&self) -> Option<&Error> {
        self.last_error.as_ref()
    }
}

impl<K: Key, V: Value> CacheEntry<K, V> {
    fn inserted(key: K, value: V, last_error: Option<Error>) -> Self {
        let desired_action = if last_error.is_some() { DesiredAction::Insert } else { DesiredAction::InSync };
        Self { key, value: Some(value), desired_action, last_error }
    }

    fn undeleted(key: K, error: Error) -> Self {
        Self { key, value: None, desired_action: DesiredAction::Delete, last_error: Some(error) }
    }

    fn refuse_deletion(&mut self, error: Error) {
        self.desired_action = DesiredAction::Delete;
        self.last_error = Some(error);
    }

    fn demand_insertion(&mut self) {
        // Pending deletions stay.
        if self.desired_action == DesiredAction::InSync {
            self.desired_action = DesiredAction::Insert;
        }
    }

    /// Performs a pending deletion. Returns whether it succeeded.
    fn retry_deletion(&mut self, map: &Map<K, V>) -> bool {
        if self.desired_action != DesiredAction::Delete {
            return false;
        }
        match map.delete(&self.key) {
            Ok(_) => true,
            Err(error) => {
                self.last_error = Some(error);
                false
            }
        }
    }

    /// Performs a pending insertion. Returns `false` if it failed.
    fn retry_insertion(&mut self, map: &Map<K, V>) -> bool {
        let (DesiredAction::Insert, Some(value)) = (self.desired_action, &self.value) else { return true };
        self.last_error = map.update(&self.key, value).err();
        if self.last_error.is_none() {
            self.desired_action = DesiredAction::InSync;
        }
        self.last_error.is_none()
    }
}
