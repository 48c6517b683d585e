use std::collections::BTreeSet;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use perf_events::{CpuList, System};
use perf_sys::Event;
use perf_sys::abi::bpf::{BpfElemFlags, BpfMapType};

use crate::{Error, MapFd, MapSpec, ObjectName};

/// A perf event array: a map whose slots hold perf events, by convention that of CPU n in slot n.
///
/// Programs read the counters in the slots by `bpf_perf_event_read_value`, or write records into the rings
/// of bpf-output events by `bpf_perf_event_output`; [`PerfBuffer`](crate::PerfBuffer) reads those. An event
/// with any attr may be in a slot, except inherited ones.
///
/// A slot keeps its event alive. Dropping the array clears the slots that it has filled, because the
/// kernel does so only when the last descriptor is closed, which a loader may have. Since Linux 4.3.
#[doc(alias = "BPF_MAP_TYPE_PERF_EVENT_ARRAY")]
#[derive(Debug)]
pub struct EventArray {
    map: MapFd,
    filled: BTreeSet<u32>,
}

impl EventArray {
    /// Creates an array with a slot for each possible CPU.
    ///
    /// # Errors
    ///
    /// Those of [`MapFd::create`].
    pub fn create(name: ObjectName) -> Result<Self, Error> {
        let slots = CpuList::possible(&System::new())?.iter().last().map_or(1, |last| last.saturating_add(1));
        let spec = MapSpec::new(BpfMapType::PERF_EVENT_ARRAY, slots).with_sizes(4, 4).with_name(name);
        Ok(Self { map: MapFd::create(&spec)?, filled: BTreeSet::new() })
    }

    /// Takes the descriptor of an array of another library.
    ///
    /// # Errors
    ///
    /// [`Error::MapType`] for a map of another type, and those of [`MapFd::from_fd`].
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Error> {
        let map = MapFd::from_fd(fd)?;
        let (expected, found) = (BpfMapType::PERF_EVENT_ARRAY, map.map_type());
        if found != expected {
            return Err(Error::MapType { map: map.name(), expected, found });
        }
        Ok(Self { map, filled: BTreeSet::new() })
    }

    /// `bpf(BPF_MAP_UPDATE_ELEM)`—Puts an event into a slot. It replaces the event in the slot.
    ///
    /// # Errors
    ///
    /// [`Error::Slot`] if there is no such slot; `EOPNOTSUPP` for an inherited event.
    pub fn insert(&mut self, slot: u32, event: &Event) -> Result<(), Error> {
        self.check(slot)?;
        let fd = event.as_fd().as_raw_fd();
        self.map.update(&slot.to_ne_bytes(), &fd.to_ne_bytes(), BpfElemFlags::empty())?;
        self.filled.insert(slot);
        Ok(())
    }

    /// `bpf(BPF_MAP_DELETE_ELEM)`—Clears a slot, and returns `false` if it was empty.
    ///
    /// # Errors
    ///
    /// [`Error::Slot`] if there is no such slot.
    pub fn remove(&mut self, slot: u32) -> Result<bool, Error> {
        self.check(slot)?;
        self.filled.remove(&slot);
        self.map.delete(&slot.to_ne_bytes())
    }

    /// Clears all slots that were filled through this value.
    ///
    /// # Errors
    ///
    /// The first error. The other slots are cleared all the same.
    pub fn clear(&mut self) -> Result<(), Error> {
        let filled = std::mem::take(&mut self.filled);
        filled.iter().map(|slot| self.map.delete(&slot.to_ne_bytes()).map(drop)).fold(Ok(()), Result::and)
    }

    /// Returns the slots that were filled through this value.
    pub fn filled(&self) -> CpuList {
        self.filled.iter().copied().collect()
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

    fn check(&self, slot: u32) -> Result<(), Error> {
        if slot < self.slots() {
            return Ok(());
        }
        Err(Error::Slot { map: self.map.name(), slots: self.slots(), found: slot })
    }
}

impl Drop for EventArray {
    fn drop(&mut self) {
        let cleared = self.clear();
        debug_assert!(cleared.is_ok(), "{cleared:?}");
    }
}

/// The descriptor of the map, for programs that use it.
impl AsFd for EventArray {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}
