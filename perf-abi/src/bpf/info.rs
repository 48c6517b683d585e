//! Information about maps, programs and links, and the structs that perf events and programs exchange.

use super::{BpfLinkType, BpfMapFlags, BpfMapType, BpfProgType};
use crate::EventType;
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

#[cfg(target_arch = "x86_64")]
pub use x86_64::{BpfPerfEventData, PtRegs};

/// `struct bpf_map_info`—information about a map. Since Linux 4.13.
#[doc(alias = "bpf_map_info")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfMapInfo {
    /// Map type.
    #[doc(alias = "type")]
    pub kind: BpfMapType,
    /// Id.
    pub id: u32,
    /// Length of a key, in bytes.
    pub key_size: u32,
    /// Length of a value, in bytes.
    pub value_size: u32,
    /// Maximum number of elements.
    pub max_entries: u32,
    /// Flags of the map.
    pub map_flags: BpfMapFlags,
    /// Name, NUL-terminated. Since Linux 4.15.
    pub name: [u8; 16],
    /// Network device. Since Linux 4.16.
    pub ifindex: u32,
    /// Type of values in the kernel's BTF. Since Linux 5.6.
    pub btf_vmlinux_value_type_id: u32,
    /// Device of the network namespace. Since Linux 4.16.
    pub netns_dev: u64,
    /// Inode of the network namespace. Since Linux 4.16.
    pub netns_ino: u64,
    /// Id of the BTF. Since Linux 4.18.
    pub btf_id: u32,
    /// BTF type of keys. Since Linux 4.18.
    pub btf_key_type_id: u32,
    /// BTF type of values. Since Linux 4.18.
    pub btf_value_type_id: u32,
    /// Id of the BTF of the kernel or a module. Since Linux 6.9.
    pub btf_vmlinux_id: u32,
    /// Extra parameter; its meaning depends on the map type. Since Linux 5.16.
    pub map_extra: u64,
    /// Pointer to the buffer for a hash of the contents. Since Linux 6.18.
    pub hash: u64,
    /// Length of that buffer, in bytes. Since Linux 6.18.
    pub hash_size: u32,
    /// Padding.
    pub reserved: u32,
}

layout!(new BpfMapInfo, 104 {
    kind: 0, id: 4, key_size: 8, value_size: 12, max_entries: 16, map_flags: 20, name: 24,
    ifindex: 40, btf_vmlinux_value_type_id: 44, netns_dev: 48, netns_ino: 56, btf_id: 64,
    btf_key_type_id: 68, btf_value_type_id: 72, btf_vmlinux_id: 76, map_extra: 80, hash: 88,
    hash_size: 96, reserved: 100,
});

/// `struct bpf_prog_info`—information about a program. Since Linux 4.13.
///
/// The kernel fills the arrays whose pointer and count are not 0, and writes back the full counts.
#[doc(alias = "bpf_prog_info")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfProgInfo {
    /// Program type.
    #[doc(alias = "type")]
    pub kind: BpfProgType,
    /// Id.
    pub id: u32,
    /// Tag, a hash of the code.
    pub tag: [u8; 8],
    /// Length of machine code, in bytes.
    pub jited_prog_len: u32,
    /// Length of BPF code, in bytes.
    pub xlated_prog_len: u32,
    /// Pointer to the buffer for machine code.
    pub jited_prog_insns: u64,
    /// Pointer to the buffer for BPF code.
    pub xlated_prog_insns: u64,
    /// Time of the load, in ns since boot. Since Linux 4.15.
    pub load_time: u64,
    /// User id of the loader. Since Linux 4.15.
    pub created_by_uid: u32,
    /// Number of maps. Since Linux 4.15.
    pub nr_map_ids: u32,
    /// Pointer to the buffer for their ids. Since Linux 4.15.
    pub map_ids: u64,
    /// Name, NUL-terminated. Since Linux 4.15.
    pub name: [u8; 16],
    /// Network device. Since Linux 4.16.
    pub ifindex: u32,
    /// C bit field, whose first bit is set if the license is compatible with the GPL. Since Linux
    /// 4.18.
    pub gpl_compatible: u32,
    /// Device of the network namespace. Since Linux 4.16.
    pub netns_dev: u64,
    /// Inode of the network namespace. Since Linux 4.16.
    pub netns_ino: u64,
    /// Number of functions. Since Linux 4.18.
    pub nr_jited_ksyms: u32,
    /// Number of lengths of functions. Since Linux 4.18.
    pub nr_jited_func_lens: u32,
    /// Pointer to the buffer for addresses of functions. Since Linux 4.18.
    pub jited_ksyms: u64,
    /// Pointer to the buffer for lengths of functions. Since Linux 4.18.
    pub jited_func_lens: u64,
    /// Id of the BTF. Since Linux 5.0.
    pub btf_id: u32,
    /// Length of a function entry, in bytes. Since Linux 5.0.
    pub func_info_rec_size: u32,
    /// Pointer to the buffer for function entries. Since Linux 5.0.
    pub func_info: u64,
    /// Number of those entries. Since Linux 5.0.
    pub nr_func_info: u32,
    /// Number of line entries. Since Linux 5.0.
    pub nr_line_info: u32,
    /// Pointer to the buffer for line entries. Since Linux 5.0.
    pub line_info: u64,
    /// Pointer to the buffer for addresses of lines. Since Linux 5.0.
    pub jited_line_info: u64,
    /// Number of those entries. Since Linux 5.0.
    pub nr_jited_line_info: u32,
    /// Length of a line entry, in bytes. Since Linux 5.0.
    pub line_info_rec_size: u32,
    /// Length of an address of a line, in bytes. Since Linux 5.0.
    pub jited_line_info_rec_size: u32,
    /// Number of tags of functions. Since Linux 5.0.
    pub nr_prog_tags: u32,
    /// Pointer to the buffer for those tags. Since Linux 5.0.
    pub prog_tags: u64,
    /// Run time in ns while statistics are enabled. Since Linux 5.1.
    pub run_time_ns: u64,
    /// Number of runs while statistics are enabled. Since Linux 5.1.
    pub run_cnt: u64,
    /// Runs skipped because the program was already running. Since Linux 5.12.
    pub recursion_misses: u64,
    /// Instructions that the verifier processed. Since Linux 5.16.
    pub verified_insns: u32,
    /// Id of the BTF of its attachment. Since Linux 6.0.
    pub attach_btf_obj_id: u32,
    /// BTF id of its attachment. Since Linux 6.0.
    pub attach_btf_id: u32,
    /// Padding.
    pub reserved: u32,
}

