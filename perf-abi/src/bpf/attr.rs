//! Arguments of the commands.

use super::{BpfAttachType, BpfElemFlags, BpfMapFlags, BpfMapType, BpfProgType, BpfTaskFdType};
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Argument of [`BpfCmd::MAP_CREATE`](super::BpfCmd::MAP_CREATE). Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
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

layout!(new BpfMapCreate, 96 {
    map_type: 0, key_size: 4, value_size: 8, max_entries: 12, map_flags: 16, inner_map_fd: 20,
    numa_node: 24, map_name: 28, map_ifindex: 44, btf_fd: 48, btf_key_type_id: 52,
    btf_value_type_id: 56, btf_vmlinux_value_type_id: 60, map_extra: 64, value_type_btf_obj_fd: 72,
    map_token_fd: 76, excl_prog_hash: 80, excl_prog_hash_size: 88, reserved: 92,
});

/// Argument of the commands on one element. Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
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

layout!(new BpfMapElem, 32 { map_fd: 0, reserved: 4, key: 8, value: 16, flags: 24 });

/// Argument of [`BpfCmd::MAP_GET_NEXT_KEY`](super::BpfCmd::MAP_GET_NEXT_KEY). Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
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

layout!(new BpfMapNextKey, 24 { map_fd: 0, reserved: 4, key: 8, next_key: 16 });

/// Argument of the commands on many elements. Since Linux 5.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
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

layout!(new BpfMapBatch, 56 {
    in_batch: 0, out_batch: 8, keys: 16, values: 24, count: 32, map_fd: 36, elem_flags: 40,
    flags: 48,
});

/// `struct bpf_insn`—one instruction of a BPF program. Since Linux 3.18.
#[doc(alias = "bpf_insn")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfInsn {
    /// Operation.
    pub code: u8,
    /// Destination and source register, four bits each, in the order of C bit fields.
    #[doc(alias = "dst_reg")]
    pub regs: u8,
    /// Offset.
    pub off: i16,
    /// Immediate operand.
    pub imm: i32,
}

layout!(BpfInsn, 8 { code: 0, regs: 1, off: 2, imm: 4 });

impl BpfInsn {
    /// Returns an instruction; only the low four bits of the registers are used.
    pub const fn new(code: u8, dst_reg: u8, src_reg: u8, off: i16, imm: i32) -> Self {
        let (dst_reg, src_reg) = (dst_reg & 0xf, src_reg & 0xf);
        let regs =
            if cfg!(target_endian = "little") { src_reg << 4 | dst_reg } else { dst_reg << 4 | src_reg };
        Self { code, regs, off, imm }
    }
}

/// Argument of [`BpfCmd::PROG_LOAD`](super::BpfCmd::PROG_LOAD). Since Linux 3.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfProgLoad {
    /// Program type.
    pub prog_type: BpfProgType,
    /// Number of instructions.
    pub insn_cnt: u32,
    /// Pointer to the instructions.
    pub insns: u64,
    /// Pointer to the license, a C string.
    pub license: u64,
    /// Log level of the verifier.
    pub log_level: u32,
    /// Length of the log buffer, in bytes.
    pub log_size: u32,
    /// Pointer to that buffer.
    pub log_buf: u64,
    /// Kernel version; Linux before 5.0 compares it for kprobes. Since Linux 4.1.
    pub kern_version: u32,
    /// Flags of the load. Since Linux 4.12.
    pub prog_flags: u32,
    /// Name, NUL-terminated. Since Linux 4.15.
    pub prog_name: [u8; 16],
    /// Network device for offload. Since Linux 4.15.
    pub prog_ifindex: u32,
    /// Attachment that the program is loaded for. Since Linux 4.17.
    pub expected_attach_type: BpfAttachType,
    /// Descriptor of the BTF. Since Linux 5.0.
    pub prog_btf_fd: u32,
    /// Length of a function entry, in bytes. Since Linux 5.0.
    pub func_info_rec_size: u32,
    /// Pointer to the function entries. Since Linux 5.0.
    pub func_info: u64,
    /// Number of those entries. Since Linux 5.0.
    pub func_info_cnt: u32,
    /// Length of a line entry, in bytes. Since Linux 5.0.
    pub line_info_rec_size: u32,
    /// Pointer to the line entries. Since Linux 5.0.
    pub line_info: u64,
    /// Number of those entries. Since Linux 5.0.
    pub line_info_cnt: u32,
    /// BTF id of the function or type to attach to. Since Linux 5.5.
    pub attach_btf_id: u32,
    /// Program, or descriptor of a module BTF, to attach to. Since Linux 5.5.
    #[doc(alias = "attach_btf_obj_fd")]
    pub attach_prog_fd: u32,
    /// Number of CO-RE relocations. Since Linux 5.17.
    pub core_relo_cnt: u32,
    /// Pointer to the descriptors that instructions refer to by index. Since Linux 5.14.
    pub fd_array: u64,
    /// Pointer to the CO-RE relocations. Since Linux 5.17.
    pub core_relos: u64,
    /// Length of a CO-RE relocation, in bytes. Since Linux 5.17.
    pub core_relo_rec_size: u32,
    /// Length of the complete log, in bytes, written by the kernel. Since Linux 6.4.
    pub log_true_size: u32,
    /// BPF token, which delegates permissions. Since Linux 6.9.
    pub prog_token_fd: i32,
    /// Number of descriptors in `fd_array`. Since Linux 6.14.
    pub fd_array_cnt: u32,
    /// Pointer to the signature. Since Linux 6.18.
    pub signature: u64,
    /// Length of the signature, in bytes. Since Linux 6.18.
    pub signature_size: u32,
    /// Keyring that verifies the signature. Since Linux 6.18.
    pub keyring_id: i32,
}

