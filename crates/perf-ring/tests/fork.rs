//! Rings and counter pages in a child of `fork`, which does not have their mappings.
//!
//! The children report by their exit code and print nothing, because the test harness has other
//! threads.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use core::ffi::c_void;
use std::sync::Arc;
use std::thread;

use perf_abi::{Attr, AttrFlags, MmapCapabilities, Software};
use perf_ring::{Error, Event, RdpmcCounter, Ring, SnapshotRing, Target, sys};
use rustix::param::page_size;
use support::{PATIENCE, in_child, kinds, own, switch, switch_ring, switches};

/// Memory of a child at given addresses, filled with a pattern.
struct Foreign(*mut u8, usize);

impl Foreign {
    const PATTERN: u8 = 0xa5;

    /// Maps the memory, or returns `None` if the addresses are in use.
    fn map(base: *mut u8, len: usize) -> Option<Self> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let flags = flags | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: MAP_FIXED_NOREPLACE maps over no memory in use.
        let found = unsafe { libc::mmap(base.cast::<c_void>(), len, protection, flags, -1, 0) };
        if found != base.cast() {
            return None;
        }
        // SAFETY: just mapped.
        unsafe { base.write_bytes(Self::PATTERN, len) };
        Some(Self(base, len))
    }

    /// Returns whether the memory is still mapped and unchanged.
    fn is_unharmed(&self) -> bool {
        let mut resident = [0; 16];
        // SAFETY: `resident` has a byte for each page; the call fails if one is not mapped.
        if unsafe { libc::mincore(self.0.cast(), self.1, resident.as_mut_ptr()) } != 0 {
            return false;
        }
        // SAFETY: mapped, as the call found.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }.iter().all(|&byte| byte == Self::PATTERN)
    }
}

/// Returns the first address of the mapping of a ring of one page that has been read from its
/// start.
fn base(ring: &mut Ring) -> *mut u8 {
    let mut batch = ring.batch().unwrap();
    let first = batch.records().next().unwrap().unwrap().words().as_ptr();
    std::mem::forget(batch); // releases nothing
    first.cast_mut().cast::<u8>().wrapping_sub(page_size())
}

#[test]
fn a_ring_is_refused_in_a_child_and_unharmed_in_the_parent() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(2);
    assert!(in_child(|| {
        ring.batch().err() == Some(sys::Error::Forked.into())
            && ring.wait(PATIENCE) == Err(sys::Error::Forked.into())
            && !ring.has_records()
    }));
    assert!(kinds(&mut ring).len() >= 2);
    switch(1);
    assert!(!kinds(&mut ring).is_empty(), "records still arrive");
}

#[test]
fn dropping_a_ring_in_a_child_unmaps_no_other_memory() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(1);
    let (base, len) = (base(&mut ring), 2 * page_size());
    let mut ring = Some(ring);
    assert!(in_child(|| {
        let Some(foreign) = Foreign::map(base, len) else { return false };
        drop(ring.take());
        foreign.is_unharmed()
    }));
    assert!(!kinds(ring.as_mut().unwrap()).is_empty());
}

#[test]
fn a_batch_in_a_child_reads_and_releases_nothing() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(3);
    let (base, len) = (base(&mut ring), 2 * page_size());
    let mut batch = ring.batch().unwrap();
    assert!(batch.records().next().is_some());
    let unread = batch.len();
    let mut batch = Some(batch);
    assert!(in_child(|| {
        let Some(foreign) = Foreign::map(base, len) else { return false };
        let Some(mut batch) = batch.take() else { return false };
        let has_none = batch.records().next().is_none();
        batch.release();
        drop(batch);
        has_none && foreign.is_unharmed()
    }));
    assert!(batch.as_ref().is_some_and(|batch| batch.len() == unread));
    drop(batch);
    assert!(kinds(&mut ring).len() >= 2, "the first was released, by the parent");
}

#[test]
fn a_child_and_its_child_map_their_own_rings() {
    /// Returns whether the calling process can read records of a new event.
    fn reads() -> bool {
        let Ok(event) = Event::open(&switches(), Target::calling_thread()) else { return false };
        let Ok(mut ring) = Ring::map(event, 1) else { return false };
        let enabled = ring.event().enable().is_ok();
        thread::sleep(std::time::Duration::from_millis(1));
        let has_records = ring.has_records();
        enabled && has_records && ring.batch().is_ok_and(|mut batch| batch.records().count() > 0)
    }
    let Some(mut ring) = switch_ring(1) else { return };
    assert!(in_child(|| {
        let of_the_child = Event::open(&switches(), Target::calling_thread());
        let Some(mut childs) = of_the_child.ok().and_then(|event| Ring::map(event, 1).ok()) else {
            return false;
        };
        reads()
            && ring.batch().err() == Some(sys::Error::Forked.into())
            && childs.batch().is_ok()
            && in_child(|| {
                reads()
                    && ring.batch().err() == Some(sys::Error::Forked.into())
                    && childs.batch().err() == Some(sys::Error::Forked.into())
            })
    }));
    switch(1);
    assert!(!kinds(&mut ring).is_empty());
}

