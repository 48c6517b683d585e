//! Work of the counting tests with known counts.

#![allow(dead_code)] // each test file uses a part of it
#![allow(clippy::unwrap_used)] // a failure here fails the test

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::ptr;

use perf_abi::{Attr, AttrFlags, Software};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

/// Returns the attr for user space alone, which needs no permission, disabled.
pub(crate) fn user_side(attr: Attr) -> Attr {
    attr.with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

/// Returns the attr of page faults of user space, which [`touch`] makes, disabled.
pub(crate) fn faults() -> Attr {
    user_side(Attr::software(Software::PAGE_FAULTS))
}

/// Makes a page fault for each of `pages` fresh pages.
pub(crate) fn touch(pages: usize) {
    let len = pages * page_size();
    // SAFETY: new memory, at an address that the kernel chooses.
    let base = unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::all(), MapFlags::PRIVATE) }.unwrap();
    // SAFETY: only forbids huge pages, which take one fault for many pages. Fails on kernels
    // without them.
    let _ = unsafe { madvise(base, len, Advice::LinuxNoHugepage) };
    for page in 0..pages {
        // SAFETY: inside the mapping.
        let byte = unsafe { base.cast::<u8>().add(page * page_size()) };
        // SAFETY: no other code uses the mapping.
        unsafe { byte.write_volatile(1) };
    }
    // SAFETY: exactly what was mapped, and no longer used.
    unsafe { munmap(base, len) }.unwrap();
}

/// Computes for `rounds` rounds, which the compiler does not remove.
pub(crate) fn spin(rounds: u64) {
    std::hint::black_box((0..rounds).fold(0, |sum: u64, n| sum ^ n.wrapping_mul(sum | 1)));
}

/// A child process that waits for a word, then executes another program, and exits.
pub(crate) struct Waiting(Child);

impl Waiting {
    pub(crate) fn spawn() -> Self {
        let mut sh = Command::new("sh");
        Self(sh.args(["-c", "read word; exec true"]).stdin(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn go(mut self) -> ExitStatus {
        self.0.stdin.take().unwrap().write_all(b"go\n").unwrap();
        self.0.wait().unwrap()
    }
}
