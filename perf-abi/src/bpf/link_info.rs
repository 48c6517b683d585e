//! Information about links to perf events.

use super::BpfLinkType;
use crate::EventType;
#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct bpf_link_info`—information about a link to a perf event. Since Linux 6.6.
///
/// `details` holds the struct that the constant of `perf_kind` names.
#[doc(alias = "bpf_link_info")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfLinkInfo, 64 {
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
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfUprobeLinkInfo, 40 {
    file_name: 0, name_len: 8, offset: 12, cookie: 16, ref_ctr_offset: 24, reserved: 32,
});

/// Details of a link to a kprobe. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfKprobeLinkInfo, 40 {
    func_name: 0, name_len: 8, offset: 12, addr: 16, missed: 24, cookie: 32,
});

/// Details of a link to a tracepoint. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfTracepointLinkInfo, 40 {
    tp_name: 0, name_len: 8, reserved: 12, cookie: 16, reserved_2: 24, reserved_3: 32,
});

/// Details of a link to any other event. Since Linux 6.6.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfEventLinkInfo, 40 {
    config: 0, kind: 8, reserved: 12, cookie: 16, reserved_2: 24, reserved_3: 32,
});
