use std::os::fd::OwnedFd;

use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfFdById, BpfNextId};

use super::{bpf, bpf_fd};
use crate::ObjectKind;

/// `bpf(BPF_*_GET_NEXT_ID)`—Returns the id after `start`, or `None` at the end.
pub(crate) fn next_id(kind: ObjectKind, start: u32) -> Result<Option<u32>, Errno> {
    let mut attr = BpfNextId { start_id: start, ..BpfNextId::default() };
    // SAFETY: the attr is that of these commands and holds numbers only.
    match unsafe { bpf(next_id_command(kind), &mut attr) } {
        Ok(_) => Ok(Some(attr.next_id)),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Returns the command of [`next_id`]. For links since Linux 5.8, for others since 4.13.
pub(crate) const fn next_id_command(kind: ObjectKind) -> BpfCmd {
    match kind {
        ObjectKind::Map => BpfCmd::MAP_GET_NEXT_ID,
        ObjectKind::Program => BpfCmd::PROG_GET_NEXT_ID,
        ObjectKind::Link => BpfCmd::LINK_GET_NEXT_ID,
    }
}

/// `bpf(BPF_*_GET_FD_BY_ID)`—Opens the object with this id.
pub(crate) fn fd_by_id(kind: ObjectKind, id: u32) -> Result<OwnedFd, Errno> {
    let mut attr = BpfFdById { id, ..BpfFdById::default() };
    // SAFETY: the attr is that of these commands and holds numbers only; they return a descriptor.
    unsafe { bpf_fd(fd_by_id_command(kind), &mut attr) }
}

/// Returns the command of [`fd_by_id`]. For links since Linux 5.8, for others since 4.13.
pub(crate) const fn fd_by_id_command(kind: ObjectKind) -> BpfCmd {
    match kind {
        ObjectKind::Map => BpfCmd::MAP_GET_FD_BY_ID,
        ObjectKind::Program => BpfCmd::PROG_GET_FD_BY_ID,
        ObjectKind::Link => BpfCmd::LINK_GET_FD_BY_ID,
    }
}
