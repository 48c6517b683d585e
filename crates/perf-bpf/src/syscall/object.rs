//! Commands of `bpf(2)` for pins, ids, links and information.

use core::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use perf_ring::Errno;
use perf_ring::abi::bpf::{
    BpfAttachType, BpfCmd, BpfFdById, BpfLinkCreate, BpfLinkInfo, BpfMapInfo, BpfNextId, BpfObj, BpfObjInfo,
    BpfProgInfo, BpfRawTracepointOpen, BpfTaskFdQuery,
};
use perf_ring::sys::BorrowedEvent;
use zerocopy::{FromBytes, IntoBytes};

use super::{address, address_mut, bpf, bpf_fd, number};
use crate::object::ObjectKind;

/// `bpf(BPF_OBJ_PIN)`—Pins the object to a path of a bpf file system.
pub(crate) fn obj_pin(fd: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    let pathname = address(path.to_bytes_with_nul());
    let mut attr = BpfObj::new();
    attr.pathname = pathname;
    attr.bpf_fd = number(fd);
    // SAFETY: the kernel reads the path, a live C string.
    unsafe { bpf(BpfCmd::OBJ_PIN, &mut attr) }.map(drop)
}

/// `bpf(BPF_OBJ_GET)`—Opens the object that is pinned to the path. `file_flags` are 0 or one of
/// `BPF_F_RDONLY` and `BPF_F_WRONLY` (since Linux 4.15).
pub(crate) fn obj_get(path: &CStr, file_flags: u32) -> Result<OwnedFd, Errno> {
    let pathname = address(path.to_bytes_with_nul());
    let mut attr = BpfObj::new();
    attr.pathname = pathname;
    attr.file_flags = file_flags;
    // SAFETY: the kernel reads the path, a live C string, and returns a descriptor.
    unsafe { bpf_fd(BpfCmd::OBJ_GET, &mut attr) }
}

/// A struct that `BPF_OBJ_GET_INFO_BY_FD` fills and in which zeroed addresses are not written to.
pub(crate) trait Info: FromBytes + IntoBytes {}

impl Info for BpfMapInfo {}
impl Info for BpfLinkInfo {}

/// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns what the kernel knows about the object. Fields that an
/// older kernel does not have are 0.
pub(crate) fn info<I: Info>(fd: BorrowedFd<'_>) -> Result<I, Errno> {
    let mut info = I::new_zeroed();
    // SAFETY: the struct holds no address but 0.
    unsafe { fill_info(fd, info.as_mut_bytes()) }?;
    Ok(info)
}

/// `bpf(BPF_OBJ_GET_INFO_BY_FD)` of a program—Returns what the kernel knows about it, and writes
/// the ids of its maps. `nr_map_ids` is the number of its maps, also if `map_ids` is shorter.
pub(crate) fn prog_info(fd: BorrowedFd<'_>, map_ids: &mut [u32]) -> Result<BpfProgInfo, Errno> {
    let mut info = BpfProgInfo::new();
    info.nr_map_ids = map_ids.len() as u32;
    info.map_ids = address_mut(map_ids.as_mut_bytes());
    // SAFETY: the only address is `map_ids`, which has `nr_map_ids` elements.
    unsafe { fill_info(fd, info.as_mut_bytes()) }?;
    Ok(info)
}

/// `bpf(BPF_OBJ_GET_INFO_BY_FD)` of a program—Writes the addresses and the lengths of the machine
/// code of its functions, and returns their numbers, also if the slices are shorter.
pub(crate) fn prog_functions(
    fd: BorrowedFd<'_>,
    addresses: &mut [u64],
    lengths: &mut [u32],
) -> Result<(u32, u32), Errno> {
    let mut info = BpfProgInfo::new();
    info.nr_jited_ksyms = addresses.len() as u32;
    info.jited_ksyms = address_mut(addresses.as_mut_bytes());
    info.nr_jited_func_lens = lengths.len() as u32;
    info.jited_func_lens = address_mut(lengths.as_mut_bytes());
    // SAFETY: the addresses belong to two slices, which have the numbers of elements that `info`
    // states.
    unsafe { fill_info(fd, info.as_mut_bytes()) }?;
    Ok((info.nr_jited_ksyms, info.nr_jited_func_lens))
}

