//! Maps with typed keys and values.

use core::fmt;
use core::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use perf_ring::Errno;
use perf_ring::abi::bpf::BpfElemFlags;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::error::{Error, Refused};
use crate::map_fd::MapLayout;
use crate::map_spec::MapSpec;
use crate::syscall::MapFd;

mod batch;
mod dump;
mod iterate;
mod object_ref;
mod value;

pub use batch::{BatchCursor, BatchError};
pub use dump::DumpStats;
pub(crate) use iterate::copy;
pub use iterate::{Iter, Keys};
pub use object_ref::{MapRef, ObjectRef, ProgramRef};
pub use value::{PerCpu, Value};

/// A type of keys: plain bytes of a fixed length.
///
/// Derive the three traits of [`zerocopy`](crate::zerocopy) on a struct without padding; with its
/// path, a program needs no other dependency. The key of queues and stacks is `()`.
///
/// ```
/// use perf_bpf::zerocopy::{FromBytes, Immutable, IntoBytes};
///
/// #[derive(FromBytes, IntoBytes, Immutable)]
/// #[zerocopy(crate = "perf_bpf::zerocopy")]
/// #[repr(C)]
/// struct Flow {
///     source: [u8; 4],
///     target: [u8; 4],
/// }
///
/// fn is_key<K: perf_bpf::Key>() {}
/// is_key::<Flow>();
/// ```
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
/// # if Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1)).is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let map = Map::<u32, u64>::create(MapSpec::new(BpfMapType::HASH, 16))?;
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
    /// The errors of [`MapFd::create`], and [`Error::PerCpu`].
    #[doc(alias = "BPF_MAP_CREATE")]
    pub fn create(spec: MapSpec<'_>) -> Result<Self, Error> {
        Ok(MapFd::create(&Self::sized(spec)?)?.try_into()?)
    }

    /// Takes the descriptor of a map of another library, after checking that it is a map whose
    /// sizes match the types. Since Linux 4.13.
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

/// Single elements.
impl<K: Key, V: Value> Map<K, V> {
    /// `bpf(BPF_MAP_LOOKUP_ELEM)`—Returns the value of a key, or `None` if the map does not contain
    /// it. Since Linux 3.18.
    ///
    /// A trie returns the value of the longest prefix that matches, so an absent key returns the
    /// value of a shorter prefix that covers it.
    ///
    /// Some types, such as perf event arrays, have no lookup (errno 524).
    #[doc(alias = "BPF_MAP_LOOKUP_ELEM")]
    pub fn lookup(&self, key: &K) -> Result<Option<V>, Error> {
        self.lookup_with(key, BpfElemFlags::empty())
    }

    /// Returns the value of a key, with flags: [`LOCK`](BpfElemFlags::LOCK) takes its spin lock
    /// (since Linux 5.1).
    pub fn lookup_with(&self, key: &K, flags: BpfElemFlags) -> Result<Option<V>, Error> {
        let fd = self.fd();
        V::read(fd.layout(), |value| fd.lookup(key.as_bytes(), value, flags))
    }

    /// `bpf(BPF_MAP_LOOKUP_AND_DELETE_ELEM)`—Deletes an element and returns its value, or `None` if
    /// the map does not contain it.
    ///
    /// Available for queues and stacks since Linux 4.20, for hashes since 5.14.
    #[doc(alias = "BPF_MAP_LOOKUP_AND_DELETE_ELEM")]
    pub fn lookup_and_delete(&self, key: &K) -> Result<Option<V>, Error> {
        let fd = self.fd();
        V::read(fd.layout(), |value| fd.lookup_and_delete(key.as_bytes(), value))
    }

    /// `bpf(BPF_MAP_UPDATE_ELEM)`—Creates an element or replaces its value. Since Linux 3.18.
    ///
    /// # Errors
    ///
    /// `E2BIG` if the map is full, or the index of an array is too large.
    #[doc(alias = "BPF_ANY")]
    #[doc(alias = "BPF_MAP_UPDATE_ELEM")]
    pub fn update(&self, key: &K, value: &V) -> Result<(), Error> {
        self.update_with(key, value, BpfElemFlags::empty())
    }

    /// Updates an element with flags: [`NO_EXIST`](BpfElemFlags::NO_EXIST),
    /// [`EXIST`](BpfElemFlags::EXIST), and [`LOCK`](BpfElemFlags::LOCK) (since Linux 5.1).
    pub fn update_with(&self, key: &K, value: &V, flags: BpfElemFlags) -> Result<(), Error> {
        let fd = self.fd();
        value.with_bytes(fd.layout(), |value| fd.update(key.as_bytes(), value, flags))
    }

    /// Creates an element, and returns `false` if its key exists; its value is then unchanged.
    #[doc(alias = "BPF_NOEXIST")]
    pub fn insert(&self, key: &K, value: &V) -> Result<bool, Error> {
        false_if(self.update_with(key, value, BpfElemFlags::NO_EXIST), Errno::EEXIST)
    }

    /// Replaces the value of an element, and returns `false` if its key does not exist.
    #[doc(alias = "BPF_EXIST")]
    pub fn replace(&self, key: &K, value: &V) -> Result<bool, Error> {
        false_if(self.update_with(key, value, BpfElemFlags::EXIST), Errno::ENOENT)
    }

    /// `bpf(BPF_MAP_DELETE_ELEM)`—Deletes an element, and returns `false` if its key does not
    /// exist. Since Linux 3.18.
    ///
    /// # Errors
    ///
    /// `EINVAL` for arrays, whose elements always exist.
    #[doc(alias = "BPF_MAP_DELETE_ELEM")]
    pub fn delete(&self, key: &K) -> Result<bool, Error> {
        self.fd().delete(key.as_bytes())
    }

    /// `bpf(BPF_MAP_GET_NEXT_KEY)`—Returns the key after `key`, or the first without a key, or
    /// `None` at the end. Since Linux 3.18; the first key since 4.12.
    ///
    /// A hash returns its first key for a key that does not exist, as if the iteration began anew.
    #[doc(alias = "BPF_MAP_GET_NEXT_KEY")]
    pub fn next_key(&self, key: Option<&K>) -> Result<Option<K>, Error> {
        let mut next = K::new_zeroed();
        let found = self.fd().next_key(key.map(IntoBytes::as_bytes), next.as_mut_bytes())?;
        Ok(found.then_some(next))
    }

    /// `bpf(BPF_MAP_FREEZE)`—Makes the map read-only for user space, irreversibly. Since Linux 5.2.
    #[doc(alias = "BPF_MAP_FREEZE")]
    pub fn freeze(&self) -> Result<(), Error> {
        self.fd().freeze()
    }
}

/// Returns `false` for one errno.
fn false_if(done: Result<(), Error>, errno: Errno) -> Result<bool, Error> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.errno() == Some(errno) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Deletion of all elements.
impl<K: Key, V: Value> Map<K, V> {
    /// Deletes all elements, and returns the number of them.
    ///
    /// Elements that are added meanwhile may survive: at most as many keys are deleted as the map
    /// has capacity.
    ///
    /// # Errors
    ///
    /// `EINVAL` for arrays, whose elements always exist.
    pub fn delete_all(&self) -> Result<u64, Error> {
        let mut deleted = 0;
        let mut next = self.next_key(None)?;
        for _ in 0..self.fd().max_entries() {
            let Some(key) = next else { break };
            // Get the successor first, because a deleted key does not have one.
            next = self.next_key(Some(&key))?;
            deleted += u64::from(self.delete(&key)?);
        }
        Ok(deleted)
    }
}
