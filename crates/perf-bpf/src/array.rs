//! Perf event arrays.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use perf_ring::abi::bpf::{BpfElemFlags, BpfMapFlags, BpfMapType};
use perf_ring::{Errno, Event};
use perf_session::{CpuList, System};

use crate::error::Error;
use crate::map_spec::MapSpec;
use crate::object::ObjectName;
use crate::syscall::MapFd;

/// A perf event array: a map whose slots hold perf events, by convention the event of CPU n in slot
/// n.
///
/// Programs read the counters in the slots by `bpf_perf_event_read_value`, or write records into
/// the rings of bpf-output events by `bpf_perf_event_output`; [`PerfBuffer`](crate::PerfBuffer)
/// reads those. An event with any attr may be in a slot, except inherited ones.
///
/// A slot keeps its event alive. Since Linux 4.3.
///
/// # Maps with several readers
///
/// A slot holds one event: the last [`insert`](Self::insert) of all processes wins. The kernel
/// reports it neither to the reader that loses the slot nor by a lookup
/// ([`PerfBuffer`](crate::PerfBuffer) finds it out for its slots). Dropping or
/// [clearing](Self::clear) an array clears only the slots that still hold an event of this value,
/// so it never silences the next reader. For this the array writes through a separate file of the
/// map, which it opens by the map's id, and the kernel clears the slots when that file is closed.
///
/// Opening the file needs `CAP_SYS_ADMIN`. Without it ([`has_own_file`](Self::has_own_file)) the
/// array writes through the descriptor that it was given, and its slots stay filled as long as a
/// duplicate of that descriptor is open. A map with [`BpfMapFlags::PRESERVE_ELEMS`] keeps all
/// slots.
#[doc(alias = "BPF_MAP_TYPE_PERF_EVENT_ARRAY")]
#[derive(Debug)]
pub struct EventArray {
    map: MapFd,
    /// The kernel notes the file by which a slot was written, and clears these slots on the file's
    /// release (`perf_event_fd_array_release`). A duplicate of a descriptor is the same file, so
    /// this one is never lent.
    own: Option<MapFd>,
    filled: BTreeSet<u32>,
}

impl EventArray {
    /// Creates an array with a slot for each possible CPU.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the possible CPUs cannot be read; otherwise the errors of
    /// [`MapFd::create`].
    pub fn create(name: ObjectName) -> Result<Self, Error> {
        let slots = CpuList::possible(&System::new())?.iter().last().map_or(1, |last| last.saturating_add(1));
        let spec = MapSpec::new(BpfMapType::PERF_EVENT_ARRAY, slots).with_sizes(4, 4).with_name(name);
        Ok(Self { map: MapFd::create(&spec)?, own: None, filled: BTreeSet::new() })
    }

    /// Takes the descriptor of an array of another library.
    ///
    /// # Errors
    ///
    /// [`Error::MapType`] for a map of another type, and the errors of [`MapFd::from_fd`].
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Error> {
        let map = MapFd::from_fd(fd)?;
        let (expected, found) = (BpfMapType::PERF_EVENT_ARRAY, map.map_type());
        if found != expected {
            return Err(Error::MapType { map: map.name(), expected, found });
        }
        Ok(Self { map, own: None, filled: BTreeSet::new() })
    }

    /// `bpf(BPF_MAP_UPDATE_ELEM)`—Puts an event into a slot, replacing the event of any reader.
    ///
    /// # Errors
    ///
    /// [`Error::Slot`] if the slot does not exist; `EOPNOTSUPP` for an inherited event.
    pub fn insert(&mut self, slot: u32, event: &Event) -> Result<(), Error> {
        self.check(slot)?;
        if self.own.is_none() {
            self.own = own_file(&self.map)?;
        }
        let file = self.own.as_ref().unwrap_or(&self.map);
        let fd = event.as_raw_fd();
        file.update(&slot.to_ne_bytes(), &fd.to_ne_bytes(), BpfElemFlags::empty())?;
        self.filled.insert(slot);
        Ok(())
    }

    /// `bpf(BPF_MAP_DELETE_ELEM)`—Clears a slot, even if another reader filled it, and returns
    /// `false` if it was empty.
    ///
    /// # Errors
    ///
    /// [`Error::Slot`] if the slot does not exist.
    pub fn remove(&mut self, slot: u32) -> Result<bool, Error> {
        self.check(slot)?;
        let was_filled = self.map.delete(&slot.to_ne_bytes())?;
        self.filled.remove(&slot);
        Ok(was_filled)
    }

    /// Clears the slots that still hold an event that was put in through this value.
    ///
    /// Without its [own file](Self::has_own_file) it clears all slots that were filled through this
    /// value, also those that another reader has taken over since.
    ///
    /// # Errors
    ///
    /// The first error, without an own file only. The other slots are cleared all the same.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.clear_own();
        let (map, mut cleared) = (&self.map, Ok(()));
        self.filled.retain(|slot| match map.delete(&slot.to_ne_bytes()) {
            Ok(_) => false,
            Err(error) => {
                if cleared.is_ok() {
                    cleared = Err(error);
                }
                true
            }
        });
        cleared
    }

    /// Clears the slots that still hold an event that was put in through this value, or no slot
    /// without an own file.
    pub(crate) fn clear_own(&mut self) {
        // Closes the file. The kernel also clears the slots of a frozen map.
        if self.own.take().is_some() {
            self.filled.clear();
        }
    }

    /// Returns the slots that were filled through this value and not cleared through it. Another
    /// reader may have replaced or removed their events since, which the kernel does not report.
    pub fn filled(&self) -> CpuList {
        self.filled.iter().copied().collect()
    }

    /// Returns whether the slots were filled through a file of the map that only this value has, so
    /// that dropping it clears exactly those that still hold its events. `false` before the first
    /// [`insert`](Self::insert), without `CAP_SYS_ADMIN`, and for a map that preserves its
    /// elements.
    pub const fn has_own_file(&self) -> bool {
        self.own.is_some()
    }

    /// Returns the number of slots. Slots are numbered from 0.
    #[doc(alias = "max_entries")]
    pub fn slots(&self) -> u32 {
        self.map.max_entries()
    }

    /// Returns the map.
    pub const fn map(&self) -> &MapFd {
        &self.map
    }

    pub(crate) fn check(&self, slot: u32) -> Result<(), Error> {
        if slot < self.slots() {
            return Ok(());
        }
        Err(Error::Slot { map: self.map.name(), slots: self.slots(), found: slot })
    }
}

/// The descriptor of the map, for programs that use it.
impl AsFd for EventArray {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

/// Opens a file of the map that nobody else has, or returns `None` if that is not permitted or if
/// closing it would clear no slot.
fn own_file(map: &MapFd) -> Result<Option<MapFd>, Error> {
    let info = map.info()?;
    if info.flags.contains(BpfMapFlags::PRESERVE_ELEMS) {
        return Ok(None);
    }
    match MapFd::open_id(info.id) {
        // A security module has EACCES; EINVAL is a kernel without ids, before Linux 4.13.
        Err(error) if matches!(error.errno(), Some(Errno::EPERM | Errno::EACCES | Errno::EINVAL)) => Ok(None),
        opened => opened,
    }
}
