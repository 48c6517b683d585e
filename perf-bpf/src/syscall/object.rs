use core::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfLinkInfo, BpfMapInfo, BpfObj, BpfObjInfo, BpfProgInfo};
use zerocopy::{FromBytes, IntoBytes};

use super::{address, address_mut, bpf, bpf_fd, number};

/// `bpf(BPF_OBJ_PIN)`—Pins the object to a path of a bpf file system.
pub(crate) fn obj_pin(fd: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    let pathname = address(path.to_bytes_with_nul());
    let mut attr = BpfObj { pathname, bpf_fd: number(fd), ..BpfObj::default() };
    // SAFETY: the kernel reads the path, a live C string.
    unsafe { bpf(BpfCmd::OBJ_PIN, &mut attr) }.map(drop)
}

/// `bpf(BPF_OBJ_GET)`—Opens the object that is pinned to the path. `file_flags` are 0 or one of
/// `BPF_F_RDONLY` and `BPF_F_WRONLY` (since Linux 4.15).
pub(crate) fn obj_get(path: &CStr, file_flags: u32) -> Result<OwnedFd, Errno> {
    let pathname = address(path.to_bytes_with_nul());
    let mut attr = BpfObj { pathname, file_flags, ..BpfObj::default() };
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
    let mut info = BpfProgInfo {
        nr_map_ids: map_ids.len() as u32,
        map_ids: address_mut(map_ids.as_mut_bytes()),
        ..BpfProgInfo::default()
    };
    // SAFETY: the only address is that of `map_ids`, which has `nr_map_ids` elements.
    unsafe { fill_info(fd, info.as_mut_bytes()) }?;
    Ok(info)
}

/// `bpf(BPF_OBJ_GET_INFO_BY_FD)` of a program—Writes the addresses and the lengths of the machine code of its
/// functions, and returns their numbers, also if the slices are shorter.
pub(crate) fn prog_functions(
    fd: BorrowedFd<'_>,
    addresses: &mut [u64],
    lengths: &mut [u32],
) -> Result<(u32, u32), Errno> {
    let mut info = BpfProgInfo {
        nr_jited_ksyms: addresses.len() as u32,
        jited_ksyms: address_mut(addresses.as_mut_bytes()),
        nr_jited_func_lens: lengths.len() as u32,
        jited_func_lens: address_mut(lengths.as_mut_bytes()),
        ..BpfProgInfo::default()
    };
    // SAFETY: the addresses are those of two slices, which have the numbers of elements that `info` states.
    unsafe { fill_info(fd, info.as_mut_bytes()) }?;
    Ok((info.nr_jited_ksyms, info.nr_jited_func_lens))
}

/// # Safety
///
/// Each address in `info` that is not 0 must be valid for the elements that its count states.
unsafe fn fill_info(fd: BorrowedFd<'_>, info: &mut [u8]) -> Result<(), Errno> {
    let info_len = info.len() as u32;
    let mut attr = BpfObjInfo { bpf_fd: number(fd), info_len, info: address_mut(info) };
    // SAFETY: the kernel writes at most `info_len` bytes to `info`; the addresses inside are the
    // caller's obligation.
    unsafe { bpf(BpfCmd::OBJ_GET_INFO_BY_FD, &mut attr) }.map(drop)
}