layout!(new BpfProgInfo, 232 {
    kind: 0, id: 4, tag: 8, jited_prog_len: 16, xlated_prog_len: 20, jited_prog_insns: 24,
    xlated_prog_insns: 32, load_time: 40, created_by_uid: 48, nr_map_ids: 52, map_ids: 56, name: 64,
    ifindex: 80, gpl_compatible: 84, netns_dev: 88, netns_ino: 96, nr_jited_ksyms: 104,
    nr_jited_func_lens: 108, jited_ksyms: 112, jited_func_lens: 120, btf_id: 128,
    func_info_rec_size: 132, func_info: 136, nr_func_info: 144, nr_line_info: 148, line_info: 152,
    jited_line_info: 160, nr_jited_line_info: 168, line_info_rec_size: 172,
    jited_line_info_rec_size: 176, nr_prog_tags: 180, prog_tags: 184, run_time_ns: 192,
    run_cnt: 200, recursion_misses: 208, verified_insns: 216, attach_btf_obj_id: 220,
    attach_btf_id: 224, reserved: 228,
});

/// `struct bpf_link_info`—information about a link to a perf event. Since Linux 6.6.
///
/// `details` holds the struct that the constant of `perf_kind` names.
#[doc(alias = "bpf_link_info")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfLinkInfo {
    /// Link type; the fields from `perf_kind` are valid only for [`BpfLinkType::PERF_EVENT`].
    /// Since Linux 5.8.
    #[doc(alias = "type")]
    pub kind: BpfLinkType,
    /// Id. Since Linux 5.8.
    pub id: u32,
    /// Its program. Since Linux 5.8.
    pub prog_id: u32,
    /// Padding.
    pub reserved: u32,
    /// Kind of perf event.
    #[doc(alias = "perf_event")]
    pub perf_kind: BpfPerfLinkKind,
    /// Padding.
    pub reserved_2: u32,
    /// Details of the event.
    pub details: [u64; 5],
}

layout!(new BpfLinkInfo, 64 {
    kind: 0, id: 4, prog_id: 8, reserved: 12, perf_kind: 16, reserved_2: 20, details: 24,
});

open_enum! {
    /// `enum bpf_perf_event_type`—the kind of perf event of a link. Since Linux 6.6.
    #[doc(alias = "bpf_perf_event_type")]
    pub struct BpfPerfLinkKind(u32) {
        /// Unknown. Since Linux 6.6.
        "BPF_PERF_EVENT_UNSPEC" UNSPEC = 0;
        /// An offset in a file: [`BpfUprobeLinkInfo`]. Since Linux 6.6.
        "BPF_PERF_EVENT_UPROBE" UPROBE = 1;
        /// The return of a function in a file: [`BpfUprobeLinkInfo`]. Since Linux 6.6.
        "BPF_PERF_EVENT_URETPROBE" URETPROBE = 2;
        /// A kernel function or address: [`BpfKprobeLinkInfo`]. Since Linux 6.6.
        "BPF_PERF_EVENT_KPROBE" KPROBE = 3;
        /// The return of a kernel function: [`BpfKprobeLinkInfo`]. Since Linux 6.6.
        "BPF_PERF_EVENT_KRETPROBE" KRETPROBE = 4;
        /// A tracepoint: [`BpfTracepointLinkInfo`]. Since Linux 6.6.
        "BPF_PERF_EVENT_TRACEPOINT" TRACEPOINT = 5;
        /// Any other event: [`BpfEventLinkInfo`]. Since Linux 6.6.
        "BPF_PERF_EVENT_EVENT" EVENT = 6;
    }
}

