use core::fmt;
use core::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::{Error, MapFd, MapLayout, MapSpec, Refused};

mod batch;
mod delete;
mod dump;
mod dump_stats;
mod elements;
mod iterate;
mod listed;
mod object_ref;
mod per_cpu;
mod value;

pub use batch::{BatchCursor, BatchError};
pub use dump_stats::DumpStats;
pub(crate) use iterate::copy;
pub use iterate::{Iter, Keys};
pub use object_ref::{MapRef, ObjectRef, ProgramRef};
pub use per_cpu::PerCpu;
pub use value::Value;

/// A type of keys: plain bytes of a fixed length.
///
/// Derive the three traits of `zerocopy` on a struct without padding. The key of queues and stacks
/// is `()`.
pub trait Key: FromBytes + IntoBytes + Immutable {}

impl<K: FromBytes + IntoBytes + Immutable> Key for K {}

/// A map with the types of its keys and values. Their sizes were compared with the map's.
///
/// `K` and `V` are plain bytes of a fixed length ([`Key`], [`Value`]); a per-CPU map has values of
/// type [`PerCpu<V>`]. Queues and stacks have the key `()`: [`update`](Self::update) pushes,
/// [`lookup`](Self::lookup) peeks, [`lookup_and_delete`](Self::lookup_and_delete) pops.
///
/// All functions take `&self`: the kernel synchronizes the map, which programs use at the same
/// time.
///
/// ```
/// use perf_bpf::{BpfMapType, Map, MapSpec};
///
/// # fn main() -> Result<(), perf_bpf::Error> {
/// let map = match Map::<u32, u64>::create(MapSpec::new(BpfMapType::HASH, 16)) {
///     Ok(map) => map,
///     Err(error) => return Ok(println!("{error}")), // with the missing capabilities
/// };
/// map.update(&7, &1000)?;
/// assert_eq!(map.lookup(&7)?, Some(1000));
/// assert!(map.delete(&7)?);
/// # Ok(())
/// # }
/// ```
pub struct Map<K, V> {
    fd: MapFd,
    types: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Value> Map<K, V> {
    /// Creates a map with keys of type `K` and values of type `V`; the sizes in `spec` are
    /// replaced.
    ///
    /// # Errors
    ///
    /// As [`MapFd::create`], and [`Error::PerCpu`].
    #[doc(alias = "BPF_MAP_CREATE")]
    pub fn create(spec: MapSpec<'_>) -> Result<Self, Error> {
        Ok(MapFd::create(&Self::sized(spec)?)?.try_into()?)
    }

    /// Takes the descriptor of a map of another library, after a check that it is one and that its
    /// sizes are those of the types. Since Linux 4.13.
    ///
    /// # Errors
    ///
    /// The descriptor, with the error of [`MapFd::from_fd`] or of the comparison.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Refused<OwnedFd>> {
        let map = MapFd::from_fd(fd)?;
        map.try_into().map_err(|refused: Refused<Box<MapFd>>| Refused {
            error: refused.error,
            value: refused.value.into_fd(),
        })
    }

    /// Returns `spec` with the sizes of the types.
    pub(crate) fn sized(spec: MapSpec<'_>) -> Result<MapSpec<'_>, Error> {
        spec.with_type_sizes(size_of::<K>(), V::SIZE)
    }

    /// Returns the map without its types.
    pub fn fd(&self) -> &MapFd {
        &self.fd
    }

    /// Returns the map without its types.
    pub fn into_map_fd(self) -> MapFd {
        self.fd
    }
}

/// Compares the sizes and whether the values are per CPU. The error has the map.
impl<K: Key, V: Value> TryFrom<MapFd> for Map<K, V> {
    type Error = Refused<Box<MapFd>>;

    fn try_from(fd: MapFd) -> Result<Self, Refused<Box<MapFd>>> {
        match check_types::<K, V>(fd.layout()) {
            Ok(()) => Ok(Self { fd, types: PhantomData }),
            Err(error) => Err(Refused { error, value: Box::new(fd) }),
        }
    }
}

fn check_types<K: Key, V: Value>(layout: &MapLayout) -> Result<(), Error> {
    if layout.is_per_cpu() != V::IS_PER_CPU {
        return Err(Error::PerCpu { map: layout.name, found: layout.map_type });
    }
    layout.check_key(size_of::<K>())?;
    layout.check_value(V::SIZE)?;
    V::check(layout)?;
    layout.element_size().map(drop)
}

impl<K, V> AsFd for Map<K, V> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl<K, V> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Map").field(&self.fd).finish()
    }
}
