//! A stream of events that needs no permission: the page faults of a thread.
//!
//! # Safety
//!
//! This file may use `unsafe` because it touches memory that it maps for nothing else.

use std::ffi::c_void;
use std::io::Result;
use std::ptr::null_mut;

use perf_abi::{Attr, AttrFlags, SampleType, Software};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

/// Returns the attr of an event with one sample per fault in user space, 56 bytes long, and a
/// wakeup at `watermark` unread bytes.
pub const fn attr(watermark: u32) -> Attr {
    let fields = SampleType::IP.union(SampleType::TID).union(SampleType::TIME).union(SampleType::ADDR);
    Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(fields.union(SampleType::CPU).union(SampleType::PERIOD))
        .with_wakeup_watermark(watermark)
        .with_flags(AttrFlags::DISABLED.union(AttrFlags::EXCLUDE_KERNEL).union(AttrFlags::EXCLUDE_HV))
}

/// Length of a sample of [`attr`] in bytes.
pub const SAMPLE: usize = 56;

/// Memory whose pages are mapped when they are read, each with one fault at another address.
pub struct Faults {
    base: *mut c_void,
    /// Next page to read.
    next: usize,
}

const PAGES: usize = 4096;

impl Faults {
    /// Maps the memory.
    pub fn new() -> Result<Self> {
        // SAFETY: new memory, at an address that the kernel chooses.
        let base = unsafe { mmap_anonymous(null_mut(), Self::bytes(), ProtFlags::READ, MapFlags::PRIVATE) }?;
        let faults = Self { base, next: 0 };
        // SAFETY: the range is our whole mapping, and the call only forbids huge pages, which take
        // one fault for many pages. A kernel without huge pages returns an error.
        let _ = unsafe { madvise(base, Self::bytes(), Advice::LinuxNoHugepage) };
        Ok(faults)
    }

    fn bytes() -> usize {
        PAGES * page_size()
    }

    /// Causes faults by reading. The kernel then maps its zero page instead of clearing a new page,
    /// which would evict the rings from the caches.
    pub fn make(&mut self, faults: usize) {
        for _ in 0..faults {
            if self.next == PAGES {
                // SAFETY: the range is our whole mapping, and nothing borrows it. The counts would
                // show a failure.
                let _ = unsafe { madvise(self.base, Self::bytes(), Advice::LinuxDontNeed) };
                self.next = 0;
            }
            let page = self.base.wrapping_byte_add(self.next * page_size()).cast::<u8>();
            // SAFETY: the address is inside our mapping, which is readable and zero.
            unsafe { page.read_volatile() };
            self.next += 1;
        }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        // SAFETY: the range is exactly our mapping, which is no longer used.
        let _ = unsafe { munmap(self.base, Self::bytes()) };
    }
}
