//! A hand-written loop over the mapped bytes, which trusts the kernel and checks nothing. It
//! measures the cost of the memory accesses and of [`Sum::add`].

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_bpf::ring::{Attr, Event, SampleType, Software, Target};
use perf_bpf::{BpfMapType, EventArray, MapFd, MapSpec};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use super::{Opened, PAGE, Sum};

const WRITABLE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// A mapping that lives as long as the process.
fn map(fd: impl AsFd, len: usize, prot: ProtFlags, offset: usize) -> rustix::io::Result<*mut u8> {
    // SAFETY: the kernel chooses the address.
    unsafe { mmap(ptr::null_mut(), len, prot, MapFlags::SHARED, fd, offset as u64) }.map(<*mut _>::cast)
}

/// Returns the position at `offset` in a mapping.
fn position(base: *mut u8, offset: usize) -> &'static AtomicU64 {
    // SAFETY: the offset is within the first page of a mapping that is never unmapped, and both
    // sides access it as one word.
    unsafe { AtomicU64::from_ptr(base.add(offset).cast()) }
}

pub fn array(pages: usize) -> Opened {
    let mut array = EventArray::create("bench".parse()?)?;
    let map_fd = array.as_fd().try_clone_to_owned()?;
    let attr = Attr::software(Software::BPF_OUTPUT).with_sample_type(SampleType::RAW).with_period(1);
    let event = Event::open(&attr.with_wakeup_events(1), Target::cpu(0))?;
    // SAFETY: the event is open, and nothing else maps its ring.
    let fd = unsafe { BorrowedFd::borrow_raw(event.as_raw_fd()) };
    let base = map(fd, PAGE * (1 + pages), WRITABLE, 0)?;
    event.enable()?;
    array.insert(0, &event)?;
    let mask = pages * PAGE - 1;
    let read = move |sum: &mut Sum| {
        let _kept = (&array, &event);
        let (head, tail) = (position(base, 1024), position(base, 1032));
        let (end, mut at) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        while at != end {
            // SAFETY: the data area follows the first page, and the offset in it is less than its
            // length.
            let header: u64 = unsafe { base.add(PAGE + (at as usize & mask)).cast::<u64>().read() };
            if header as u32 == 9 {
                // SAFETY: as for the header. Four bytes at a multiple of 4 do not wrap.
                sum.add(unsafe { &*base.add(PAGE + ((at as usize + 12) & mask)).cast::<[u8; 4]>() });
            }
            at += header >> 48;
        }
        tail.store(at, Ordering::Release);
    };
    Ok((map_fd, Box::new(read)))
}

pub fn ring(pages: usize) -> Opened {
    let map_fd = MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, (pages * PAGE) as u32))?.into_fd();
    let consumer = map(&map_fd, PAGE, WRITABLE, 0)?;
    let producer = map(&map_fd, PAGE * (1 + 2 * pages), ProtFlags::READ, PAGE)?;
    let mask = pages * PAGE - 1;
    let read = move |sum: &mut Sum| {
        let (head, tail) = (position(producer, 0), position(consumer, 0));
        let (end, mut at) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        while at != end {
            // SAFETY: the data area follows the first page, and the offset in it is less than its
            // length.
            let record = unsafe { producer.add(PAGE + (at as usize & mask)) };
            // SAFETY: the first half of the kernel's header is the length. No record is busy or
            // discarded.
            let len = unsafe { record.cast::<u32>().read() };
            // SAFETY: each record has at least 4 bytes, and the data area is mapped twice.
            sum.add(unsafe { &*record.add(8).cast::<[u8; 4]>() });
            at += (u64::from(len) + 8).next_multiple_of(8);
        }
        tail.store(at, Ordering::Release);
    };
    Ok((map_fd, Box::new(read)))
}
