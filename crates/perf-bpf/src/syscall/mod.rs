//! `bpf(2)`: each command as one function.
//!
//! # Safety
//!
//! The files of this folder may use `unsafe` because rustix has no wrapper for the system call,
//! which the C library's `syscall` makes. The kernel reads and writes memory at addresses that are
//! numbers in the argument. Each function derives these numbers from references that live until the
//! call returns, and checks the lengths that the kernel derives from its own objects.
#![allow(unsafe_code)]

use core::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_ring::Errno;
use perf_ring::abi::bpf::BpfCmd;
use zerocopy::{FromBytes, Immutable, IntoBytes};

mod cpus;
mod map;
mod object;
mod program;

pub(crate) use cpus::{most_cpus, possible_cpus};
pub(crate) use map::Elements;
pub use map::MapFd;
pub(crate) use object::{
    fd_by_id, fd_by_id_command, info, link_create, next_id, next_id_command, obj_get, obj_pin,
    prog_functions, prog_info, raw_tracepoint_open, task_fd_query,
};
pub(crate) use program::{LoadFailure, enable_stats, prog_load, prog_test_run};

/// `bpf(command, attr, size)`—Returns the number that the kernel returned.
///
/// The size excludes the trailing zero bytes of the attr. The kernel takes absent bytes as zero,
/// and an old kernel refuses unknown fields unless they are zero and inside its own size. Fields
/// that the kernel writes do not depend on the size.
///
/// # Safety
///
/// `attr` must be the argument of `command`, and all addresses in it valid for the kernel's reads
/// and writes until the call returns.
unsafe fn bpf<A: FromBytes + IntoBytes + Immutable>(command: BpfCmd, attr: &mut A) -> Result<c_int, Errno> {
    let size = used_size(attr.as_bytes());
    // SAFETY: the caller's obligation.
    let found = unsafe { libc::syscall(libc::SYS_bpf, command.0, &raw mut *attr, size) };
    match c_int::try_from(found) {
        Ok(found) if found >= 0 => Ok(found),
        _ => Err(last_errno()),
    }
}

/// Like [`bpf`], for a command that returns a descriptor. The kernel sets close-on-exec.
///
/// # Safety
///
/// The obligations of [`bpf`], and the command must return a new descriptor.
unsafe fn bpf_fd<A: FromBytes + IntoBytes + Immutable>(
    command: BpfCmd,
    attr: &mut A,
) -> Result<OwnedFd, Errno> {
    // SAFETY: the caller's obligation.
    let fd = unsafe { bpf(command, attr) }?;
    // SAFETY: the kernel just made this descriptor, and no other code owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Returns the length without trailing zero bytes, a multiple of 4.
fn used_size(attr: &[u8]) -> u32 {
    let used = attr.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    used.next_multiple_of(4) as u32
}

fn last_errno() -> Errno {
    // A failed call always sets errno; the fallback is for the type only.
    io::Error::last_os_error().raw_os_error().map_or(Errno::EIO, Errno::from_raw_os_error)
}

/// Returns the address of bytes that the kernel reads. The kernel requires 0 for an absent key.
fn address(bytes: &[u8]) -> u64 {
    if bytes.is_empty() { 0 } else { bytes.as_ptr().expose_provenance() as u64 }
}

/// Returns the address of bytes that the kernel writes, 0 for an empty buffer.
fn address_mut(bytes: &mut [u8]) -> u64 {
    if bytes.is_empty() { 0 } else { bytes.as_mut_ptr().expose_provenance() as u64 }
}

/// Returns the number of a descriptor as arguments have it.
#[allow(clippy::cast_sign_loss)] // an open descriptor is not negative
pub(crate) fn number(fd: BorrowedFd<'_>) -> u32 {
    fd.as_raw_fd() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_zero_bytes_are_not_passed() {
        assert_eq!(used_size(&[0; 24]), 0);
        assert_eq!(used_size(&[1, 0, 0, 0, 0, 0, 0, 0]), 4);
        assert_eq!(used_size(&[0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0]), 8);
        assert_eq!(used_size(&[9; 12]), 12);
    }

    #[test]
    fn empty_bytes_have_address_0() {
        assert_eq!((address(&[]), address_mut(&mut [])), (0, 0));
        assert_ne!(address(&[0]), 0);
    }
}
