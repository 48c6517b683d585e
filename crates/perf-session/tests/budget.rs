//! The limit of locked memory. This test has its own process, whose limit it lowers.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use perf_session::ring::{Errno, Event, Ring, Target};
use perf_session::{Cause, MemlockLimit, System, explain_map, map_largest};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::explain::{OWN, as_nobody, assert_explains};

fn event() -> Event {
    Event::open(&OWN, Target::calling_thread()).unwrap()
}

fn memory() -> MemlockLimit {
    MemlockLimit::read(&System::new()).unwrap()
}

/// One test, because all use the limit of the process and the allowance of the user.
#[test]
fn budget_is_that_of_the_kernel() {
    as_nobody(|| {
        let memory_now = memory();
        if memory_now.is_unlimited() {
            return eprintln!("skipped: {memory_now}");
        }
        if memory_now.mapped().bytes > 0 || memory_now.mapped().unreadable > 0 {
            return eprintln!("skipped: nobody has other rings: {memory_now}");
        }
        let limit = getrlimit(Resource::Memlock);
        // Nothing beyond the allowance, and some pages beyond it.
        for bytes in [0, 64 * perf_session::ring::sys::page_size() as u64] {
            if limit.maximum.is_some_and(|maximum| maximum < bytes) {
                return eprintln!("skipped: the limit of locked memory is {limit:?}");
            }
            setrlimit(Resource::Memlock, Rlimit { current: Some(bytes), ..limit }).unwrap();
            one_ring_fits_as_computed();
            several_rings_fit_as_computed();
        }
    });
}

/// The largest ring that the kernel maps has the size in the budget.
fn one_ring_fits_as_computed() {
    let budget = memory();
    let fits = budget.data_pages(1, 1 << 14).unwrap();
    if fits == 1 << 14 {
        return eprintln!("skipped: 16384 pages fit: {budget}");
    }
    let failed = Ring::map(event(), 2 * fits).unwrap_err();
    assert_eq!(failed.error.errno(), Some(Errno::EPERM), "{budget}");
    let explanation = explain_map(&System::new(), &failed, 2 * fits);
    let words = [format!("map at most {fits} data pages"), "perf_event_mlock_kb".to_owned()];
    assert_explains(&explanation, Cause::MemlockLimit, &[&words[0], &words[1]]);
    let ring = Ring::map(failed.value, fits).unwrap();
    let after = memory();
    assert_eq!(after.mapped().own_bytes, ((fits + 1) * perf_session::ring::sys::page_size()) as u64);
    assert!(after.available() < budget.available(), "{after}");
    drop(ring);
    assert_eq!(memory(), budget, "unmapped");
}

/// All rings have the largest size that fits, and the outcome is reported.
fn several_rings_fit_as_computed() {
    for count in [2, 3, 5] {
        let budget = memory();
        let fits = budget.data_pages(count, 1 << 14).unwrap();
        let mapped = map_largest((0..count).map(|_| event()), 1..=1 << 14).unwrap();
        assert_eq!(
            (mapped.rings.len(), mapped.size.data_pages, mapped.size.asked),
            (count, fits, 1 << 14),
            "{budget}"
        );
        assert_eq!(mapped.size.reason.and_then(|error| error.errno()), Some(Errno::EPERM));
        assert!(mapped.to_string().contains("16384 requested: mmap"), "{mapped}");
        drop(mapped);
        let failed = map_largest((0..count).map(|_| event()), 2 * fits..=1 << 14).unwrap_err();
        assert_eq!((failed.error.errno(), failed.events.len()), (Some(Errno::EPERM), count));
        assert!(failed.index < count && failed.data_pages == 2 * fits, "{failed}");
        // The events are without rings and can be mapped.
        let mapped = map_largest(failed.events, fits..=fits).unwrap();
        assert!(mapped.size.reason.is_none(), "{mapped}");
    }
}
