use core::fmt;

use crate::{Error, Key, Map, Value};

/// The action that brings an element of the map in line with its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DesiredAction {
    /// No action: they are the same.
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
    pub(super) fn inserted(key: K, value: V, last_error: Option<Error>) -> Self {
        let desired_action = if last_error.is_some() { DesiredAction::Insert } else { DesiredAction::InSync };
        Self { key, value: Some(value), desired_action, last_error }
    }

    pub(super) fn undeleted(key: K, error: Error) -> Self {
        Self { key, value: None, desired_action: DesiredAction::Delete, last_error: Some(error) }
    }

    pub(super) fn refuse_deletion(&mut self, error: Error) {
        self.desired_action = DesiredAction::Delete;
        self.last_error = Some(error);
    }

    pub(super) fn demand_insertion(&mut self) {
        if self.desired_action == DesiredAction::InSync {
            self.desired_action = DesiredAction::Insert;
        }
    }

    /// Deletes the element if that is still to be done, and returns whether it was.
    pub(super) fn retry_deletion(&mut self, map: &Map<K, V>) -> bool {
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

    /// Writes the element if that is still to be done, and returns `false` if it failed.
    pub(super) fn retry_insertion(&mut self, map: &Map<K, V>) -> bool {
        let (DesiredAction::Insert, Some(value)) = (self.desired_action, &self.value) else { return true };
        self.last_error = map.update(&self.key, value).err();
        if self.last_error.is_none() {
            self.desired_action = DesiredAction::InSync;
        }
        self.last_error.is_none()
    }
}
