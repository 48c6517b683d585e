use std::os::fd::{AsFd, OwnedFd};

use perf_sys::abi::bpf::BpfMapType;

use crate::{Error, MapFd, MapSpec, ObjectKind, ObjectName, Refused};

impl MapFd {
    /// Creates a map. Since Linux 3.18.
    ///
    /// # Errors
    ///
    /// [`Error::NoEntries`] if `max_entries` is 0 for a type that needs elements, and
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

    /// Takes the descriptor of a map of another library, after a check that it is one. Since Linux
    /// 4.13.
    ///
    /// # Errors
    ///
    /// The descriptor, with [`Error::Kind`] if it is not that of a map.
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
    /// value, or in per-CPU maps the sum of one value for each *possible* CPU, each padded to 8 bytes.
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
