//! `bpf(2)` with `BPF_OBJ_GET_INFO_BY_FD`, by which a ring buffer map is recognized.
//!
//! # Safety
//!
//! This file may use `unsafe` because no crate that this one uses wraps the call.

use linux_raw_sys::general::__NR_bpf;
use perf_abi::bpf::{BpfCmd, BpfMapInfo, BpfObjInfo};
use std::os::fd::{AsRawFd, BorrowedFd};

use super::{last_errno, number, syscall};
use crate::error::{Call, Error, Result};

/// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns the properties of a BPF map. Since Linux 4.13.
///
/// The kernel has one command for maps, programs and other BPF objects, and writes the struct of the
/// object. It refuses other descriptors.
pub(crate) fn map_info(map: BorrowedFd<'_>) -> Result<BpfMapInfo> {
    let mut info = BpfMapInfo::default();
    let mut argument = BpfObjInfo {
        bpf_fd: map.as_raw_fd().unsigned_abs(), // never negative: a `BorrowedFd` is open
        info_len: size_of_val(&info) as u32,
        info: (&raw mut info).expose_provenance() as u64,
    };
    let (command, size) = (BpfCmd::OBJ_GET_INFO_BY_FD.0, size_of_val(&argument) as u32);
    // SAFETY: the kernel reads and writes `size` bytes of the argument, and writes at most `info_len`
    // bytes to `info`. Both are live and mutable, and any bytes are a value of their types. All bytes of
    // `info` are 0, so the kernel finds no pointer in it, whatever the object is.
    let done = unsafe { syscall(number(__NR_bpf), command, &raw mut argument, size) };
    if done == 0 {
        Ok(info)
    } else {
        Err(Error::System { call: Call::BpfObjGetInfoByFd, errno: last_errno() })
    }
}
