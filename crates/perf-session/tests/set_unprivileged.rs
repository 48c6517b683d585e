//! Sets of a user without capabilities.

#![allow(clippy::unwrap_used)] // a failure here fails the test

mod support;

use std::fs;
use std::thread;

use perf_session::ring::{AttrFlags, Errno, Software};
use perf_session::{EventSetOptions, EventSetTarget, EventSpec, System};
use rustix::process::{Resource, Uid, getrlimit};
use rustix::thread::set_thread_res_uid;
use support::set::{open_or_skip, refused, software};
use support::skip;

/// Runs `test` in a new thread as the user `nobody`, with the level of `perf_event_paranoid`.
fn as_nobody(test: impl FnOnce(i32) + Send + 'static) {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    let own = software(Software::DUMMY).map_attr(|attr| attr.with_flags(AttrFlags::EXCLUDE_KERNEL));
    if open_or_skip(EventSetOptions::new().event(own).target(EventSetTarget::calling_thread())).is_none() {
        return;
    }
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    let level = level.trim().parse().unwrap();
    let thread = thread::spawn(move || {
        let nobody = Uid::from_raw(65534);
        // Make the system call directly, because it changes only this thread.
        match set_thread_res_uid(nobody, nobody, nobody) {
            Ok(()) => test(level),
            Err(error) => skip(format_args!("becoming nobody: {error}")),
        }
    });
    thread.join().unwrap();
}

#[test]
fn rings_are_as_large_as_the_limit_of_locked_memory_permits() {
    as_nobody(|level| {
        let limit = getrlimit(Resource::Memlock).current;
        if level < 0 || limit.is_none_or(|bytes| bytes > 64 << 20) {
            return eprintln!("skipped: locked memory is not limited");
        }
        let event = software(Software::PAGE_FAULTS)
            .map_attr(|attr| attr.with_period(1).with_flags(AttrFlags::EXCLUDE_KERNEL));
        let options = EventSetOptions::new().event(event).target(EventSetTarget::calling_thread());
        let most = 1 << 16; // 256 MiB and more
        let Ok(set) = options.clone().ring_pages_within(1..=most).open() else {
            return eprintln!("skipped: another program of nobody has locked the memory");
        };
        let size = set.ring_size().unwrap();
        assert!(size.data_pages < most && size.asked == most, "{size:?}");
        assert!(size.reason.is_some(), "{size:?}");
        drop(set);
        let error = refused(options.ring_pages(most));
        assert_eq!(error.event().unwrap().data_pages, most);
        let explanation = error.explain(&System::new()).unwrap();
        assert!(explanation.is_known(), "{explanation}");
    });
}

#[test]
fn all_cpus_need_a_permission_that_is_explained() {
    as_nobody(|level| {
        if level < 1 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let error = refused(EventSetOptions::new().event(software(Software::CPU_CLOCK)));
        let errno = error.call().and_then(perf_session::ring::Error::errno);
        assert_eq!(errno, Some(Errno::EACCES), "{error}");
        let explanation = error.explain(&System::new()).unwrap();
        assert_eq!(explanation.cause, perf_session::Cause::Paranoid, "{explanation}");
    });
}

#[test]
fn events_without_privilege_level_fall_back_to_user_space() {
    as_nobody(|level| {
        if level < 2 {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        let faults = |flags| software(Software::PAGE_FAULTS).map_attr(|attr| attr.with_flags(flags));
        let own = |events: Vec<EventSpec>| {
            EventSetOptions::new()
                .events(events)
                .target(EventSetTarget::calling_thread())
                .user_only_if_refused()
        };
        let all = own(vec![faults(AttrFlags::empty())]);
        let mut set = all.clone().open().unwrap();
        assert!(set.is_user_only() && set.names()[0].ends_with(":u"), "{:?}", set.names());
        set.enable().unwrap();
        std::hint::black_box(vec![1_u8; 1 << 22]);
        let counts = set.counts().unwrap();
        assert!(counts.get(0).unwrap().total().value > 100 && counts.to_string().contains(":u"), "{counts}");

        // An event of the kernel is refused, and not turned into an event of user space.
        let kernel = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_HV;
        for events in [vec![faults(kernel)], vec![faults(AttrFlags::empty()), faults(kernel)]] {
            let error = refused(own(events));
            let event = error.event().unwrap();
            assert_eq!((event.error.errno(), event.attr.flags & kernel), (Some(Errno::EACCES), kernel));
        }

        // If user space is refused too, the error has the limit that still holds.
        let error = refused(all.target(EventSetTarget::all_cpus()));
        assert!(error.event().unwrap().attr.flags.contains(AttrFlags::EXCLUDE_KERNEL), "{error}");
    });
}
