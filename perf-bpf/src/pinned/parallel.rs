use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::{PinnedMap, existing};
use crate::pin::PinPath;
use crate::{Error, Key, Map, MapFd, MapSpec, Refused, Value};

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
    ///
    /// # Errors
    ///
    /// This value with its filled map, and [`Error::Path`], [`Error::Pin`] or [`Error::Locked`]. The
    /// old map stays pinned then.
    pub fn end(self) -> Result<PinnedMap<K, V>, Refused<Box<Self>>> {
        match PinPath::lock(&self.path).and_then(|pin| pin.replace(self.new.as_fd())) {
            Ok(()) => Ok(PinnedMap { path: self.path, map: self.new }),
            Err(error) => Err(Refused { error, value: Box::new(self) }),
        }
    }
}
