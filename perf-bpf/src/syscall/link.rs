use core::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use perf_sys::Errno;
use perf_sys::abi::bpf::{
    BpfAttachType, BpfCmd, BpfLinkCreate, BpfRawTracepointOpen, BpfTaskFdQuery, BpfTaskFdType,
};

use super::{address, address_mut, bpf, bpf_fd, number};

/// `bpf(BPF_LINK_CREATE)`—Attaches the program to the perf event and returns the link. A cookie of
/// 0 is the same as no cookie. Since Linux 5.15.
pub(crate) fn link_create(
    program: BorrowedFd<'_>,
    event: BorrowedFd<'_>,
    bpf_cookie: u64,
) -> Result<OwnedFd, Errno> {
    let mut attr = BpfLinkCreate {
        prog_fd: number(program),
        target_fd: number(event),
        attach_type: BpfAttachType::PERF_EVENT,
        flags: 0,
        bpf_cookie,
    };
    // SAFETY: the attr holds numbers only, and the command returns a descriptor.
    unsafe { bpf_fd(BpfCmd::LINK_CREATE, &mut attr) }
}

/// `bpf(BPF_RAW_TRACEPOINT_OPEN)`—Attaches the program to the raw tracepoint until the descriptor
/// is closed. A cookie other than 0 needs Linux 6.10.
pub(crate) fn raw_tracepoint_open(
    name: &CStr,
    program: BorrowedFd<'_>,
    cookie: u64,
) -> Result<OwnedFd, Errno> {
    let name = address(name.to_bytes_with_nul());
    let mut attr = BpfRawTracepointOpen { name, prog_fd: number(program), reserved: 0, cookie };
    // SAFETY: the kernel reads the name, a live C string, and returns a descriptor.
    unsafe { bpf_fd(BpfCmd::RAW_TRACEPOINT_OPEN, &mut attr) }
}

/// `bpf(BPF_RAW_TRACEPOINT_OPEN)` without a name—Attaches the program of type tracing to what it was
/// loaded for, until the descriptor is closed. A cookie other than 0 needs Linux 6.10.
pub(crate) fn tracing_open(program: BorrowedFd<'_>, cookie: u64) -> Result<OwnedFd, Errno> {
    let mut attr = BpfRawTracepointOpen { name: 0, prog_fd: number(program), reserved: 0, cookie };
    // SAFETY: the attr holds numbers only, and the command returns a descriptor.
    unsafe { bpf_fd(BpfCmd::RAW_TRACEPOINT_OPEN, &mut attr) }
}

/// The program that is attached to an event of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskFd {
    /// Id of the program.
    pub(crate) prog_id: u32,
    /// Kind of the attachment.
    pub(crate) fd_type: BpfTaskFdType,
    /// Offset of a probe.
    pub(crate) probe_offset: u64,
    /// Address of a probe.
    pub(crate) probe_addr: u64,
    /// Length of the name in bytes, without its NUL. It may be longer than the buffer.
    pub(crate) name_len: u32,
}

/// `bpf(BPF_TASK_FD_QUERY)`—Returns the program that is attached to the descriptor `fd` of task
/// `pid`, and writes the name of the tracepoint, function or file with a NUL. `ENOSPC` means that
/// the name was truncated.
pub(crate) fn task_fd_query(pid: u32, fd: u32, name: &mut [u8]) -> Result<TaskFd, Errno> {
    let mut attr = BpfTaskFdQuery {
        pid,
        fd,
        buf_len: name.len() as u32,
        buf: address_mut(name),
        ..BpfTaskFdQuery::default()
    };
    // SAFETY: the kernel writes at most `buf_len` bytes to `name`.
    unsafe { bpf(BpfCmd::TASK_FD_QUERY, &mut attr) }?;
    let BpfTaskFdQuery { prog_id, fd_type, probe_offset, probe_addr, buf_len: name_len, .. } = attr;
    Ok(TaskFd { prog_id, fd_type, probe_offset, probe_addr, name_len })
}
