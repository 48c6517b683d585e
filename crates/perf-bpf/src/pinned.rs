//! Pinned maps: opening, creating, replacing and moving them.

use core::fmt;
use core::ops::Deref;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_ring::Errno;
use perf_ring::abi::bpf::{BpfMapFlags, BpfMapType};

use crate::error::write_differences;
use crate::error::{Error, Refused};
use crate::map::{Key, Map, Value};
use crate::map_spec::{Difference, MapSpec};
use crate::object::ObjectKind;
use crate::pin::unpin;
use crate::pin::{PinPath, open_if_pinned};
use crate::syscall::MapFd;

/// Attempts at creating a pin while processes that do not use this crate create or remove it.
const ATTEMPTS: u32 = 16;

/// A map and the path that it is pinned to. Dereferences to the map.
///
/// The pin keeps the map in the kernel until [`unpin`](Self::unpin) or the next boot; dropping this
/// value does not remove it.
///
/// A new map is pinned to the name with `_perf_bpf_new` at its end before it is moved over the old
/// one. Each open removes such a pin of a process that was killed in between, so no other object
/// may have the name.
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
    /// [`Error::Size`] if its sizes differ from the types.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        // A process that was killed while it replaced the pin may have left a temporary one.
        PinPath::clean(&path);
        let map = MapFd::open_pinned(&path)?.try_into()?;
        Ok(Self { path, map })
    }

    /// Opens the map that is pinned to a path, or returns `None` if the path does not exist.
    pub fn open_if_exists(path: impl Into<PathBuf>) -> Result<Option<Self>, Error> {
        let path = path.into();
        PinPath::clean(&path);
        match existing(&path)? {
            Some(fd) => Ok(Some(Self { path, map: fd.try_into()? })),
            None => Ok(None),
        }
    }

    /// Opens the map that is pinned to a path, or creates and pins it. A map whose type, sizes,
    /// flags or capacity differ from `spec` is replaced by a new one; its elements are lost when
    /// its last user closes it. Returns which of these was done.
    /// [`open_or_create_with`](Self::open_or_create_with) decides it by the differences.
    ///
    /// The new map is created before the old one is touched, and the pin is replaced in one step,
    /// so an error leaves the old map and the path is never without a map.
    ///
    /// It holds a lock (`flock`) of the directory, so that of several threads and processes that
    /// call it at the same time one creates the map and the others open it.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another process holds the lock for 5 s, [`Error::Kind`] if a program or
    /// a link is pinned to the path, [`Error::Contended`], and the errors of [`Map::create`].
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
    /// [`Error::Differs`] with the pinned map if it is refused, [`Error::Unmoved`] if the new map
    /// is too small for its elements, and the errors of [`open_or_create`](Self::open_or_create).
    /// The pinned map stays pinned with all its elements then.
    pub fn open_or_create_with(
        path: impl Into<PathBuf>,
        spec: MapSpec<'_>,
        mut decide: impl FnMut(&[Difference]) -> IfDifferent,
    ) -> Result<(Self, PinOutcome), Error> {
        let path = path.into();
        let spec = Map::<K, V>::sized(spec)?;
        let pin = PinPath::lock(&path)?;
        // The lock only excludes processes that use this crate. Others can pin or unpin at any
        // time.
        for _ in 0..ATTEMPTS {
            let Some(old) = pin.existing()? else {
                let map = Map::create(spec)?;
                match pin.pin(map.as_fd()) {
                    Ok(()) => return Ok((Self { path, map }, PinOutcome::Created)),
                    // A process that does not take the lock was faster.
                    Err(error) if error.errno() == Some(Errno::EEXIST) => continue,
                    Err(error) => return Err(error),
                }
            };
            let differences = spec.differences(&old.info()?)?;
            if differences.is_empty() {
                return Ok((Self { path, map: old.try_into()? }, PinOutcome::Opened));
            }
            let decided = decide(&differences);
            let (map, outcome) = match decided {
                IfDifferent::Open => {
                    return Ok((Self { path, map: old.try_into()? }, PinOutcome::Accepted(differences)));
                }
                IfDifferent::Refuse => return Err(differs(path, differences, old)),
                IfDifferent::Replace => (Map::create(spec)?, PinOutcome::Replaced(differences)),
                IfDifferent::Move | IfDifferent::MoveFitting => {
                    let map = Map::create(spec)?;
                    let Some((stats, cause)) = move_elements(&old, &map)? else {
                        return Err(differs(path, differences, old));
                    };
                    let is_whole = stats.unmoved == 0 && stats.complete;
                    if !is_whole && decided == IfDifferent::Move {
                        return Err(Error::Unmoved {
                            path: path.into(),
                            differences: differences.into(),
                            stats,
                            cause: cause.map(Box::new),
                            map: Arc::new(old),
                        });
                    }
                    (map, PinOutcome::Moved(differences, stats))
                }
            };
            // The new map is complete now. The path has one of the two maps at any time.
            pin.replace(map.as_fd())?;
            return Ok((Self { path, map }, outcome));
        }
        Err(Error::Contended { path: path.into() })
    }

    /// Creates a map and pins it to a path, replacing a pinned map if there is one, for contents
    /// that must not outlive the process that writes them. Users of the old map keep it until they
    /// open the path again.
    ///
    /// # Errors
    ///
    /// The errors of [`open_or_create`](Self::open_or_create). The old map stays pinned then.
    pub fn create_anew(path: impl Into<PathBuf>, spec: MapSpec<'_>) -> Result<Self, Error> {
        Ok(ParallelMap::create(path, spec)?.end()?)
    }

    /// Opens the path again: another process may have replaced the map since.
    pub fn reopen(&mut self) -> Result<(), Error> {
        PinPath::clean(&self.path);
        self.map = MapFd::open_pinned(&self.path)?.try_into()?;
        Ok(())
    }
}

