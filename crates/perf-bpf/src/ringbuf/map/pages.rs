//! Pages of a ring buffer map in this process, and atomic loads from them.
//!
//! # Safety
//!
//! This file may use `unsafe` because it maps memory that the kernel and other processes write.
//! [`Pages`] lends only [`Here`], the proof that the pages exist in this process, with raw pointers
//! and atomic accesses. Loads have at most the size that std allows on read-only pages ("Atomic
//! accesses to read-only memory" in [`core::sync::atomic`]): 8 bytes on 64-bit targets, 4 on
//! others.

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::os::fd::BorrowedFd;

use perf_ring::sys::{Error as SysError, Generation};
use perf_ring::{Call, Errno};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::{Error, Result};

/// Set if the target may load 8 bytes.
const WHOLE: bool = cfg!(target_pointer_width = "64");

/// Whole pages of a map, unmapped on drop by the process that mapped them.
#[derive(Debug)]
pub(super) struct Pages {
    base: NonNull<c_void>,
    /// Length in bytes.
    len: usize,
    /// Generation of the process that mapped the pages. The kernel may not copy them to a child of
    /// `fork`.
    generation: Generation,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Pages {}
// SAFETY: a shared `Pages` lends nothing but pointers and atomic accesses.
unsafe impl Sync for Pages {}

impl Pages {
    /// Protection of the reader's page.
    pub(super) const WRITABLE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
    /// Protection of the kernel's page and of the data.
    pub(super) const READ_ONLY: ProtFlags = ProtFlags::READ;

    /// `mmap(NULL, len, protection, MAP_SHARED, fd, offset)`
    pub(super) fn map(fd: BorrowedFd<'_>, len: usize, protection: ProtFlags, offset: usize) -> Result<Self> {
        let generation = Generation::current()?;
        // SAFETY: the kernel chooses the address, so no memory in use is mapped over.
        let base = unsafe { mmap(null_mut(), len, protection, MapFlags::SHARED, fd, offset as u64) };
        // The kernel never maps page 0 without MAP_FIXED; the error is for the type only.
        let base = base.and_then(|base| NonNull::new(base).ok_or(rustix::io::Errno::FAULT));
        let base = base.map_err(|errno| refused(errno.into()))?;
        Ok(Self { base, len, generation })
    }

    /// Returns the proof that the calling process has these pages.
    ///
    /// # Errors
    ///
    /// [`Forked`](perf_ring::sys::Error::Forked) in a child of `fork`.
    #[inline]
    pub(super) fn here(&self) -> Result<Here<'_>> {
        if self.generation.is_current() { Ok(Here(self)) } else { Err(SysError::Forked.into()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // In a child of `fork` other memory may have these addresses.
        if self.generation.is_current() {
            // SAFETY: exactly what this process mapped, and all borrows of it have ended.
            let unmapped = unsafe { munmap(self.base.as_ptr(), self.len) };
            debug_assert_eq!(unmapped, Ok(()), "munmap of a whole mapping");
        }
    }
}

/// Returns the error of a failed `mmap`.
pub(super) fn refused(errno: Errno) -> Error {
    SysError::System { call: Call::Mmap, errno }.into()
}

/// A proof that the calling process has the pages, and is not a child of the process that mapped
/// them.
///
/// It is checked once per operation. No value that holds one is returned from this crate, because
/// the caller may fork.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'m>(&'m Pages);

impl<'m> Here<'m> {
    /// Returns the address `offset` bytes after the start. It is valid if `offset` is inside the
    /// mapping.
    #[inline]
    pub(super) fn at<T>(self, offset: usize) -> *mut T {
        self.0.base.as_ptr().wrapping_byte_add(offset).cast()
    }

    /// Returns the first word of pages that are [`WRITABLE`](Pages::WRITABLE): the reader's
    /// position.
    pub(super) fn position(self) -> &'m AtomicU64 {
        // SAFETY: the first word of a page; mapped in this process as long as `'m`; this process
        // accesses the word only atomically.
        unsafe { AtomicU64::from_ptr(self.at(0)) }
    }

    /// Loads the first word, relaxed; on 32-bit targets its lower half, which all that follow are.
    #[inline]
    pub(super) fn load_position(self) -> u64 {
        if WHOLE { self.load_whole(0) } else { u64::from(self.load_half(0)) }
    }

    /// Loads the word at `offset`, relaxed. `offset` is a multiple of 8 inside the mapping.
    ///
    /// If the word is being written, a 32-bit target may load one half from before and one from
    /// after.
    #[inline]
    pub(super) fn load_data(self, offset: usize) -> u64 {
        if WHOLE {
            self.load_whole(offset)
        } else {
            u64::from(self.load_half(offset)) | u64::from(self.load_half(offset + 4)) << 32
        }
    }

    #[inline]
    fn load_whole(self, offset: usize) -> u64 {
        let word = self.at(offset);
        // SAFETY: inside the mapping, which this process has; aligned because pages and the offset
        // are; this process writes it only atomically. Only where std allows 8 bytes.
        unsafe { AtomicU64::from_ptr(word) }.load(Ordering::Relaxed)
    }

    /// Loads the `u32` at `offset`, relaxed. `offset` is a multiple of 4 inside the mapping.
    #[inline]
    pub(super) fn load_half(self, offset: usize) -> u32 {
        let half = self.at(offset);
        // SAFETY: as in `load_whole`; std allows 4 bytes on all targets. No access of another size
        // by this process races with it, because only the kernel and other processes write
        // meanwhile.
        unsafe { AtomicU32::from_ptr(half) }.load(Ordering::Relaxed)
    }
}