layout!(new BpfProgLoad, 168 {
    prog_type: 0, insn_cnt: 4, insns: 8, license: 16, log_level: 24, log_size: 28, log_buf: 32,
    kern_version: 40, prog_flags: 44, prog_name: 48, prog_ifindex: 64, expected_attach_type: 68,
    prog_btf_fd: 72, func_info_rec_size: 76, func_info: 80, func_info_cnt: 88,
    line_info_rec_size: 92, line_info: 96, line_info_cnt: 104, attach_btf_id: 108,
    attach_prog_fd: 112, core_relo_cnt: 116, fd_array: 120, core_relos: 128,
    core_relo_rec_size: 136, log_true_size: 140, prog_token_fd: 144, fd_array_cnt: 148,
    signature: 152, signature_size: 160, keyring_id: 164,
});

/// Argument of [`BpfCmd::PROG_TEST_RUN`](super::BpfCmd::PROG_TEST_RUN). Since Linux 4.12.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfProgRun {
    /// The program.
    pub prog_fd: u32,
    /// Return value, written by the kernel.
    pub retval: u32,
    /// Length of the data, in bytes.
    pub data_size_in: u32,
    /// Length of the output buffer, in bytes; the kernel writes the length of the data.
    pub data_size_out: u32,
    /// Pointer to the data.
    pub data_in: u64,
    /// Pointer to the output buffer.
    pub data_out: u64,
    /// Number of runs.
    pub repeat: u32,
    /// Mean time of a run, in ns, written by the kernel.
    pub duration: u32,
    /// Length of the context, in bytes. Since Linux 5.2.
    pub ctx_size_in: u32,
    /// Length of the context buffer, in bytes; the kernel writes the length of the context. Since
    /// Linux 5.2.
    pub ctx_size_out: u32,
    /// Pointer to the context. Since Linux 5.2.
    pub ctx_in: u64,
    /// Pointer to the context buffer. Since Linux 5.2.
    pub ctx_out: u64,
    /// Flags of the run. Since Linux 5.10.
    pub flags: u32,
    /// CPU of the run. Since Linux 5.10.
    pub cpu: u32,
    /// Packets in a batch. Since Linux 5.18.
    pub batch_size: u32,
    /// Must be 0.
    pub reserved: u32,
}

layout!(new BpfProgRun, 80 {
    prog_fd: 0, retval: 4, data_size_in: 8, data_size_out: 12, data_in: 16, data_out: 24,
    repeat: 32, duration: 36, ctx_size_in: 40, ctx_size_out: 44, ctx_in: 48, ctx_out: 56, flags: 64,
    cpu: 68, batch_size: 72, reserved: 76,
});

/// Argument of [`BpfCmd::OBJ_PIN`](super::BpfCmd::OBJ_PIN) and
/// [`BpfCmd::OBJ_GET`](super::BpfCmd::OBJ_GET). Since Linux 4.4.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfObj {
    /// Pointer to the path, a C string.
    pub pathname: u64,
    /// Object to pin; 0 to open.
    pub bpf_fd: u32,
    /// Mode of the open. Since Linux 4.15.
    pub file_flags: u32,
    /// Directory of a relative path. Since Linux 6.5.
    pub path_fd: i32,
    /// Must be 0.
    pub reserved: u32,
}

layout!(new BpfObj, 24 { pathname: 0, bpf_fd: 8, file_flags: 12, path_fd: 16, reserved: 20 });

/// Argument of [`BpfCmd::OBJ_GET_INFO_BY_FD`](super::BpfCmd::OBJ_GET_INFO_BY_FD). Since Linux 4.13.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfObjInfo {
    /// The object.
    pub bpf_fd: u32,
    /// Length of the buffer, in bytes; the kernel writes the length that it knows.
    pub info_len: u32,
    /// Pointer to the buffer, which must be zeroed.
    pub info: u64,
}

