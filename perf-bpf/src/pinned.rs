use core::ops::Deref;
use std::path::{Path, PathBuf};

use perf_sys::Errno;
use perf_sys::abi::bpf::BpfMapFlags;

use crate::pin::open_if_pinned;
use crate::{Error, Key, Map, MapFd, MapSpec, ObjectKind, Value, unpin};

mod lock;
mod outcome;
mod parallel;

pub use outcome::PinOutcome;
pub use parallel::ParallelMap;

use lock::PinLock;

/// Attempts at creating a pin while processes that do not use this crate create or remove it.
const ATTEMPTS: u32 = 16;

/// A map and the path that it is pinned to. Dereferences to the map.
///
/// The pin keeps the map in the kernel until [`unpin`](Self::unpin) or the next boot; dropping this
/// value does not remove it.
#[derive(Debug)]
pub struct PinnedMap<K, V> {
    path: PathBuf,
    map: Map<K, V>,
}

impl<K: Key, V: Value> PinnedMap<K, V> {
    /// Opens the map that is pinned to a path. Since Linux 4.4.
    ///
    /// # Errors
    ///
    /// [`Error::Pin`] with `ENOENT` if nothing is pinned to it, [`Error::Kind`] if no map is,
    /// [`Error::Size`] if its sizes are not those of the types.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let map = MapFd::open_pinned(&path)?.try_into()?;
        Ok(Self { path, map })
    }

    /// Opens the map that is pinned to a path, or returns `None` if there is no such path.
    pub fn open_if_exists(path: impl Into<PathBuf>) -> Result<Option<Self>, Error> {
        let path = path.into();
        match existing(&path)? {
            Some(fd) => Ok(Some(Self { path, map: fd.try_into()? })),
            None => Ok(None),
        }
    }

    /// Opens the map that is pinned to a path, or creates and pins it. A map whose type, sizes,
    /// flags or capacity differ from `spec` is unpinned and replaced by a new one; its contents are
    /// lost when its last user closes it. Returns which of these was done.
    ///
    /// It holds a lock (`flock`) of the directory, so that of several threads and processes that
    /// call it at the same time one creates the map and the others open it.
    pub fn open_or_create(path: impl Into<PathBuf>, spec: MapSpec<'_>) -> Result<(Self, PinOutcome), Error> {
        let path = path.into();
        let spec = Map::<K, V>::sized(spec)?;
        let _lock = PinLock::of(&path)?;
        let mut replaced = None;
        for _ in 0..ATTEMPTS {
            if let Some(fd) = existing(&path)? {
                let differences = spec.differences(&fd.info()?)?;
                if differences.is_empty() {
                    let outcome = replaced.map_or(PinOutcome::Opened, PinOutcome::Replaced);
                    return Ok((Self { path, map: fd.try_into()? }, outcome));
                }
                unpin(&path)?;
                replaced = Some(differences);
            }
            let map = Map::create(spec)?;
            match map.fd().pin(&path) {
                Ok(()) => {
                    let outcome = replaced.map_or(PinOutcome::Created, PinOutcome::Replaced);
                    return Ok((Self { path, map }, outcome));
                }
                Err(error) if error.errno() == Some(Errno::EEXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Contended { path: path.into() })
    }

    /// Unpins the map at a path, if there is one, and creates and pins a new one: for contents that
    /// must not outlive the process that writes them.
    pub fn create_anew(path: impl Into<PathBuf>, spec: MapSpec<'_>) -> Result<Self, Error> {
        ParallelMap::create(path, spec)?.end()
    }

    /// Opens the path again: another process may have replaced the map since.
    pub fn reopen(&mut self) -> Result<(), Error> {
        self.map = MapFd::open_pinned(&self.path)?.try_into()?;
        Ok(())
    }
}

impl<K, V> PinnedMap<K, V> {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the pin and returns the map, which lives on as long as it is used.
    ///
    /// # Errors
    ///
    /// [`Error::Path`] with `ENOENT` if there is no such path.
    pub fn unpin(self) -> Result<Map<K, V>, Error> {
        if unpin(&self.path)? {
            Ok(self.map)
        } else {
            Err(Error::path("unlink", &self.path)(rustix::io::Errno::NOENT))
        }
    }

    /// Returns the map and keeps the pin.
    pub fn into_map(self) -> Map<K, V> {
        self.map
    }
}

/// Returns the map that is pinned to a path, if there is such a path.
fn existing(path: &Path) -> Result<Option<MapFd>, Error> {
    open_if_pinned(ObjectKind::Map, path, BpfMapFlags::empty())?.map(MapFd::with_info).transpose()
}

impl<K, V> Deref for PinnedMap<K, V> {
    type Target = Map<K, V>;

    fn deref(&self) -> &Map<K, V> {
        &self.map
    }
}
