use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::lock::PinLock;
use super::{PinnedMap, existing};
use crate::{Error, Key, Map, MapFd, MapSpec, Value, unpin};

/// A new map beside the one that is pinned to a path, until it replaces it.
///
/// Users of the old map continue with it until each of them opens the path again. That the new one
/// is filled first is the purpose of the parallel mode. [`end`](Self::end) replaces the pin in one
/// step, so that the path is never without a map. Dropping this value instead deletes the new map
/// and keeps the old one.
#[derive(Debug)]
pub struct ParallelMap<K, V> {
    path: PathBuf,
    old: Option<MapFd>,
    new: Map<K, V>,
}

impl<K: Key, V: Value> ParallelMap<K, V> {
    /// Creates a map that is to be pinned to a path, which another map may use.
    pub fn create(path: impl Into<PathBuf>, spec: MapSpec<'_>) -> Result<Self, Error> {
        let path = path.into();
        let old = existing(&path)?;
        Ok(Self { path, old, new: Map::create(spec)? })
    }

    /// Returns the map that was pinned to the path when this value was created.
    pub fn old(&self) -> Option<&MapFd> {
        self.old.as_ref()
    }

    /// Returns the new map.
    pub fn new_map(&self) -> &Map<K, V> {
        &self.new
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Pins the new map to the path, in place of the map that is pinned to it now, and ends the
    /// parallel mode.
    pub fn end(self) -> Result<PinnedMap<K, V>, Error> {
        let _lock = PinLock::of(&self.path)?;
        // A pin cannot be created over another one, but moved over it.
        let temporary = temporary(&self.path);
        self.new.fd().pin(&temporary)?;
        if let Err(errno) = rustix::fs::rename(&temporary, &self.path) {
            unpin(&temporary)?;
            return Err(Error::path("rename", &self.path)(errno));
        }
        Ok(PinnedMap { path: self.path, map: self.new })
    }
}

/// Returns a path in the same directory that no other thread uses. Names have no dots on a bpf file
/// system.
fn temporary(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(format!("_new_{}_{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}
