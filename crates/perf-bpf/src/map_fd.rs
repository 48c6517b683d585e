//! Descriptors of maps, and the sizes of their elements.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use perf_ring::abi::bpf::{BpfMapCreate, BpfMapInfo, BpfMapType};
use perf_session::{CpuList, System};

use crate::error::{Error, Refused};
use crate::map_spec::MapSpec;
use crate::object::{ObjectKind, ObjectName};
use crate::syscall::MapFd;
use crate::syscall::{most_cpus, possible_cpus};

impl MapFd {
    /// Creates a map. Since Linux 3.18.
    ///
    /// # Errors
    ///
    /// [`Error::NoEntries`] if `max_entries` is 0 for a type that needs elements,
    /// [`Error::PossibleCpus`] for a per-CPU map if the list of CPUs is not the kernel's, and
    /// [`Error::Create`]: `EPERM` without `CAP_BPF` (before Linux 5.8 `CAP_SYS_ADMIN`), `EINVAL` if the
    /// kernel does not accept the type, a flag or a size.
    #[doc(alias = "BPF_MAP_CREATE")]
    pub fn create(spec: &MapSpec<'_>) -> Result<Self, Error> {
        let (map, map_type) = (spec.name(), spec.map_type());
        if spec.max_entries() == 0 && needs_entries(map_type) {
            return Err(Error::NoEntries { map, map_type });
        }
        Self::create_from(&spec.attr())
    }

    /// Takes the descriptor of a map of another library, after checking that it is a map. Since
    /// Linux 4.13.
    ///
    /// # Errors
    ///
    /// The descriptor, with [`Error::Kind`] if it is not a map, and with [`Error::PossibleCpus`]
    /// for a per-CPU map if the list of CPUs differs from the kernel's.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Refused<OwnedFd>> {
        let fd = fd.into();
        match ObjectKind::Map.check(&fd) {
            Ok(()) => Self::with_info(fd),
            Err(error) => Err(Refused { error, value: fd }),
        }
    }

    /// Duplicates the descriptor.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let fd = self.as_fd().try_clone_to_owned().map_err(|error| Error::descriptor(&error))?;
        Ok(Self::with_info(fd)?)
    }

    /// Returns the map type.
    pub fn map_type(&self) -> BpfMapType {
        self.layout().map_type
    }

    /// Returns the name.
    pub fn name(&self) -> ObjectName {
        self.layout().name
    }

    /// Returns the length of a key in bytes; 0 for maps without keys, such as queues.
    pub fn key_size(&self) -> usize {
        self.layout().key_size as usize
    }

    /// Returns the length of one value in bytes.
    pub fn value_size(&self) -> usize {
        self.layout().value_size as usize
    }

    /// Returns the length in bytes of an element as lookups and updates have it: the length of the
    /// value, or in per-CPU maps the sum of one value for each *possible* CPU, each padded to 8
    /// bytes.
    ///
    /// The number of these CPUs is compared with the kernel's: when the map is opened, by a map
    /// that is created for it once a process, or with each element where the process may not create
    /// one. If `/sys/devices/system/cpu/possible` has another, the error is
    /// [`Error::PossibleCpus`].
    pub fn element_size(&self) -> Result<usize, Error> {
        self.layout().element_size()
    }

    /// Returns `true` if an element has a value for each possible CPU.
    pub fn is_per_cpu(&self) -> bool {
        self.layout().is_per_cpu()
    }

    /// Returns the maximum number of elements; for a ring buffer its size in bytes.
    pub fn max_entries(&self) -> u32 {
        self.layout().max_entries
    }
}

/// Returns whether the kernel refuses a map of this type without elements. Storage that belongs to
/// other objects must have a capacity of 0.
fn needs_entries(map_type: BpfMapType) -> bool {
    let is_storage = matches!(
        map_type,
        BpfMapType::CGROUP_STORAGE
            | BpfMapType::PERCPU_CGROUP_STORAGE
            | BpfMapType::SK_STORAGE
            | BpfMapType::INODE_STORAGE
            | BpfMapType::TASK_STORAGE
            | BpfMapType::CGRP_STORAGE
    );
    map_type.name().is_some() && !is_storage
}

/// The sizes of a map, as the kernel reports them.
#[derive(Clone, Debug)]
pub(crate) struct MapLayout {
    pub(crate) map_type: BpfMapType,
    pub(crate) name: ObjectName,
    /// Length of a key in bytes.
    pub(crate) key_size: u32,
    /// Length of one value in bytes.
    pub(crate) value_size: u32,
    pub(crate) max_entries: u32,
    /// The possible CPUs of the running system, for per-CPU maps. They do not change until the next
    /// boot.
    pub(crate) cpus: Option<Arc<CpuList>>,
    /// `None` if `element_size` is exact. Otherwise an upper limit in bytes, because only a file
    /// has the number of CPUs.
    largest_element: Option<usize>,
    /// Length in bytes of the buffer for all values of an element; `None` for a type that is
    /// unknown here.
    element_size: Option<usize>,
}

/// The last type whose elements are known.
const LAST_KNOWN: BpfMapType = BpfMapType::INSN_ARRAY;

/// Returns whether an element of a map of this type has a value for each possible CPU.
pub(crate) fn is_per_cpu(map_type: BpfMapType) -> bool {
    matches!(
        map_type,
        BpfMapType::PERCPU_HASH
            | BpfMapType::PERCPU_ARRAY
            | BpfMapType::LRU_PERCPU_HASH
            | BpfMapType::PERCPU_CGROUP_STORAGE
    )
}

