//! The limit of locked memory. This test has its own process, whose limit it lowers.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;
mod work;

use perf_sys::{Call, Errno, Event, Ring, Target};
use rustix::process::Resource;
use support::{as_nobody, open_or_skip, with_limit};
use work::faults;

#[test]
fn error_at_the_limit_of_locked_memory_names_it() {
    as_nobody(|level| {
        if !(0..=2).contains(&level) {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        if open_or_skip(&faults(), Target::calling_thread()).is_none() {
            return;
        }
        // The remaining limit is perf_event_mlock_kb for each CPU, which all rings of the user
        // share.
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
