//! The end of the memory that a user may lock: alone in its process, whose limit it lowers.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;
mod work;

use perf_sys::{Call, Errno, Event, Ring, Target};
use rustix::process::Resource;
use support::{as_nobody, open_or_skip, with_limit};
use work::faults;

#[test]
fn a_ring_of_more_memory_than_may_be_locked_is_refused_with_its_cause() {
    as_nobody(|level| {
        if !(0..=2).contains(&level) {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        if open_or_skip(&faults(), Target::calling_thread()).is_none() {
            return;
        }
        // What remains is perf_event_mlock_kb for each CPU, which all rings of the user share.
        let refused = with_limit(Resource::Memlock, 0, || {
            (0..=16).find_map(|power| {
                let event = Event::open(&faults(), Target::calling_thread()).unwrap();
                Ring::map(event, 1 << power).err().map(|refused| refused.error)
            })
        });
        let Some(error) = refused else {
            return eprintln!("skipped: perf_event_mlock_kb is enough for 65536 pages");
        };
        assert_eq!((error.call(), error.errno()), (Some(Call::Mmap), Some(Errno::EPERM)));
        let text = error.to_string();
        for word in ["perf_event_mlock_kb", "RLIMIT_MEMLOCK", "fewer pages"] {
            assert!(text.contains(word), "{text}");
        }
    });
}
