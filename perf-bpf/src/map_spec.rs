use std::os::fd::BorrowedFd;

use perf_sys::abi::bpf::{BpfMapCreate, BpfMapFlags, BpfMapType};

use crate::syscall::number;
use crate::{Error, ObjectName};

/// The properties of a map to create.
///
/// ```
/// use perf_bpf::{BpfMapFlags, BpfMapType, MapSpec};
///
/// let spec = MapSpec::new(BpfMapType::HASH, 1024)
///     .with_name("counts".parse()?)
///     .with_sizes(4, 8)
///     .with_flags(BpfMapFlags::NO_PREALLOC);
/// assert_eq!((spec.key_size(), spec.max_entries()), (4, 1024));
/// # Ok::<(), perf_bpf::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MapSpec<'fd> {
    attr: BpfMapCreate,
    inner: Option<BorrowedFd<'fd>>,
}

impl<'fd> MapSpec<'fd> {
    /// Returns a map of a type with at most this number of elements; for a ring buffer, its size in
    /// bytes.
    pub fn new(map_type: BpfMapType, max_entries: u32) -> Self {
        Self { attr: BpfMapCreate { map_type, max_entries, ..BpfMapCreate::default() }, inner: None }
    }

    /// Sets the type.
    #[must_use]
    pub fn with_type(mut self, map_type: BpfMapType) -> Self {
        self.attr.map_type = map_type;
        self
    }

    /// Sets the maximum number of elements.
    #[must_use]
    pub fn with_max_entries(mut self, max_entries: u32) -> Self {
        self.attr.max_entries = max_entries;
        self
    }

    /// Sets the lengths of a key and of a value in bytes. [`Map`](crate::Map) sets them by its
    /// types.
    #[must_use]
    pub fn with_sizes(mut self, key_size: u32, value_size: u32) -> Self {
        (self.attr.key_size, self.attr.value_size) = (key_size, value_size);
        self
    }

    /// Sets the name. Since Linux 4.15.
    #[must_use]
    pub fn with_name(mut self, name: ObjectName) -> Self {
        self.attr.map_name = name.to_raw();
        self
    }

    /// Adds these flags and keeps all others. Since Linux 4.6.
    #[must_use]
    pub fn with_flags(mut self, flags: BpfMapFlags) -> Self {
        self.attr.map_flags |= flags;
        self
    }

    /// Sets the NUMA node to allocate from. Since Linux 4.14.
    #[must_use]
    pub fn with_numa_node(mut self, node: u32) -> Self {
        self.attr.numa_node = node;
        self.attr.map_flags |= BpfMapFlags::NUMA_NODE;
        self
    }

    /// Sets the template for the inner maps of a map of maps. Since Linux 4.12.
    #[doc(alias = "inner_map_fd")]
    #[must_use]
    pub fn with_inner(mut self, inner: BorrowedFd<'fd>) -> Self {
        self.inner = Some(inner);
        self
    }

    /// Sets the parameter whose meaning depends on the type. Since Linux 5.16.
    #[doc(alias = "map_extra")]
    #[must_use]
    pub fn with_extra(mut self, extra: u64) -> Self {
        self.attr.map_extra = extra;
        self
    }

    /// Returns the type.
    pub fn map_type(&self) -> BpfMapType {
        self.attr.map_type
    }

    /// Returns the length of a key in bytes.
    pub fn key_size(&self) -> u32 {
        self.attr.key_size
    }

    /// Returns the length of a value in bytes.
    pub fn value_size(&self) -> u32 {
        self.attr.value_size
    }

    /// Returns the maximum number of elements.
    pub fn max_entries(&self) -> u32 {
        self.attr.max_entries
    }

    /// Returns the flags.
    pub fn flags(&self) -> BpfMapFlags {
        self.attr.map_flags
    }

    /// Returns the parameter whose meaning depends on the type.
    pub fn extra(&self) -> u64 {
        self.attr.map_extra
    }

    /// Returns the name.
    pub fn name(&self) -> ObjectName {
        ObjectName::from_raw(self.attr.map_name)
    }

    /// Returns the argument of the command.
    pub(crate) fn attr(&self) -> BpfMapCreate {
        let inner_map_fd = self.inner.map_or(0, number);
        BpfMapCreate { inner_map_fd, ..self.attr }
    }

    /// Sets the lengths to those of two types.
    pub(crate) fn with_type_sizes(self, key: usize, value: usize) -> Result<Self, Error> {
        let size = |part, found| {
            u32::try_from(found).map_err(|_| Error::Size {
                map: self.name(),
                part,
                expected: u32::MAX as usize,
                found,
            })
        };
        Ok(self.with_sizes(size("key", key)?, size("value", value)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_add_in_any_order() {
        let spec = || MapSpec::new(BpfMapType::HASH, 1);
        let all = BpfMapFlags::NO_PREALLOC | BpfMapFlags::NUMA_NODE;
        assert_eq!(spec().with_numa_node(1).with_flags(BpfMapFlags::NO_PREALLOC).flags(), all);
        assert_eq!(spec().with_flags(BpfMapFlags::NO_PREALLOC).with_numa_node(1).flags(), all);
    }
}
