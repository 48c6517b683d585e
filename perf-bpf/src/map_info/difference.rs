use core::fmt;

use perf_session::{CpuList, System};
use perf_sys::abi::bpf::{BpfMapFlags, BpfMapType};

use super::MapInfo;
use crate::{Error, MapSpec};

/// A property of a map in which it differs from a [`MapSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The extra parameter.
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
    /// The possible CPUs cannot be read, to whose number the kernel rounds the capacity of an LRU
    /// hash with [`NO_COMMON_LRU`](BpfMapFlags::NO_COMMON_LRU).
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
        let cpus = CpuList::possible(&System::new())?.len() as u64;
        Ok(max_entries.next_multiple_of(cpus.max(1)))
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
    use crate::ObjectName;

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
