//! References to maps and programs as values of maps.

use core::fmt;
use core::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use perf_ring::Errno;
use perf_ring::abi::bpf::BpfMapType;

use super::Value;
use super::value::Element;
use crate::error::Error;
use crate::map_fd::MapLayout;
use crate::object::ObjectKind;
use crate::object::open_id;
use crate::program::ProgramFd;
use crate::syscall::MapFd;
use crate::syscall::{fd_by_id_command, number};

/// A map in a map of maps: `Map<u32, MapRef<'_>>`.
pub type MapRef<'fd> = ObjectRef<'fd, MapFd>;

/// A program in an array of programs: `Map<u32, ProgramRef<'_>>`.
pub type ProgramRef<'fd> = ObjectRef<'fd, ProgramFd>;

/// A value of a map of maps or programs. The kernel takes the descriptor of the object in an
/// update, and returns its id from a lookup; this type is not confused by them.
///
/// ```
/// use std::os::fd::AsFd;
///
/// use perf_bpf::{BpfMapType, Map, MapRef, MapSpec};
///
/// # fn main() -> Result<(), perf_bpf::Error> {
/// # if Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1)).is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let inner = Map::<u32, u64>::create(MapSpec::new(BpfMapType::HASH, 4))?;
/// let spec = MapSpec::new(BpfMapType::ARRAY_OF_MAPS, 8).with_inner(&inner);
/// let outer = Map::<u32, MapRef<'_>>::create(spec)?;
/// outer.update(&2, &MapRef::new(&inner))?;
/// let found = outer.lookup(&2)?;
/// assert_eq!(found.and_then(|found| found.id()), Some(inner.fd().info()?.id));
/// # Ok(())
/// # }
/// ```
pub struct ObjectRef<'fd, O> {
    source: Source<'fd>,
    object: PhantomData<fn() -> O>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'fd> {
    /// For an update.
    Fd(BorrowedFd<'fd>),
    /// From a lookup.
    Id(u32),
}

impl<'fd, O> ObjectRef<'fd, O> {
    /// Returns the value that stands for an open object.
    pub fn new(object: &'fd impl AsFd) -> Self {
        Self::of(Source::Fd(object.as_fd()))
    }

    /// Returns the id of an object that was looked up; `None` for one from [`new`](Self::new).
    pub fn id(&self) -> Option<u32> {
        match self.source {
            Source::Fd(_) => None,
            Source::Id(id) => Some(id),
        }
    }

    fn of(source: Source<'fd>) -> Self {
        Self { source, object: PhantomData }
    }
}

impl MapRef<'_> {
    /// Opens the map, or returns `None` if it was deleted since the lookup. Opening an id needs
    /// `CAP_SYS_ADMIN`.
    pub fn open(&self) -> Result<Option<MapFd>, Error> {
        self.duplicate(ObjectKind::Map)?.map(|fd| Ok(MapFd::with_info(fd)?)).transpose()
    }
}

impl ProgramRef<'_> {
    /// Opens the program, or returns `None` if it was unloaded since the lookup. Opening an id
    /// needs `CAP_SYS_ADMIN`.
    pub fn open(&self) -> Result<Option<ProgramFd>, Error> {
        Ok(self.duplicate(ObjectKind::Program)?.map(ProgramFd::from_owned))
    }
}

impl<O> ObjectRef<'_, O> {
    fn duplicate(self, kind: ObjectKind) -> Result<Option<OwnedFd>, Error> {
        match self.source {
            Source::Fd(fd) => fd.try_clone_to_owned().map(Some).map_err(|error| Error::descriptor(&error)),
            Source::Id(id) => open_id(kind, id),
        }
    }
}

/// A kind of object that maps hold.
#[allow(unreachable_pub, private_interfaces)] // seals the value
pub trait Referred {
    /// The kind, for its commands.
    const KIND: ObjectKind;

    /// The types of maps that hold such objects.
    const HOLDERS: &'static [BpfMapType];
}

impl Referred for MapFd {
    const KIND: ObjectKind = ObjectKind::Map;
    const HOLDERS: &'static [BpfMapType] = &[BpfMapType::ARRAY_OF_MAPS, BpfMapType::HASH_OF_MAPS];
}

impl Referred for ProgramFd {
    const KIND: ObjectKind = ObjectKind::Program;
    const HOLDERS: &'static [BpfMapType] = &[BpfMapType::PROG_ARRAY];
}

impl<O: Referred> Value for ObjectRef<'_, O> {
    const SIZE: usize = size_of::<u32>();
    const IS_PER_CPU: bool = false;
}

#[allow(private_interfaces)]
impl<O: Referred> Element for ObjectRef<'_, O> {
    fn check(layout: &MapLayout) -> Result<(), Error> {
        let (map, found) = (layout.name, layout.map_type);
        match O::HOLDERS {
            [expected, ..] if !O::HOLDERS.contains(&found) => {
                Err(Error::MapType { map, expected: *expected, found })
            }
            _ => Ok(()),
        }
    }

    fn read(
        _: &MapLayout,
        read: impl FnOnce(&mut [u8]) -> Result<bool, Error>,
    ) -> Result<Option<Self>, Error> {
        let mut id = [0; 4];
        Ok(read(&mut id)?.then(|| Self::of(Source::Id(u32::from_ne_bytes(id)))))
    }

    fn from_element(layout: &MapLayout, bytes: &[u8]) -> Result<Self, Error> {
        let id = bytes.try_into().map_err(|_| layout.size_error("value", 4, bytes.len()))?;
        Ok(Self::of(Source::Id(u32::from_ne_bytes(id))))
    }

    /// Opens a reference by id, because the kernel would interpret the id as a descriptor.
    fn with_bytes<R>(
        &self,
        layout: &MapLayout,
        write: impl FnOnce(&[u8]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self.source {
            Source::Fd(fd) => write(&number(fd).to_ne_bytes()),
            Source::Id(id) => {
                let missing = || Error::bpf(fd_by_id_command(O::KIND), layout.name, Errno::ENOENT);
                let fd = open_id(O::KIND, id)?.ok_or_else(missing)?;
                write(&number(fd.as_fd()).to_ne_bytes())
            }
        }
    }
}

impl<O> Clone for ObjectRef<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for ObjectRef<'_, O> {}

impl<O> fmt::Debug for ObjectRef<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}