#[test]
fn reading_record_by_record_in_a_child_reads_consumes_and_releases_nothing() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(3);
    let (base, len) = (base(&mut ring), 2 * page_size());
    assert!(ring.next_record().unwrap().is_some());
    assert!(in_child(|| {
        let Some(foreign) = Foreign::map(base, len) else { return false };
        let has_none = ring.peek_record() == Ok(None) && ring.next_record() == Ok(None);
        ring.release();
        let mut copy = Vec::new();
        let is_refused =
            ring.batch().err() == Some(sys::Error::Forked.into()) && ring.copy_into(&mut copy).is_err();
        has_none && is_refused && copy.is_empty() && foreign.is_unharmed()
    }));
    assert!(ring.next_record().unwrap().is_some());
}

#[test]
fn a_snapshot_is_refused_before_the_parents_ring_is_paused() {
    let attr = switches().with_flags(AttrFlags::WRITE_BACKWARD);
    let Some(event) = own(&attr) else { return };
    let mut recorder = SnapshotRing::map(event, 1).unwrap();
    recorder.event().enable().unwrap();
    switch(1);
    assert!(in_child(|| recorder.snapshot().err() == Some(sys::Error::Forked.into())));
    let before = recorder.snapshot().unwrap().records().unwrap().count();
    switch(1);
    let mut snapshot = recorder.snapshot().unwrap();
    assert!(snapshot.records().unwrap().count() > before);
}

#[test]
fn a_user_counter_is_refused_in_a_child() {
    let attr = Attr::software(Software::TASK_CLOCK);
    let Some(event) = own(&attr) else { return };
    let counter = RdpmcCounter::map(&event).unwrap();
    assert!(in_child(|| {
        counter.read() == Err(sys::Error::Forked.into())
            && counter.try_read().is_none()
            && counter.capabilities() == MmapCapabilities::empty()
            && counter.time_conversion().is_none()
    }));
    assert!(counter.read().is_ok());
}

#[test]
fn an_event_of_the_parent_is_neither_mapped_nor_redirected_in_a_child() {
    let Some(event) = own(&switches()) else { return };
    let Some(ring) = switch_ring(1) else { return };
    let (event, mut ring) = (Arc::new(event), Some(ring));
    assert!(in_child(|| {
        let Some(ring) = ring.take() else { return false };
        let mapped = Arc::clone(ring.event());
        drop(ring);
        let refused = |event: &Arc<Event>| Ring::map(Arc::clone(event), 1).err().map(Error::from);
        refused(&event) == Some(sys::Error::Forked.into())
            && refused(&mapped) == Some(sys::Error::Forked.into())
            && RdpmcCounter::map(&event).err() == Some(sys::Error::Forked.into())
            && event.set_output(Some(&mapped)) == Err(sys::Error::Forked)
            && event.id().is_ok()
    }));
    assert!(event.set_output(Some(ring.unwrap().event())).is_ok());
}

#[test]
fn rings_are_resumed_if_one_cannot_be_copied() {
    fn recorder() -> Option<SnapshotRing> {
        let attr = switches().with_flags(AttrFlags::WRITE_BACKWARD);
        let recorder = SnapshotRing::map(own(&attr)?, 1).unwrap();
        recorder.event().enable().unwrap();
        Some(recorder)
    }
    fn records(recorder: &mut SnapshotRing) -> usize {
        recorder.snapshot().unwrap().records().unwrap().count()
    }
    let Some(mut parents) = recorder() else { return };
    assert!(in_child(|| {
        let Some(mut own) = recorder() else { return false };
        let refused = SnapshotRing::snapshot_all([&mut own, &mut parents]).err();
        switch(3);
        refused == Some(sys::Error::Forked.into()) && records(&mut own) >= 3
    }));
    switch(3);
    assert!(records(&mut parents) >= 3);
}

#[test]
fn a_set_is_refused_in_a_child_and_the_parent_still_waits() {
    let (Some(one), Some(other)) = (switch_ring(1), switch_ring(1)) else { return };
    let event = Event::open(&switches(), Target::calling_thread()).unwrap();
    let (mut set, mut other, mut event) = (support::set_of([one]), Some(other), Some(event));
    assert!(in_child(|| {
        let (Some(other), Some(event)) = (other.take(), event.take()) else { return false };
        set.add(1, other).err().map(Error::from) == Some(sys::Error::Forked.into())
            && set.redirect(&0, event).err().map(Error::from) == Some(sys::Error::Forked.into())
            && set.wait(PATIENCE) == Err(sys::Error::Forked.into())
            && set.ready().count() == 0
            && set.drain_sorted(|_| {}) == Err(sys::Error::Forked.into())
            && set.remove(&0).is_some()
    }));
    switch(200); // more than half of the ring
    assert_eq!(set.wait(PATIENCE), Ok(perf_ring::WaitResult::Readable), "the child removed nothing here");
}
