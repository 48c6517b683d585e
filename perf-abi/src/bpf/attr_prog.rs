//! Arguments of the commands on programs.

use super::{BpfAttachType, BpfProgType};
#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct bpf_insn`—one instruction of a BPF program. Since Linux 3.18.
#[doc(alias = "bpf_insn")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfProgLoad, 168 {
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
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfProgRun, 80 {
    prog_fd: 0, retval: 4, data_size_in: 8, data_size_out: 12, data_in: 16, data_out: 24,
    repeat: 32, duration: 36, ctx_size_in: 40, ctx_size_out: 44, ctx_in: 48, ctx_out: 56, flags: 64,
    cpu: 68, batch_size: 72, reserved: 76,
});
