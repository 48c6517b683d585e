//! Rings of one size where no limit applies. Where one does: see `budget.rs`.

use crate::support::explain::{OWN, may_open};
use perf_session::ring::sys::Error as SysError;
use perf_session::ring::{Error, Event, Target};
use perf_session::{RingSize, map_largest, map_largest_ring};

fn events(count: usize) -> Vec<Event> {
    (0..count).map(|_| Event::open(&OWN, Target::calling_thread()).unwrap()).collect()
}

#[test]
fn requested_size_is_mapped_if_it_fits() {
    if !may_open() {
        return;
    }
    let mapped = map_largest(events(3), 1..=2).unwrap();
    let RingSize { data_pages, asked, reason, .. } = mapped.size;
    assert_eq!((mapped.rings.len(), data_pages, asked, reason), (3, 2, 2, None));
    assert_eq!(mapped.to_string(), "3 rings of 2 data pages");
    assert!(mapped.rings.iter().all(|ring| ring.data_size() == 2 * perf_session::ring::sys::page_size()));
    assert!(map_largest(events(0), 1..=2).unwrap().rings.is_empty());
}

#[test]
fn error_that_no_smaller_ring_avoids_ends_at_once() {
    if !may_open() {
        return;
    }
    let failed = map_largest(events(2), 1..=12).unwrap_err();
    assert_eq!(
        (failed.error, failed.index, failed.data_pages),
        (Error::Sys(SysError::PageCount { found: 12 }), 0, 12)
    );
    assert_eq!(failed.events.len(), 2);
    assert!(failed.to_string().starts_with("ring 1 of 2, 12 data pages: "), "{failed}");
    // The second event has a ring elsewhere.
    let [first, second] = <[_; 2]>::try_from(failed.events).unwrap();
    let ring = perf_session::ring::Ring::map(second.clone(), 1).unwrap();
    let failed = map_largest([first, second], 1..=1).unwrap_err();
    assert_eq!((failed.error, failed.index), (Error::Sys(SysError::RingInUse), 1));
    drop(ring);
    assert_eq!(map_largest(failed.events, 1..=1).unwrap().rings.len(), 2, "the first was unmapped again");
}

#[test]
fn one_ring_is_mapped_as_several_are() {
    if !may_open() {
        return;
    }
    let event = Event::open(&OWN, Target::calling_thread()).unwrap();
    let failed = map_largest_ring(event, 1..=12).unwrap_err();
    assert_eq!((failed.error, failed.index), (Error::Sys(SysError::PageCount { found: 12 }), 0));
    let [event] = <[_; 1]>::try_from(failed.events).unwrap();
    assert_eq!(map_largest_ring(event, 1..=2).unwrap().data_size(), 2 * perf_session::ring::sys::page_size());
}
