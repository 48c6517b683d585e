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

/// One sample for each fault in user space, 56 bytes long, with a wakeup at `watermark` unread bytes.
pub const fn attr(watermark: u32) -> Attr {
    let fields = SampleType::IP.union(SampleType::TID).union(SampleType::TIME).union(SampleType::ADDR);
    Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(fields.union(SampleType::CPU).union(SampleType::PERIOD))
        .with_wakeup_watermark(watermark)
        .with_flags(AttrFlags::DISABLED.union(AttrFlags::EXCLUDE_KERNEL).union(AttrFlags::EXCLUDE_HV))
}

/// Bytes of a sample of [`attr`].
pub const SAMPLE: usize = 56;

/// Memory whose pages are mapped when they are read: one fault and one address each.
pub struct Faults {
    base: *mut c_void,
    /// The next page to read.
    next: usize,
}

const PAGES: usize = 4096;

impl Faults {
    /// Maps the memory.
    pub fn new() -> Result<Self> {
        // SAFETY: new memory, at an address of the kernel's choice.
        let base = unsafe { mmap_anonymous(null_mut(), Self::bytes(), ProtFlags::READ, MapFlags::PRIVATE) }?;
        let faults = Self { base, next: 0 };
        // SAFETY: the whole of our mapping; this only forbids huge pages, which are one fault for many.
        // A kernel without them refuses.
        let _ = unsafe { madvise(base, Self::bytes(), Advice::LinuxNoHugepage) };
        Ok(faults)
    }

    fn bytes() -> usize {
        PAGES * page_size()
    }

    /// Makes faults by reading: the kernel then maps its page of zeroes and clears none, which would push the
    /// rings out of the caches.
    pub fn make(&mut self, faults: usize) {
        for _ in 0..faults {
            if self.next == PAGES {
                // SAFETY: the whole of our mapping, of which nothing is borrowed. A failure shows in the
                // counts.
                let _ = unsafe { madvise(self.base, Self::bytes(), Advice::LinuxDontNeed) };
                self.next = 0;
            }
            let page = self.base.wrapping_byte_add(self.next * page_size()).cast::<u8>();
            // SAFETY: inside our mapping, which is readable and zero.
            unsafe { page.read_volatile() };
            self.next += 1;
        }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and no longer used.
        let _ = unsafe { munmap(self.base, Self::bytes()) };
    }
}
