//! Arguments of the commands on maps.

use super::{BpfElemFlags, BpfMapFlags, BpfMapType};
#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Argument of [`BpfCmd::MAP_CREATE`](super::BpfCmd::MAP_CREATE). Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfMapCreate {
    /// Map type.
    pub map_type: BpfMapType,
    /// Length of a key, in bytes.
    pub key_size: u32,
    /// Length of a value, in bytes.
    pub value_size: u32,
    /// Maximum number of elements; for a ring its size, in bytes.
    pub max_entries: u32,
    /// Properties of the map. Since Linux 4.6.
    pub map_flags: BpfMapFlags,
    /// Template for the inner maps. Since Linux 4.12.
    pub inner_map_fd: u32,
    /// NUMA node to allocate from. Since Linux 4.14.
    pub numa_node: u32,
    /// Name, NUL-terminated. Since Linux 4.15.
    pub map_name: [u8; 16],
    /// Network device for offload. Since Linux 4.16.
    pub map_ifindex: u32,
    /// Descriptor of the BTF. Since Linux 4.18.
    pub btf_fd: u32,
    /// BTF type of keys. Since Linux 4.18.
    pub btf_key_type_id: u32,
    /// BTF type of values. Since Linux 4.18.
    pub btf_value_type_id: u32,
    /// Type of values in the kernel's BTF. Since Linux 5.6.
    pub btf_vmlinux_value_type_id: u32,
    /// Extra parameter; its meaning depends on the map type. Since Linux 5.16.
    pub map_extra: u64,
    /// Descriptor of the module BTF with the type of values. Since Linux 6.9.
    pub value_type_btf_obj_fd: i32,
    /// BPF token, which delegates permissions. Since Linux 6.9.
    pub map_token_fd: i32,
    /// Pointer to the hash of the only program that can use the map. Since Linux 6.18.
    pub excl_prog_hash: u64,
    /// Length of that hash, in bytes. Since Linux 6.18.
    pub excl_prog_hash_size: u32,
    /// Must be 0.
    pub reserved: u32,
}

layout!(BpfMapCreate, 96 {
    map_type: 0, key_size: 4, value_size: 8, max_entries: 12, map_flags: 16, inner_map_fd: 20,
    numa_node: 24, map_name: 28, map_ifindex: 44, btf_fd: 48, btf_key_type_id: 52,
    btf_value_type_id: 56, btf_vmlinux_value_type_id: 60, map_extra: 64, value_type_btf_obj_fd: 72,
    map_token_fd: 76, excl_prog_hash: 80, excl_prog_hash_size: 88, reserved: 92,
});

/// Argument of the commands on one element. Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfMapElem {
    /// The map.
    pub map_fd: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Pointer to the key.
    pub key: u64,
    /// Pointer to the value; for per-CPU maps, to one value for each *possible* CPU, padded to 8
    /// bytes.
    pub value: u64,
    /// Mode of the update or lookup.
    pub flags: BpfElemFlags,
}

layout!(BpfMapElem, 32 { map_fd: 0, reserved: 4, key: 8, value: 16, flags: 24 });

/// Argument of [`BpfCmd::MAP_GET_NEXT_KEY`](super::BpfCmd::MAP_GET_NEXT_KEY). Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfMapNextKey {
    /// The map.
    pub map_fd: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Pointer to a key; 0 for the first. Since Linux 4.12.
    pub key: u64,
    /// Pointer to the buffer for the next key.
    pub next_key: u64,
}

layout!(BpfMapNextKey, 24 { map_fd: 0, reserved: 4, key: 8, next_key: 16 });

/// Argument of the commands on many elements. Since Linux 5.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfMapBatch {
    /// Pointer to the end position of the preceding batch; 0 starts.
    pub in_batch: u64,
    /// Pointer to the buffer for the end position of this batch.
    pub out_batch: u64,
    /// Pointer to the keys.
    pub keys: u64,
    /// Pointer to the values.
    pub values: u64,
    /// Capacity in elements; the kernel writes the number that it processed.
    pub count: u32,
    /// The map.
    pub map_fd: u32,
    /// Mode of the update or lookup.
    pub elem_flags: BpfElemFlags,
    /// Must be 0.
    pub flags: u64,
}

layout!(BpfMapBatch, 56 {
    in_batch: 0, out_batch: 8, keys: 16, values: 24, count: 32, map_fd: 36, elem_flags: 40,
    flags: 48,
});
