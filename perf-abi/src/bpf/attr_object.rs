//! Arguments of the commands on paths, ids, links and events.

use super::{BpfAttachType, BpfTaskFdType};
#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Argument of [`BpfCmd::OBJ_PIN`](super::BpfCmd::OBJ_PIN) and
/// [`BpfCmd::OBJ_GET`](super::BpfCmd::OBJ_GET). Since Linux 4.4.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfObj, 24 { pathname: 0, bpf_fd: 8, file_flags: 12, path_fd: 16, reserved: 20 });

/// Argument of [`BpfCmd::OBJ_GET_INFO_BY_FD`](super::BpfCmd::OBJ_GET_INFO_BY_FD). Since Linux 4.13.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfObjInfo {
    /// The object.
    pub bpf_fd: u32,
    /// Length of the buffer, in bytes; the kernel writes the length that it knows.
    pub info_len: u32,
    /// Pointer to the buffer, which must be zeroed.
    pub info: u64,
}

layout!(BpfObjInfo, 16 { bpf_fd: 0, info_len: 4, info: 8 });

/// Argument of the commands that iterate over ids. Since Linux 4.13.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfNextId {
    /// Id to start after; 0 for the first.
    pub start_id: u32,
    /// Next id, written by the kernel.
    pub next_id: u32,
    /// Must be 0.
    pub open_flags: u32,
}

layout!(BpfNextId, 12 { start_id: 0, next_id: 4, open_flags: 8 });

/// Argument of the commands that open by id. Since Linux 4.13.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfFdById {
    /// Id of the map, program or link.
    #[doc(alias = "prog_id")]
    pub id: u32,
    /// Must be 0.
    pub next_id: u32,
    /// Mode of the open. Since Linux 4.15.
    pub open_flags: u32,
}

layout!(BpfFdById, 12 { id: 0, next_id: 4, open_flags: 8 });

/// Argument of [`BpfCmd::RAW_TRACEPOINT_OPEN`](super::BpfCmd::RAW_TRACEPOINT_OPEN). Since Linux
/// 4.17.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfRawTracepointOpen, 24 { name: 0, prog_fd: 8, reserved: 12, cookie: 16 });

/// Argument of [`BpfCmd::LINK_CREATE`](super::BpfCmd::LINK_CREATE) for a perf event. Since Linux
/// 5.15.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfLinkCreate, 24 { prog_fd: 0, target_fd: 4, attach_type: 8, flags: 12, bpf_cookie: 16 });

/// Argument of [`BpfCmd::LINK_UPDATE`](super::BpfCmd::LINK_UPDATE). Since Linux 5.7.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfLinkUpdate, 16 { link_fd: 0, new_prog_fd: 4, flags: 8, old_prog_fd: 12 });

/// Argument of [`BpfCmd::TASK_FD_QUERY`](super::BpfCmd::TASK_FD_QUERY). Since Linux 4.18.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
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

layout!(BpfTaskFdQuery, 48 {
    pid: 0, fd: 4, flags: 8, buf_len: 12, buf: 16, prog_id: 24, fd_type: 28, probe_offset: 32,
    probe_addr: 40,
});

/// Argument of [`BpfCmd::ENABLE_STATS`](super::BpfCmd::ENABLE_STATS). Since Linux 5.8.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BpfEnableStats {
    /// Statistics to enable; 0 is the run time of programs.
    #[doc(alias = "type")]
    pub kind: u32,
}

layout!(BpfEnableStats, 4 { kind: 0 });
