use perf_sys::abi::bpf::{BpfCmd, BpfMapFlags, BpfMapInfo, BpfMapType};
use std::os::fd::AsFd;

use crate::syscall::info;
use crate::{Error, MapFd, ObjectName};

mod difference;
mod process;

pub use difference::{Difference, MapProperty};
pub use process::ProcessMapInfo;

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