/// Returns the length of a per-CPU value in bytes, as the kernel pads it.
pub(crate) fn padded(value_size: usize) -> usize {
    // The kernel refuses sizes near the limit; on 32-bit machines the product would overflow
    // before.
    value_size.checked_next_multiple_of(8).unwrap_or(usize::MAX)
}

impl MapLayout {
    /// Returns the layout of a new map.
    pub(crate) fn of_attr(attr: &BpfMapCreate) -> Result<Self, Error> {
        let name = ObjectName::from_raw(attr.map_name);
        Self::new(attr.map_type, name, attr.key_size, attr.value_size, attr.max_entries)
    }

    /// Returns the layout of an existing map.
    pub(crate) fn of_info(info: &BpfMapInfo) -> Result<Self, Error> {
        let name = ObjectName::from_raw(info.name);
        Self::new(info.kind, name, info.key_size, info.value_size, info.max_entries)
    }

    /// `bpf_map_value_size()` in the kernel's `kernel/bpf/syscall.c` is the rule for
    /// `element_size`.
    fn new(
        map_type: BpfMapType,
        name: ObjectName,
        key_size: u32,
        value_size: u32,
        max_entries: u32,
    ) -> Result<Self, Error> {
        let size = value_size as usize;
        let (mut cpus, mut largest_element) = (None, None);
        let mut element_size = (map_type <= LAST_KNOWN).then_some(size);
        if is_per_cpu(map_type) {
            let listed = CpuList::possible(&System::new())?;
            element_size = padded(size).checked_mul(listed.len());
            // A container or a mount may show another list. The kernel takes no length: it would
            // write past the end of a buffer for fewer CPUs.
            match possible_cpus() {
                Some(values) if values == listed.len() => {}
                Some(values) => return Err(Error::PossibleCpus { listed, values }),
                None => {
                    let most = most_cpus().map_err(|errno| Error::CpuCount { errno })?;
                    largest_element = padded(size).checked_mul(most.max(listed.len()));
                    element_size = largest_element.and(element_size);
                }
            }
            cpus = Some(Arc::new(listed));
        }
        Ok(Self { map_type, name, key_size, value_size, max_entries, cpus, largest_element, element_size })
    }

    /// Returns whether an element has a value for each possible CPU.
    pub(crate) fn is_per_cpu(&self) -> bool {
        self.cpus.is_some()
    }

    /// Returns the length in bytes of the buffer for an element.
    pub(crate) fn element_size(&self) -> Result<usize, Error> {
        self.element_size.ok_or(Error::UnknownMapType { map: self.name, found: self.map_type })
    }

    /// Returns `None` if [`element_size`](Self::element_size) is the kernel's, or else a length
    /// that the kernel's does not exceed.
    pub(crate) fn largest_element(&self) -> Option<usize> {
        self.largest_element
    }

    /// Compares the length of an element in bytes that the kernel wrote with
    /// [`element_size`](Self::element_size).
    pub(crate) fn check_written(&self, written: usize) -> Result<(), Error> {
        if Some(written) == self.element_size {
            return Ok(());
        }
        let listed = self.cpus.as_deref().cloned().unwrap_or_default();
        Err(Error::PossibleCpus { listed, values: written / padded(self.value_size as usize).max(1) })
    }

    pub(crate) fn check_key(&self, found: usize) -> Result<(), Error> {
        self.check("key", self.key_size as usize, found)
    }

    pub(crate) fn check_value(&self, found: usize) -> Result<(), Error> {
        self.check("value", self.value_size as usize, found)
    }

    pub(crate) fn check_element(&self, found: usize) -> Result<(), Error> {
        self.check("element", self.element_size()?, found)
    }

    /// Checks the buffers of a batch: `values` is `None` if the command takes no values.
    pub(crate) fn check_batch(&self, count: usize, keys: usize, values: Option<usize>) -> Result<(), Error> {
        let count = u32::try_from(count).map_or(usize::MAX, |count| count as usize);
        self.check("batch of keys", count.saturating_mul(self.key_size as usize), keys)?;
        match values {
            Some(found) => self.check("batch of elements", count.saturating_mul(self.element_size()?), found),
            None => Ok(()),
        }
    }

    /// Returns the length in bytes of a position between two batches: hashes store the number of a
    /// bucket, other maps a key.
    pub(crate) fn position_size(&self) -> usize {
        (self.key_size as usize).max(8)
    }

    pub(crate) fn check_position(&self, found: usize) -> Result<(), Error> {
        self.check("batch position", self.position_size(), found)
    }

    fn check(&self, part: &'static str, expected: usize, found: usize) -> Result<(), Error> {
        if expected == found {
            return Ok(());
        }
        Err(self.size_error(part, expected, found))
    }

    pub(crate) fn size_error(&self, part: &'static str, expected: usize, found: usize) -> Error {
        Error::Size { map: self.name, part, expected, found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel writes the number of a bucket, 4 bytes, also for shorter keys.
    #[test]
    fn a_batch_position_has_space_for_the_number_of_a_bucket() {
        for (key_size, expected) in [(1, 8), (2, 8), (3, 8), (4, 8), (8, 8), (9, 9), (40, 40)] {
            let layout = MapLayout::new(BpfMapType::HASH, ObjectName::EMPTY, key_size, 8, 1).unwrap();
            assert_eq!(layout.position_size(), expected);
            assert!(layout.check_position(expected).is_ok());
            assert!(layout.check_position(key_size as usize).is_ok() == (key_size >= 8));
        }
    }
}
