//! The properties of a map to create, and their differences from an existing map.

use core::fmt;
use std::os::fd::{AsFd, BorrowedFd};

use perf_ring::abi::bpf::{BpfCmd, BpfMapCreate, BpfMapFlags, BpfMapInfo, BpfMapType};
use perf_session::{CpuList, System};

use crate::error::Error;
use crate::object::ObjectName;
use crate::syscall::MapFd;
use crate::syscall::{info, number, possible_cpus};

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
#[must_use = "a spec does nothing until a map is created with it"]
#[derive(Clone, Copy, Debug)]
pub struct MapSpec<'fd> {
    attr: BpfMapCreate,
    inner: Option<BorrowedFd<'fd>>,
}

impl<'fd> MapSpec<'fd> {
    /// Returns a map of a type with at most this number of elements; for a ring buffer, its size in
    /// bytes.
    pub fn new(map_type: BpfMapType, max_entries: u32) -> Self {
        let mut attr = BpfMapCreate::new();
        attr.map_type = map_type;
        attr.max_entries = max_entries;
        Self { attr, inner: None }
    }

    /// Sets the type.
    pub fn with_type(mut self, map_type: BpfMapType) -> Self {
        self.attr.map_type = map_type;
        self
    }

    /// Sets the maximum number of elements.
    pub fn with_max_entries(mut self, max_entries: u32) -> Self {
        self.attr.max_entries = max_entries;
        self
    }

    /// Sets the lengths of a key and of a value in bytes. [`Map`](crate::Map) sets them by its
    /// types.
    pub fn with_sizes(mut self, key_size: u32, value_size: u32) -> Self {
        (self.attr.key_size, self.attr.value_size) = (key_size, value_size);
        self
    }

    /// Sets the name. Since Linux 4.15.
    pub fn with_name(mut self, name: ObjectName) -> Self {
        self.attr.map_name = name.to_raw();
        self
    }

    /// Adds these flags and keeps all others. Since Linux 4.6.
    pub fn with_flags(mut self, flags: BpfMapFlags) -> Self {
        self.attr.map_flags |= flags;
        self
    }

    /// Sets the NUMA node to allocate from. Since Linux 4.14.
    pub fn with_numa_node(mut self, node: u32) -> Self {
        self.attr.numa_node = node;
        self.attr.map_flags |= BpfMapFlags::NUMA_NODE;
        self
    }

    /// Sets the template for the inner maps of a map of maps. Since Linux 4.12.
    #[doc(alias = "inner_map_fd")]
    pub fn with_inner(mut self, inner: &'fd impl AsFd) -> Self {
        self.inner = Some(inner.as_fd());
        self
    }

    /// Sets the parameter whose meaning depends on the type. Since Linux 5.16.
    #[doc(alias = "map_extra")]
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
        let mut attr = self.attr;
        attr.inner_map_fd = inner_map_fd;
        attr
    }

    /// Sets the lengths to the sizes of a key and a value type.
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

/// The properties of a map, from [`MapFd::info`].
#[doc(alias = "bpf_map_info")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapInfo {
    /// Id, unique among the maps of the system until it is deleted.
    pub id: u32,
    /// Map type.
    pub map_type: BpfMapType,
    /// Name. Since Linux 4.15.
    pub name: ObjectName,
    /// Length of a key in bytes.
    pub key_size: u32,
    /// Length of one value in bytes.
    pub value_size: u32,
    /// Maximum number of elements.
    pub max_entries: u32,
    /// Flags. Access restrictions of descriptors are not among them.
    pub flags: BpfMapFlags,
    /// Extra parameter, whose meaning depends on the type. Since Linux 5.16.
    pub extra: u64,
    /// Id of the BTF that describes keys and values; 0 without. Since Linux 4.18.
    pub btf_id: u32,
    /// Network device that the map is offloaded to; 0 without. Since Linux 4.16.
    pub ifindex: u32,
}

impl MapFd {
    /// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns the properties of the map. Since Linux 4.13.
    #[doc(alias = "BPF_OBJ_GET_INFO_BY_FD")]
    pub fn info(&self) -> Result<MapInfo, Error> {
        let raw: BpfMapInfo =
            info(self.as_fd()).map_err(Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, self.name()))?;
        Ok(MapInfo {
            id: raw.id,
            map_type: raw.kind,
            name: ObjectName::from_raw(raw.name),
            key_size: raw.key_size,
            value_size: raw.value_size,
            max_entries: raw.max_entries,
            flags: raw.map_flags,
            extra: raw.map_extra,
            btf_id: raw.btf_id,
            ifindex: raw.ifindex,
        })
    }
}

/// A property of a map in which it differs from a [`MapSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The property whose values differ.
    pub property: MapProperty,
    /// Its value in the spec.
    pub expected: u64,
    /// Its value in the map.
    pub found: u64,
}

/// A property of maps that [`MapSpec::differences`] compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MapProperty {
    /// The type, a [`BpfMapType`].
    Type,
    /// The length of a key in bytes.
    KeySize,
    /// The length of a value in bytes.
    ValueSize,
    /// The maximum number of elements.
    MaxEntries,
    /// The flags, [`BpfMapFlags`].
    Flags,
    /// The parameter `map_extra`, whose meaning depends on the map type.
    Extra,
}