impl<K, V> PinnedMap<K, V> {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the pin and returns the map, which exists as long as it is used.
    ///
    /// # Errors
    ///
    /// This value, with [`Error::Path`] and `ENOENT` if the path does not exist.
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

/// A new map that is filled before it replaces the map pinned to a path.
///
/// Users of the old map continue with it until they open the path again. [`end`](Self::end)
/// replaces the pin in one step, so that the path always has a map. Dropping this value instead
/// deletes the new map and keeps the old one.
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

    /// Pins the new map to the path, replacing the map that is pinned there now, and ends the
    /// parallel mode.
    ///
    /// # Errors
    ///
    /// This value with its filled map, and [`Error::Path`], [`Error::Pin`] or [`Error::Locked`].
    /// The old map stays pinned then.
    pub fn end(self) -> Result<PinnedMap<K, V>, Refused<Box<Self>>> {
        match PinPath::lock(&self.path).and_then(|pin| pin.replace(self.new.as_fd())) {
            Ok(()) => Ok(PinnedMap { path: self.path, map: self.new }),
            Err(error) => Err(Refused { error, value: Box::new(self) }),
        }
    }
}

/// Copies the elements of a map to a new one, which no other program uses yet. Returns the error of
/// the first element that the new map refused, too, or `None` if the maps do not permit it.
fn move_elements<K: Key, V: Value>(
    old: &MapFd,
    new: &Map<K, V>,
) -> Result<Option<(MoveStats, Option<Error>)>, Error> {
    if !is_movable(old.map_type()) || !is_movable(new.fd().map_type()) {
        return Ok(None);
    }
    // `None` if the old map's sizes differ from the types.
    let Ok(old) = Map::<K, V>::try_from(old.try_clone()?) else { return Ok(None) };
    let (mut stats, mut cause) = (MoveStats::default(), None);
    let dump = old.dump_reliably(|key, value| match new.update(&key, &value) {
        Ok(()) => stats.moved += 1,
        Err(error) => {
            stats.unmoved += 1;
            cause.get_or_insert(error);
        }
    })?;
    if matches!(new.fd().map_type(), BpfMapType::LRU_HASH | BpfMapType::LRU_PERCPU_HASH) {
        // An LRU map accepts each element but evicts others, so count the remaining ones.
        let found = new.keys().try_fold(0, |found, key| key.map(|_| found + 1))?;
        stats.unmoved += stats.moved.saturating_sub(found);
        stats.moved = found;
    }
    Ok(Some((MoveStats { complete: dump.complete, ..stats }, cause)))
}

/// Returns whether an element is written as it is read: a map of descriptors is read as ids, a
/// queue only by taking elements out, and storage belongs to other objects.
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

/// The way in which [`PinnedMap::open_or_create`](crate::PinnedMap::open_or_create) got its map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinOutcome {
    /// The pinned map was opened.
    Opened,
    /// The pinned map was opened despite these differences, as [`IfDifferent::Open`] requests.
    Accepted(Vec<Difference>),
    /// Nothing was pinned to the path, and a new map was created.
    Created,
    /// A new map replaced one with these differences, without moving its elements, as
    /// [`IfDifferent::Replace`] requests.
    Replaced(Vec<Difference>),
    /// A new map with the elements took the place of one with these differences:
    /// [`IfDifferent::Move`] or [`IfDifferent::MoveFitting`].
    Moved(Vec<Difference>, MoveStats),
}

/// The treatment of a pinned map that has other properties than the spec, for
/// [`PinnedMap::open_or_create_with`](crate::PinnedMap::open_or_create_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IfDifferent {
    /// Return [`Error::Differs`](crate::Error::Differs), which has the pinned map.
    Refuse,
    /// Open the pinned map as it is.
    Open,
    /// Replace it by a new map, without its elements.
    Replace,
    /// Replace it by a new map with its elements. If that is not possible, it is
    /// [`Refuse`](Self::Refuse): the types of key and value have other sizes than the pinned map,
    /// or one of the two maps is of a type whose elements cannot be written as they were read. If
    /// the new map refuses or evicts an element, such as a smaller one, the old one stays pinned
    /// with all of them ([`Error::Unmoved`](crate::Error::Unmoved)).
    Move,
    /// Move the elements as with [`Move`](Self::Move), and drop those that do not fit, which
    /// [`MoveStats`] counts. For caches.
    MoveFitting,
}

/// The elements that [`IfDifferent::Move`] or [`IfDifferent::MoveFitting`] moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoveStats {
    /// Elements that the new map has.
    pub moved: u64,
    /// Elements that the new map refused or evicted, usually because it is smaller.
    pub unmoved: u64,
    /// Whether all elements of the old map were read, as
    /// [`DumpStats::complete`](crate::DumpStats::complete).
    pub complete: bool,
}

/// One line, such as `replaced: max_entries: expected 64, found 32`.
impl fmt::Display for PinOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened => f.write_str("opened"),
            Self::Created => f.write_str("created"),
            Self::Accepted(differences) => {
                f.write_str("opened")?;
                write_differences(f, differences)
            }
            Self::Replaced(differences) => {
                f.write_str("replaced")?;
                write_differences(f, differences)
            }
            Self::Moved(differences, stats) => {
                write!(f, "replaced, {stats}")?;
                write_differences(f, differences)
            }
        }
    }
}

/// `12 elements moved, 3 not`.
impl fmt::Display for MoveStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { moved, unmoved, complete } = self;
        write!(f, "{moved} elements moved, {unmoved} not")?;
        if *complete { Ok(()) } else { f.write_str(", and some may not have been found") }
    }
}