/// # Safety
///
/// Each address in `info` that is not 0 must be valid for the elements that its count states.
unsafe fn fill_info(fd: BorrowedFd<'_>, info: &mut [u8]) -> Result<(), Errno> {
    let info_len = info.len() as u32;
    let mut attr = BpfObjInfo::new();
    attr.bpf_fd = number(fd);
    attr.info_len = info_len;
    attr.info = address_mut(info);
    // SAFETY: the kernel writes at most `info_len` bytes to `info`; the addresses inside are the
    // caller's obligation.
    unsafe { bpf(BpfCmd::OBJ_GET_INFO_BY_FD, &mut attr) }.map(drop)
}

/// `bpf(BPF_*_GET_NEXT_ID)`—Returns the id after `start`, or `None` at the end.
pub(crate) fn next_id(kind: ObjectKind, start: u32) -> Result<Option<u32>, Errno> {
    let mut attr = BpfNextId::new();
    attr.start_id = start;
    // SAFETY: these commands take this attr, which holds numbers only.
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
    let mut attr = BpfFdById::new();
    attr.id = id;
    // SAFETY: these commands take this attr, which holds numbers only; they return a descriptor.
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

/// `bpf(BPF_LINK_CREATE)`—Attaches the program to the perf event and returns the link. A cookie of
/// 0 is the same as no cookie. Since Linux 5.15.
pub(crate) fn link_create(
    program: BorrowedFd<'_>,
    event: BorrowedEvent<'_>,
    bpf_cookie: u64,
) -> Result<OwnedFd, Errno> {
    let mut attr = BpfLinkCreate::new();
    attr.prog_fd = number(program);
    attr.target_fd = event.as_raw_fd().unsigned_abs();
    attr.attach_type = BpfAttachType::PERF_EVENT;
    attr.bpf_cookie = bpf_cookie;
    // SAFETY: the attr holds numbers only, and the command returns a descriptor.
    unsafe { bpf_fd(BpfCmd::LINK_CREATE, &mut attr) }
}

/// `bpf(BPF_RAW_TRACEPOINT_OPEN)`—Attaches the program to the raw tracepoint, or without a name a
/// program of type tracing to its target, until the descriptor is closed. A cookie other than 0
/// needs Linux 6.10.
pub(crate) fn raw_tracepoint_open(
    name: Option<&CStr>,
    program: BorrowedFd<'_>,
    cookie: u64,
) -> Result<OwnedFd, Errno> {
    let name = name.map_or(0, |name| address(name.to_bytes_with_nul()));
    let mut attr = BpfRawTracepointOpen::new();
    attr.name = name;
    attr.prog_fd = number(program);
    attr.cookie = cookie;
    // SAFETY: the kernel reads the name, a live C string, and returns a descriptor.
    unsafe { bpf_fd(BpfCmd::RAW_TRACEPOINT_OPEN, &mut attr) }
}

/// `bpf(BPF_TASK_FD_QUERY)`—Returns the program that is attached to the descriptor `fd` of task
/// `pid`, and writes the name of the tracepoint, function or file with a NUL. `ENOSPC` means that
/// the name was truncated. `buf_len` of the result is the length of the name without its NUL, which
/// may be more than the buffer has.
pub(crate) fn task_fd_query(pid: u32, fd: u32, name: &mut [u8]) -> Result<BpfTaskFdQuery, Errno> {
    let mut attr = BpfTaskFdQuery::new();
    attr.pid = pid;
    attr.fd = fd;
    attr.buf_len = name.len() as u32;
    attr.buf = address_mut(name);
    // SAFETY: the kernel writes at most `buf_len` bytes to `name`.
    unsafe { bpf(BpfCmd::TASK_FD_QUERY, &mut attr) }?;
    Ok(attr)
}
