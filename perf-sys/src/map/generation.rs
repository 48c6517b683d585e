//! The generation of a process, a number by which a mapping recognizes a child of `fork`.
//!
//! The kernel does not copy perf mappings to a child (`VM_DONTCOPY` in `perf_mmap`), but the values
//! that own them are copied. A page that the kernel does zero in the child (`MADV_WIPEONFORK`,
//! Linux 4.14) holds the generation: 0 in a child until it takes the next number. This also works
//! for a child of the bare `clone` system call. A child that shares the address space (`vfork`,
//! `CLONE_VM`) shares the mappings too, and keeps the generation.
//!
//! # Safety
//!
//! This file may use `unsafe` because it maps that page, and refers to it without owning it. The
//! page is written only through atomics and never unmapped once it is in [`MARKER`].
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::page_size;
use crate::error::{Call, Error, Result};

/// The page's first word, or null before the first mapping of this process and its ancestors.
static MARKER: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());
/// The last generation that was taken. A child copies it, so its own is greater than its parent's.
static LAST: AtomicU64 = AtomicU64::new(0);

// For perf-ring and perf-bpf, whose epolls and mappings need the same check.
#[doc(hidden)]
/// A generation of this process or of an ancestor: a number by which the owner of a mapping
/// recognizes a child of `fork`, also of the bare `clone` system call.
#[derive(Clone, Copy, Debug)]
pub struct Generation {
    marker: &'static AtomicU64,
    number: u64,
}

impl Generation {
    /// Returns the generation of the calling process.
    ///
    /// Call it before the mapping is made. After a `fork` between the two, a usable mapping looks
    /// foreign, not the reverse.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the first call of a process finds no memory for a page.
    pub fn current() -> Result<Self> {
        let marker = marker()?;
        let number = match marker.load(Ordering::Relaxed) {
            0 => {
                let next = LAST.fetch_add(1, Ordering::Relaxed) + 1;
                let taken = marker.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed);
                taken.map_or_else(|by_another_thread| by_another_thread, |_| next)
            }
            number => number,
        };
        Ok(Self { marker, number })
    }

    /// Returns whether the calling process is of this generation, by one relaxed load.
    #[inline]
    pub fn is_current(self) -> bool {
        self.marker.load(Ordering::Relaxed) == self.number
    }
}

/// Returns the marker. The first caller maps it. Not under a lock, because a child could inherit it
/// locked.
fn marker() -> Result<&'static AtomicU64> {
    if let Some(marker) = known() {
        return Ok(marker);
    }
    let page = new_page().map_err(Error::of(Call::Mmap))?;
    // The kernel zeroed the page, so no store to it precedes its publication.
    let published =
        MARKER.compare_exchange(null_mut(), page.as_ptr().cast(), Ordering::Release, Ordering::Relaxed);
    if published.is_err() {
        // SAFETY: exactly what `new_page` mapped; another thread published first, so nothing refers
        // to it.
        let unmapped = unsafe { munmap(page.as_ptr(), page_size()) };
        debug_assert_eq!(unmapped, Ok(()), "munmap of a whole mapping");
    }
    known().ok_or(Error::Forked) // never null again; the error is for the type only
}

fn known() -> Option<&'static AtomicU64> {
    let marker = NonNull::new(MARKER.load(Ordering::Acquire))?;
    // SAFETY: aligned because pages are; mapped for the life of the process and copied to children;
    // any bytes are an `AtomicU64`.
    Some(unsafe { marker.as_ref() })
}

/// Maps a zeroed page that is zero in a child.
fn new_page() -> rustix::io::Result<NonNull<c_void>> {
    let writable = ProtFlags::READ.union(ProtFlags::WRITE);
    // SAFETY: the kernel chooses the address, so no memory in use is mapped over.
    let page = unsafe { mmap_anonymous(null_mut(), page_size(), writable, MapFlags::PRIVATE) }?;
    let page = NonNull::new(page).ok_or(Errno::FAULT)?; // never without MAP_FIXED
    // SAFETY: exactly the page that was just mapped. The advice changes nothing in this process.
    let advised = unsafe { madvise(page.as_ptr(), page_size(), Advice::LinuxWipeOnFork) };
    advised.or_else(|_| wipe_by_handler())?;
    Ok(page)
}

/// Registers a handler of the C library that wipes the marker, for kernels before 4.14. The bare
/// `clone` system call does not run it.
fn wipe_by_handler() -> rustix::io::Result<()> {
    /// Runs in the child, before `fork` returns there.
    extern "C" fn wipe() {
        if let Some(marker) = known() {
            marker.store(0, Ordering::Relaxed);
        }
    }
    // SAFETY: the handler takes no lock, does not allocate and does not unwind.
    match unsafe { libc::pthread_atfork(None, None, Some(wipe)) } {
        0 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno)),
    }
}

#[cfg(test)]
mod tests {
    //! Each test forks. The children exit without returning to the test harness.

    use super::*;
    use crate::child::{exits_with_0, in_child};

    fn number() -> Option<u64> {
        Generation::current().ok().map(|generation| generation.number)
    }

    #[test]
    fn a_process_has_one_generation_and_its_child_another() {
        let own = Generation::current().unwrap();
        assert_eq!(number(), Some(own.number));
        assert!(own.is_current());
        assert!(in_child(|| !own.is_current() && number() > Some(own.number) && !own.is_current()));
        assert!(own.is_current(), "the child changed its copy only");
    }

    #[test]
    fn generation_of_a_grandchild_is_new() {
        let own = Generation::current().unwrap();
        assert!(in_child(|| {
            let Ok(child) = Generation::current() else { return false };
            in_child(|| !own.is_current() && !child.is_current() && number() > Some(child.number))
        }));
    }

    #[test]
    fn generation_of_a_grandchild_is_new_if_the_child_took_none() {
        let own = Generation::current().unwrap();
        assert!(in_child(|| in_child(|| !own.is_current() && number() > Some(own.number))));
    }

    #[test]
    fn a_child_of_the_bare_system_call_is_recognized() {
        let own = Generation::current().unwrap();
        // SAFETY: without CLONE_VM it is fork, except that the C library's handlers do not run.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        let child = libc::pid_t::try_from(child).unwrap();
        if child == 0 {
            let code = i32::from(own.is_current());
            // SAFETY: ends the child without unwinding into the harness.
            unsafe { libc::_exit(code) }
        }
        assert!(exits_with_0(child));
    }

    #[test]
    fn handler_wipes_if_the_kernel_does_not() {
        Generation::current().unwrap();
        let keep = || {
            let marker = NonNull::from(known()?).cast();
            // SAFETY: the marker's page.
            unsafe { madvise(marker.as_ptr(), page_size(), Advice::LinuxKeepOnFork) }.ok()
        };
        // In a child, because neither can be undone.
        assert!(in_child(|| {
            let Ok(own) = Generation::current() else { return false };
            keep().is_some()
                && in_child(|| own.is_current())
                && wipe_by_handler().is_ok()
                && in_child(|| !own.is_current())
        }));
    }

    #[test]
    fn threads_of_a_process_agree_on_its_generation() {
        let threads = [(); 4].map(|()| std::thread::spawn(number));
        let found = threads.map(|thread| thread.join().unwrap());
        assert_eq!(found, [number(); 4]);
    }
}