impl MapProperty {
    /// Returns the name of the kernel's field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "map_type",
            Self::KeySize => "key_size",
            Self::ValueSize => "value_size",
            Self::MaxEntries => "max_entries",
            Self::Flags => "map_flags",
            Self::Extra => "map_extra",
        }
    }
}

impl MapSpec<'_> {
    /// Returns the properties in which a map differs from this spec. The name is not compared.
    ///
    /// # Errors
    ///
    /// The possible CPUs cannot be counted, to whose number the kernel rounds the capacity of an
    /// LRU hash with [`NO_COMMON_LRU`](BpfMapFlags::NO_COMMON_LRU).
    pub fn differences(&self, found: &MapInfo) -> Result<Vec<Difference>, Error> {
        // The kernel does not keep flags of the descriptor.
        let mut kept =
            self.flags() - (BpfMapFlags::READ_ONLY | BpfMapFlags::WRITE_ONLY | BpfMapFlags::TOKEN_FD);
        // It adds one to maps of devices, since Linux 5.1.
        if matches!(self.map_type(), BpfMapType::DEVMAP | BpfMapType::DEVMAP_HASH)
            && found.map_type == self.map_type()
        {
            kept |= found.flags & BpfMapFlags::PROG_READ_ONLY;
        }
        let pairs = [
            (MapProperty::Type, self.map_type().0.into(), found.map_type.0.into()),
            (MapProperty::KeySize, self.key_size().into(), found.key_size.into()),
            (MapProperty::ValueSize, self.value_size().into(), found.value_size.into()),
            (MapProperty::MaxEntries, self.kept_capacity()?, found.max_entries.into()),
            (MapProperty::Flags, kept.bits().into(), found.flags.bits().into()),
            (MapProperty::Extra, self.extra(), found.extra),
        ];
        let differing = pairs.into_iter().filter(|(_, expected, found)| expected != found);
        Ok(differing.map(|(property, expected, found)| Difference { property, expected, found }).collect())
    }

    /// Returns the capacity that the kernel makes of `max_entries`.
    fn kept_capacity(&self) -> Result<u64, Error> {
        let max_entries = u64::from(self.max_entries());
        if !self.flags().contains(BpfMapFlags::NO_COMMON_LRU) {
            return Ok(max_entries);
        }
        // A map that seems to differ may be replaced, so the file is the second choice.
        let cpus = match possible_cpus() {
            Some(cpus) => cpus,
            None => CpuList::possible(&System::new())?.len(),
        };
        Ok(max_entries.next_multiple_of(cpus.max(1) as u64))
    }
}

/// `max_entries: expected 64, found 32`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { property, expected, found } = *self;
        write!(f, "{}: expected ", property.name())?;
        match property {
            MapProperty::Type => {
                write!(f, "{}, found {}", BpfMapType(expected as u32), BpfMapType(found as u32))
            }
            MapProperty::Flags => {
                let flags = |bits: u64| BpfMapFlags::from_bits_retain(bits as u32);
                write!(f, "{}, found {}", flags(expected), flags(found))
            }
            _ => write!(f, "{expected}, found {found}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectName;

    #[test]
    fn flags_add_in_any_order() {
        let spec = || MapSpec::new(BpfMapType::HASH, 1);
        let all = BpfMapFlags::NO_PREALLOC | BpfMapFlags::NUMA_NODE;
        assert_eq!(spec().with_numa_node(1).with_flags(BpfMapFlags::NO_PREALLOC).flags(), all);
        assert_eq!(spec().with_flags(BpfMapFlags::NO_PREALLOC).with_numa_node(1).flags(), all);
    }

    const FOUND: MapInfo = MapInfo {
        id: 1,
        map_type: BpfMapType::HASH,
        name: ObjectName::EMPTY,
        key_size: 4,
        value_size: 8,
        max_entries: 64,
        flags: BpfMapFlags::NO_PREALLOC,
        extra: 0,
        btf_id: 0,
        ifindex: 0,
    };

    #[test]
    fn a_map_of_the_same_properties_has_no_difference() {
        let flags = BpfMapFlags::NO_PREALLOC | BpfMapFlags::READ_ONLY;
        let spec = MapSpec::new(BpfMapType::HASH, 64).with_sizes(4, 8).with_flags(flags);
        assert_eq!(spec.differences(&FOUND).unwrap(), []);
    }

    #[test]
    fn each_differing_property_is_printed() {
        let spec = MapSpec::new(BpfMapType::LRU_HASH, 32).with_sizes(8, 8).with_extra(1);
        let texts: Vec<_> = spec.differences(&FOUND).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "map_type: expected LRU_HASH, found HASH",
                "key_size: expected 8, found 4",
                "max_entries: expected 32, found 64",
                "map_flags: expected 0x0, found NO_PREALLOC",
                "map_extra: expected 1, found 0",
            ]
        );
    }
}