/// Details of a link to a uprobe. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfUprobeLinkInfo {
    /// Pointer to the buffer for the path.
    pub file_name: u64,
    /// Length of that buffer, in bytes.
    pub name_len: u32,
    /// Offset in the file.
    pub offset: u32,
    /// The link's cookie. Since Linux 6.9.
    pub cookie: u64,
    /// Offset of the reference counter in the file. Since Linux 6.18.
    pub ref_ctr_offset: u64,
    /// Padding.
    pub reserved: u64,
}

layout!(new BpfUprobeLinkInfo, 40 {
    file_name: 0, name_len: 8, offset: 12, cookie: 16, ref_ctr_offset: 24, reserved: 32,
});

/// Details of a link to a kprobe. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfKprobeLinkInfo {
    /// Pointer to the buffer for the function's name.
    pub func_name: u64,
    /// Length of that buffer, in bytes.
    pub name_len: u32,
    /// Offset in the function.
    pub offset: u32,
    /// Address.
    pub addr: u64,
    /// Missed runs. Since Linux 6.7.
    pub missed: u64,
    /// The link's cookie. Since Linux 6.9.
    pub cookie: u64,
}

layout!(new BpfKprobeLinkInfo, 40 {
    func_name: 0, name_len: 8, offset: 12, addr: 16, missed: 24, cookie: 32,
});

/// Details of a link to a tracepoint. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfTracepointLinkInfo {
    /// Pointer to the buffer for the tracepoint's name.
    pub tp_name: u64,
    /// Length of that buffer, in bytes.
    pub name_len: u32,
    /// Padding.
    pub reserved: u32,
    /// The link's cookie. Since Linux 6.9.
    pub cookie: u64,
    /// Padding.
    pub reserved_2: u64,
    /// Padding.
    pub reserved_3: u64,
}

layout!(new BpfTracepointLinkInfo, 40 {
    tp_name: 0, name_len: 8, reserved: 12, cookie: 16, reserved_2: 24, reserved_3: 32,
});

/// Details of a link to any other event. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[non_exhaustive]
pub struct BpfEventLinkInfo {
    /// The attr's `config`.
    pub config: u64,
    /// The attr's `type`, as rewritten by the kernel.
    #[doc(alias = "type")]
    pub kind: EventType,
    /// Padding.
    pub reserved: u32,
    /// The link's cookie. Since Linux 6.9.
    pub cookie: u64,
    /// Padding.
    pub reserved_2: u64,
    /// Padding.
    pub reserved_3: u64,
}

layout!(new BpfEventLinkInfo, 40 {
    config: 0, kind: 8, reserved: 12, cookie: 16, reserved_2: 24, reserved_3: 32,
});

/// `struct bpf_perf_event_value`—the result of the helper
/// [`PERF_EVENT_READ_VALUE`](super::BpfHelper::PERF_EVENT_READ_VALUE). Since Linux 4.15.
#[doc(alias = "bpf_perf_event_value")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfPerfEventValue {
    /// The count.
    pub counter: u64,
    /// Time enabled, in ns.
    pub enabled: u64,
    /// Time running, in ns.
    pub running: u64,
}

layout!(BpfPerfEventValue, 24 { counter: 0, enabled: 8, running: 16 });

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    #[cfg(feature = "zerocopy-08")]
    use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

    /// `struct pt_regs`—the registers of a task on x86-64. Since Linux 2.6.31.
    #[doc(alias = "pt_regs")]
    #[repr(C)]
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    #[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
    #[allow(missing_docs)] // the fields are the registers of their names
    pub struct PtRegs {
        pub r15: u64,
        pub r14: u64,
        pub r13: u64,
        pub r12: u64,
        pub bp: u64,
        pub bx: u64,
        pub r11: u64,
        pub r10: u64,
        pub r9: u64,
        pub r8: u64,
        pub ax: u64,
        pub cx: u64,
        pub dx: u64,
        pub si: u64,
        pub di: u64,
        pub orig_ax: u64,
        pub ip: u64,
        pub cs: u64,
        pub flags: u64,
        pub sp: u64,
        pub ss: u64,
    }

    layout!(PtRegs, 168 {
        r15: 0, r14: 8, r13: 16, r12: 24, bp: 32, bx: 40, r11: 48, r10: 56, r9: 64, r8: 72, ax: 80,
        cx: 88, dx: 96, si: 104, di: 112, orig_ax: 120, ip: 128, cs: 136, flags: 144, sp: 152,
        ss: 160,
    });

    /// `struct bpf_perf_event_data`—the context of a program on a perf event. Since Linux 4.9.
    #[doc(alias = "bpf_perf_event_data")]
    #[repr(C)]
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    #[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
    #[non_exhaustive]
    pub struct BpfPerfEventData {
        /// Registers at the overflow.
        pub regs: PtRegs,
        /// Events since the preceding sample.
        pub sample_period: u64,
        /// Data address. Since Linux 4.17.
        pub addr: u64,
    }

    layout!(BpfPerfEventData, 184 { regs: 0, sample_period: 168, addr: 176 });
}