layout!(new BpfObjInfo, 16 { bpf_fd: 0, info_len: 4, info: 8 });

/// Argument of the commands that iterate over ids. Since Linux 4.13.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfNextId {
    /// Id to start after; 0 for the first.
    pub start_id: u32,
    /// Next id, written by the kernel.
    pub next_id: u32,
    /// Must be 0.
    pub open_flags: u32,
}

layout!(new BpfNextId, 12 { start_id: 0, next_id: 4, open_flags: 8 });

/// Argument of the commands that open by id. Since Linux 4.13.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfFdById {
    /// Id of the map, program or link.
    #[doc(alias = "prog_id")]
    pub id: u32,
    /// Must be 0.
    pub next_id: u32,
    /// Mode of the open. Since Linux 4.15.
    pub open_flags: u32,
}

layout!(new BpfFdById, 12 { id: 0, next_id: 4, open_flags: 8 });

/// Argument of [`BpfCmd::RAW_TRACEPOINT_OPEN`](super::BpfCmd::RAW_TRACEPOINT_OPEN). Since Linux
/// 4.17.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfRawTracepointOpen {
    /// Pointer to the tracepoint's name, a C string.
    pub name: u64,
    /// The program.
    pub prog_fd: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Cookie that the program can read. Since Linux 6.10.
    pub cookie: u64,
}

layout!(new BpfRawTracepointOpen, 24 { name: 0, prog_fd: 8, reserved: 12, cookie: 16 });

/// Argument of [`BpfCmd::LINK_CREATE`](super::BpfCmd::LINK_CREATE) for a perf event. Since Linux
/// 5.15.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfLinkCreate {
    /// The program.
    pub prog_fd: u32,
    /// The event.
    pub target_fd: u32,
    /// Must be [`BpfAttachType::PERF_EVENT`].
    pub attach_type: BpfAttachType,
    /// Must be 0.
    pub flags: u32,
    /// Cookie that the program can read.
    #[doc(alias = "perf_event")]
    pub bpf_cookie: u64,
}

layout!(new BpfLinkCreate, 24 { prog_fd: 0, target_fd: 4, attach_type: 8, flags: 12, bpf_cookie: 16 });

/// Argument of [`BpfCmd::LINK_UPDATE`](super::BpfCmd::LINK_UPDATE). Since Linux 5.7.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfLinkUpdate {
    /// The link.
    pub link_fd: u32,
    /// Its new program.
    pub new_prog_fd: u32,
    /// 4 (`BPF_F_REPLACE`) requires that the old program is `old_prog_fd`.
    pub flags: u32,
    /// Its old program.
    pub old_prog_fd: u32,
}

layout!(new BpfLinkUpdate, 16 { link_fd: 0, new_prog_fd: 4, flags: 8, old_prog_fd: 12 });

/// Argument of [`BpfCmd::TASK_FD_QUERY`](super::BpfCmd::TASK_FD_QUERY). Since Linux 4.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfTaskFdQuery {
    /// The task.
    pub pid: u32,
    /// Descriptor of an event in that task.
    pub fd: u32,
    /// Must be 0.
    pub flags: u32,
    /// Length of the buffer, in bytes; the kernel writes the length of the name without its NUL.
    pub buf_len: u32,
    /// Pointer to that buffer.
    pub buf: u64,
    /// Id of the attached program, written by the kernel.
    pub prog_id: u32,
    /// Kind of the attachment, written by the kernel.
    pub fd_type: BpfTaskFdType,
    /// Offset of a probe, written by the kernel.
    pub probe_offset: u64,
    /// Address of a probe, written by the kernel.
    pub probe_addr: u64,
}

layout!(new BpfTaskFdQuery, 48 {
    pid: 0, fd: 4, flags: 8, buf_len: 12, buf: 16, prog_id: 24, fd_type: 28, probe_offset: 32,
    probe_addr: 40,
});

/// Argument of [`BpfCmd::ENABLE_STATS`](super::BpfCmd::ENABLE_STATS). Since Linux 5.8.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfEnableStats {
    /// Statistics to enable; 0 is the run time of programs.
    #[doc(alias = "type")]
    pub kind: u32,
}

layout!(new BpfEnableStats, 4 { kind: 0 });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_an_instruction_follow_the_byte_order() {
        let insn = BpfInsn::new(0xb7, 0x1a, 0x25, -2, -3);
        let regs = if cfg!(target_endian = "little") { 0x5a } else { 0xa5 };
        assert_eq!(insn, BpfInsn { code: 0xb7, regs, off: -2, imm: -3 });
    }
}
