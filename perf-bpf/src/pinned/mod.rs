use core::ops::Deref;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_sys::Errno;
use perf_sys::abi::bpf::BpfMapFlags;

use crate::pin::{PinPath, open_if_pinned};
use crate::{Difference, Error, Key, Map, MapFd, MapSpec, ObjectKind, Refused, Value, unpin};

mod elements;
mod outcome;
mod parallel;

pub use outcome::{IfDifferent, MoveStats, PinOutcome};
pub use parallel::ParallelMap;

use elements::move_elements;

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
    /// flags or capacity differ from `spec` is replaced by a new one; its elements are lost when its
    /// last user closes it. Returns which of these was done.
    /// [`open_or_create_with`](Self::open_or_create_with) decides it by the differences.
    ///
    /// The new map is created before the old one is touched, and the pin is replaced in one step, so
    /// an error leaves the old map and the path is never without a map.
    ///
    /// It holds a lock (`flock`) of the directory, so that of several threads and processes that
    /// call it at the same time one creates the map and the others open it.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another process holds the lock for 5 s, [`Error::Kind`] if a program or a
    /// link is pinned to the path, [`Error::Contended`], and those of [`Map::create`].
    pub fn open_or_create(path: impl Into<PathBuf>, spec: MapSpec<'_>) -> Result<(Self, PinOutcome), Error> {
        Self::open_or_create_with(path, spec, |_| IfDifferent::Replace)
    }

    /// Does the same, and calls `decide` with the differences of a pinned map.
    ///
    /// ```no_run
    /// use perf_bpf::{BpfFs, BpfMapType, Error, IfDifferent, MapProperty, MapSpec, PinnedMap};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let path = BpfFs::new().path("flows")?;
    /// let spec = MapSpec::new(BpfMapType::HASH, 4096);
    /// // Another capacity keeps the elements, anything else is for the user to solve.
    /// let opened = PinnedMap::<u32, u64>::open_or_create_with(path, spec, |differences| {
    ///     match differences.iter().all(|found| found.property == MapProperty::MaxEntries) {
    ///         true => IfDifferent::Move,
    ///         false => IfDifferent::Refuse,
    ///     }
    /// });
    /// match opened {
    ///     Ok((flows, outcome)) => println!("{}: {outcome}", flows.path().display()),
    ///     Err(Error::Differs { map, .. }) => println!("still there: {:?}", map.info()?),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`IfDifferent::Move`] copies the elements before it replaces the pin. Elements that programs
    /// or other processes write to the old map meanwhile or afterwards are not in the new one.
    ///
    /// # Errors
    ///
    /// [`Error::Differs`] with the pinned map if it is refused, and those of
    /// [`open_or_create`](Self::open_or_create).
    pub fn open_or_create_with(
        path: impl Into<PathBuf>,
        spec: MapSpec<'_>,
        mut decide: impl FnMut(&[Difference]) -> IfDifferent,
    ) -> Result<(Self, PinOutcome), Error> {
        let path = path.into();
        let spec = Map::<K, V>::sized(spec)?;
        let pin = PinPath::lock(&path)?;
        for _ in 0..ATTEMPTS {
            let Some(old) = pin.existing()? else {
                let map = Map::create(spec)?;
                match pin.pin(map.as_fd()) {
                    Ok(()) => return Ok((Self { path, map }, PinOutcome::Created)),
                    // By a process that does not take the lock.
                    Err(error) if error.errno() == Some(Errno::EEXIST) => continue,
                    Err(error) => return Err(error),
                }
            };
            let differences = spec.differences(&old.info()?)?;
            if differences.is_empty() {
                return Ok((Self { path, map: old.try_into()? }, PinOutcome::Opened));
            }
            let (map, outcome) = match decide(&differences) {
                IfDifferent::Open => {
                    return Ok((Self { path, map: old.try_into()? }, PinOutcome::Accepted(differences)));
                }
                IfDifferent::Refuse => return Err(differs(path, differences, old)),
                IfDifferent::Replace => (Map::create(spec)?, PinOutcome::Replaced(differences)),
                IfDifferent::Move => {
                    let map = Map::create(spec)?;
                    match move_elements(&old, &map)? {
                        Some(stats) => (map, PinOutcome::Moved(differences, stats)),
                        None => return Err(differs(path, differences, old)),
                    }
                }
            };
            pin.replace(map.as_fd())?;
            return Ok((Self { path, map }, outcome));
        }
        Err(Error::Contended { path: path.into() })
    }

    /// Creates a map and pins it to a path, in place of a map that may be pinned to it: for contents
    /// that must not outlive the process that writes them. Its users keep the old map until they
    /// open the path again.
    ///
    /// # Errors
    ///
    /// Those of [`open_or_create`](Self::open_or_create). The old map stays pinned then.
    pub fn create_anew(path: impl Into<PathBuf>, spec: MapSpec<'_>) -> Result<Self, Error> {
        Ok(ParallelMap::create(path, spec)?.end()?)
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
    /// This value, with [`Error::Path`] and `ENOENT` if there is no such path.
    pub fn unpin(self) -> Result<Map<K, V>, Refused<Box<Self>>> {
        let error = match unpin(&self.path) {
            Ok(true) => return Ok(self.map),
            Ok(false) => Error::path("unlink", &self.path)(rustix::io::Errno::NOENT),
            Err(error) => error,
        };
        Err(Refused { error, value: Box::new(self) })
    }

    /// Returns the map and keeps the pin.
    pub fn into_map(self) -> Map<K, V> {
        self.map
    }
}

fn differs(path: PathBuf, differences: Vec<Difference>, map: MapFd) -> Error {
    Error::Differs { path: path.into(), differences: differences.into(), map: Arc::new(map) }
}

/// Returns the map that is pinned to a path, if there is such a path.
fn existing(path: &Path) -> Result<Option<MapFd>, Error> {
    open_if_pinned(ObjectKind::Map, path, BpfMapFlags::empty())?
        .map(|fd| Ok(MapFd::with_info(fd)?))
        .transpose()
}

impl<K, V> Deref for PinnedMap<K, V> {
    type Target = Map<K, V>;

    fn deref(&self) -> &Map<K, V> {
        &self.map
    }
}
