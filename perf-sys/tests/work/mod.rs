//! Work that the counting tests do, of which they know how much it counts.

#![allow(dead_code)] // every test file uses a part of it
#![allow(clippy::unwrap_used)] // a failure here is the test's

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::ptr;

use perf_abi::{Attr, AttrFlags, Software};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

/// An event that nobody needs a permission for, not counting yet.
pub(crate) fn user_side(attr: Attr) -> Attr {
    attr.with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

/// Page faults of user space, not counted yet: [`touch`] makes them.
pub(crate) fn faults() -> Attr {
    user_side(Attr::software(Software::PAGE_FAULTS))
}

/// Makes a page fault for each of `pages` fresh pages.
pub(crate) fn touch(pages: usize) {
    let len = pages * page_size();
    // SAFETY: new memory, at an address of the kernel's choice.
    let base = unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::all(), MapFlags::PRIVATE) }.unwrap();
    // SAFETY: it only forbids huge pages, one fault for many. A kernel without them refuses.
    let _ = unsafe { madvise(base, len, Advice::LinuxNoHugepage) };
    for page in 0..pages {
        // SAFETY: inside the mapping.
        let byte = unsafe { base.cast::<u8>().add(page * page_size()) };
        // SAFETY: nobody else knows of the mapping.
        unsafe { byte.write_volatile(1) };
    }
    // SAFETY: exactly what was mapped, and no longer used.
    unsafe { munmap(base, len) }.unwrap();
}

/// Something to do for the CPU, which no compiler takes away.
pub(crate) fn spin(rounds: u64) {
    std::hint::black_box((0..rounds).fold(0, |sum: u64, n| sum ^ n.wrapping_mul(sum | 1)));
}

/// A child process that waits for a word before it becomes another program, and ends.
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
