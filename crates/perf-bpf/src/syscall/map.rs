//! Commands of `bpf(2)` for maps.

use core::ffi::c_int;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use perf_ring::Errno;
use perf_ring::abi::bpf::{
    BpfCmd, BpfElemFlags, BpfMapBatch, BpfMapCreate, BpfMapElem, BpfMapInfo, BpfMapNextKey,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{address, address_mut, bpf, bpf_fd, info, number};
use crate::error::{ENOTSUPP, Error, Refused};
use crate::map_fd::MapLayout;
use crate::object::ObjectName;

/// The descriptor of a map, with the sizes of its keys and values.
///
/// Closing the last descriptor of a map that is neither pinned nor used by a program deletes the
/// map.
///
/// The functions here take keys and values as bytes, for all map types. [`Map`](crate::Map) has
/// types.
#[derive(Debug)]
pub struct MapFd {
    fd: OwnedFd,
    /// As the kernel reports it for `fd`. The lengths below rely on it, so it never changes.
    layout: MapLayout,
}

/// The argument of `BPF_MAP_FREEZE`.
#[repr(C)]
#[derive(FromBytes, IntoBytes, Immutable)]
struct Freeze {
    map_fd: u32,
}

impl MapFd {
    /// `bpf(BPF_MAP_CREATE)`—Creates a map.
    pub(crate) fn create_from(attr: &BpfMapCreate) -> Result<Self, Error> {
        // The only address; no function of this crate sets it.
        let mut attr = *attr;
        attr.excl_prog_hash = 0;
        attr.excl_prog_hash_size = 0;
        let layout = MapLayout::of_attr(&attr)?;
        // SAFETY: the attr holds numbers only, and the command returns a descriptor.
        let fd = unsafe { bpf_fd(BpfCmd::MAP_CREATE, &mut attr) };
        Ok(Self { fd: fd.map_err(|errno| Error::create(&attr, errno))?, layout })
    }

    /// Takes a descriptor and the layout that the kernel reports for it. If it is not a map, all
    /// commands on it fail.
    pub(crate) fn with_info(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        let found = info(fd.as_fd()).map_err(Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, ObjectName::EMPTY));
        match found.and_then(|found: BpfMapInfo| MapLayout::of_info(&found)) {
            Ok(layout) => Ok(Self { fd, layout }),
            Err(error) => Err(Refused { error, value: fd }),
        }
    }

    pub(crate) fn layout(&self) -> &MapLayout {
        &self.layout
    }

    /// Returns the descriptor.
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// `bpf(BPF_MAP_LOOKUP_ELEM)`—Reads an element into `value`, and returns `false` if it does not
    /// exist.
    ///
    /// `value` has [`element_size`](Self::element_size) bytes. Since Linux 3.18.
    #[doc(alias = "BPF_MAP_LOOKUP_ELEM")]
    pub fn lookup(&self, key: &[u8], value: &mut [u8], flags: BpfElemFlags) -> Result<bool, Error> {
        self.read_element(BpfCmd::MAP_LOOKUP_ELEM, key, value, flags)
    }

    /// `bpf(BPF_MAP_LOOKUP_AND_DELETE_ELEM)`—Reads an element into `value` and deletes it, and
    /// returns `false` if it does not exist.
    ///
    /// Available for queues and stacks since Linux 4.20, for hashes since 5.14.
    #[doc(alias = "BPF_MAP_LOOKUP_AND_DELETE_ELEM")]
    pub fn lookup_and_delete(&self, key: &[u8], value: &mut [u8]) -> Result<bool, Error> {
        self.read_element(BpfCmd::MAP_LOOKUP_AND_DELETE_ELEM, key, value, BpfElemFlags::empty())
    }

    fn read_element(
        &self,
        command: BpfCmd,
        key: &[u8],
        value: &mut [u8],
        flags: BpfElemFlags,
    ) -> Result<bool, Error> {
        self.layout.check_key(key.len())?;
        self.layout.check_element(value.len())?;
        let Some(largest) = self.layout.largest_element() else {
            return self.read_into(command, key, value, flags);
        };
        if command == BpfCmd::MAP_LOOKUP_AND_DELETE_ELEM {
            // An error must not cost the element.
            self.read_and_compare(key, value, BpfElemFlags::empty(), BpfCmd::MAP_LOOKUP_ELEM, largest)?;
        }
        self.read_and_compare(key, value, flags, command, largest)
    }

    /// Reads an element of unknown length through a longer buffer, and compares the length that the
    /// kernel wrote with the length of `value`.
    fn read_and_compare(
        &self,
        key: &[u8],
        value: &mut [u8],
        flags: BpfElemFlags,
        command: BpfCmd,
        largest: usize,
    ) -> Result<bool, Error> {
        // A random word marks unwritten values, so that no program can write it on purpose.
        let unwritten = RandomState::new().build_hasher().finish().to_ne_bytes();
        let mut buffer: Vec<u8> = unwritten.iter().copied().cycle().take(largest).collect();
        let is_found = self.read_into(command, key, &mut buffer, flags)?;
        if is_found {
            let is_written = |word: &[u8]| word != unwritten;
            let words = buffer.chunks_exact(unwritten.len()).rposition(is_written).map_or(0, |last| last + 1);
            self.layout.check_written(words * unwritten.len())?;
            value.iter_mut().zip(buffer).for_each(|(to, from)| *to = from);
        }
        Ok(is_found)
    }

    /// `value` is at least as long as the element that the kernel writes.
    fn read_into(
        &self,
        command: BpfCmd,
        key: &[u8],
        value: &mut [u8],
        flags: BpfElemFlags,
    ) -> Result<bool, Error> {
        let mut attr = self.element(key, address_mut(value), flags);
        // SAFETY: the kernel reads a key of `key_size` bytes, which was compared with the kernel's,
        // and writes an element of `element_size` bytes or, where that is not known to be the
        // kernel's length, of at most `largest_element` bytes; the caller passes as many.
        self.found(command, unsafe { bpf(command, &mut attr) })
    }

    /// `bpf(BPF_MAP_UPDATE_ELEM)`—Writes an element of [`element_size`](Self::element_size) bytes.
    ///
    /// `flags` restrict it to a new key ([`NO_EXIST`](BpfElemFlags::NO_EXIST)) or to an existing
    /// one ([`EXIST`](BpfElemFlags::EXIST)). Since Linux 3.18.
    #[doc(alias = "BPF_MAP_UPDATE_ELEM")]
    pub fn update(&self, key: &[u8], value: &[u8], flags: BpfElemFlags) -> Result<(), Error> {
        self.layout.check_key(key.len())?;
        self.layout.check_element(value.len())?;
        let Some(largest) = self.layout.largest_element() else {
            return self.write_from(key, value, flags);
        };
        let mut buffer = value.to_vec();
        buffer.resize(largest.max(value.len()), 0);
        self.write_from(key, &buffer, flags)?;
        // Before this, nothing says how many values the kernel took.
        match self.read_and_compare(key, &mut [], BpfElemFlags::empty(), BpfCmd::MAP_LOOKUP_ELEM, largest) {
            Err(error @ Error::PossibleCpus { .. }) => Err(error),
            _ => Ok(()), // a descriptor that is write-only, or the element was deleted
        }
    }

    /// `value` is at least as long as the element that the kernel reads.
    fn write_from(&self, key: &[u8], value: &[u8], flags: BpfElemFlags) -> Result<(), Error> {
        let mut attr = self.element(key, address(value), flags);
        // SAFETY: the kernel reads a key of `key_size` bytes, which was compared with the kernel's,
        // and an element of `element_size` bytes or, where that is not known to be the kernel's
        // length, of at most `largest_element` bytes; the caller passes as many.
        let done = unsafe { bpf(BpfCmd::MAP_UPDATE_ELEM, &mut attr) };
        done.map(drop).map_err(Error::of(BpfCmd::MAP_UPDATE_ELEM, self.layout.name))
    }

    /// `bpf(BPF_MAP_DELETE_ELEM)`—Deletes an element, and returns `false` if it does not exist.
    /// Since Linux 3.18.
    #[doc(alias = "BPF_MAP_DELETE_ELEM")]
    pub fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        self.layout.check_key(key.len())?;
        let mut attr = self.element(key, 0, BpfElemFlags::empty());
        // SAFETY: the kernel reads a key of `key_size` bytes, which was compared with the kernel's.
        self.found(BpfCmd::MAP_DELETE_ELEM, unsafe { bpf(BpfCmd::MAP_DELETE_ELEM, &mut attr) })
    }

    /// `bpf(BPF_MAP_GET_NEXT_KEY)`—Writes the key after `key` to `next`, and returns `false` at the
    /// end.
    ///
    /// Without a key it writes the first (since Linux 4.12). A hash returns its first key for a key
    /// that it does not have, so an iteration starts anew if its last key was deleted. Since Linux
    /// 3.18.
    #[doc(alias = "BPF_MAP_GET_NEXT_KEY")]
    pub fn next_key(&self, key: Option<&[u8]>, next: &mut [u8]) -> Result<bool, Error> {
        self.layout.check_key(key.map_or(next.len(), <[u8]>::len))?;
        self.layout.check_key(next.len())?;
        let mut attr = BpfMapNextKey::new();
        attr.map_fd = number(self.as_fd());
        attr.key = key.map_or(0, address);
        attr.next_key = address_mut(next);
        // SAFETY: the kernel reads and writes keys of `key_size` bytes, compared with the kernel's.
        self.found(BpfCmd::MAP_GET_NEXT_KEY, unsafe { bpf(BpfCmd::MAP_GET_NEXT_KEY, &mut attr) })
    }

    /// `bpf(BPF_MAP_FREEZE)`—Makes the map read-only for user space, irreversibly. Programs still
    /// write it. Since Linux 5.2.
    #[doc(alias = "BPF_MAP_FREEZE")]
    pub fn freeze(&self) -> Result<(), Error> {
        let mut attr = Freeze { map_fd: number(self.as_fd()) };
        // SAFETY: the attr holds one number.
        let done = unsafe { bpf(BpfCmd::MAP_FREEZE, &mut attr) };
        done.map(drop).map_err(Error::of(BpfCmd::MAP_FREEZE, self.layout.name))
    }

    /// A command on many elements. Returns the number of processed elements, which are at the start
    /// of the buffers, with the errno after them.
    ///
    /// `values` is `None` for a deletion. Where the length of an element is not known to be the
    /// kernel's, the errno for a batch of values is `ENOTSUPP`. `position` is at least
    /// [`MapLayout::position_size`] long.
    pub(crate) fn batch(
        &self,
        command: BpfCmd,
        elements: &mut Elements<'_>,
        elem_flags: BpfElemFlags,
    ) -> Result<(usize, Option<Errno>), Error> {
        let Elements { count, keys, values, start, position } = elements;
        self.layout.check_batch(*count, keys.len(), values.as_ref().map(|values| values.len()))?;
        self.layout.check_position(position.len())?;
        if let Some(start) = start {
            self.layout.check_position(start.len())?;
        }
        if values.is_some() && self.layout.largest_element().is_some() {
            return Ok((0, Some(ENOTSUPP)));
        }
        let mut attr = BpfMapBatch::new();
        attr.in_batch = start.map_or(0, address);
        attr.out_batch = address_mut(position);
        attr.keys = address_mut(keys);
        attr.values = values.as_mut().map_or(0, |values| address_mut(values));
        attr.count = *count as u32;
        attr.map_fd = number(self.as_fd());
        attr.elem_flags = elem_flags;
        // SAFETY: the kernel reads and writes `count` keys and elements, and positions of at most
        // `position_size` bytes; all lengths were compared with the kernel's.
        match unsafe { bpf(command, &mut attr) } {
            Ok(_) => Ok((attr.count as usize, None)),
            Err(errno) => Ok((attr.count as usize, Some(errno))),
        }
    }

    fn element(&self, key: &[u8], value: u64, flags: BpfElemFlags) -> BpfMapElem {
        let mut attr = BpfMapElem::new();
        attr.map_fd = number(self.as_fd());
        attr.key = address(key);
        attr.value = value;
        attr.flags = flags;
        attr
    }

    /// Returns `false` for `ENOENT`.
    fn found(&self, command: BpfCmd, done: Result<c_int, Errno>) -> Result<bool, Error> {
        match done {
            Ok(_) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => Err(Error::bpf(command, self.layout.name, errno)),
        }
    }
}

/// The buffers of a command on many elements.
pub(crate) struct Elements<'a> {
    /// Number of elements in `keys` and `values`.
    pub(crate) count: usize,
    pub(crate) keys: &'a mut [u8],
    pub(crate) values: Option<&'a mut [u8]>,
    /// End position of the preceding batch; `None` starts.
    pub(crate) start: Option<&'a [u8]>,
    /// Buffer for the end position of this batch.
    pub(crate) position: &'a mut [u8],
}

impl AsFd for MapFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
