//! Replacing a pinned map by one of other properties.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::prelude::*;

fn spec(max_entries: u32) -> MapSpec<'static> {
    MapSpec::new(BpfMapType::HASH, max_entries)
}

#[test]
fn a_map_that_cannot_be_created_leaves_the_pinned_one() {
    with_bpf_fs(|fs| {
        let Some((map, _)) = permitted(Pinned::open_or_create(fs.path("map").unwrap(), spec(64))) else {
            return;
        };
        map.update(&1, &10).unwrap();
        drop(map);
        let unknown = BpfMapFlags::from_bits_retain(1 << 30);
        for bad in [spec(1 << 31), spec(64).with_flags(unknown), spec(0)] {
            assert!(Pinned::open_or_create(fs.path("map").unwrap(), bad).is_err());
            assert!(Pinned::create_anew(fs.path("map").unwrap(), bad).is_err());
            let kept = Pinned::open_if_exists(fs.path("map").unwrap()).unwrap().unwrap();
            assert_eq!(kept.lookup(&1).unwrap(), Some(10));
        }
        assert_eq!(pin_names(fs), ["map"]);
    });
}

#[test]
fn the_path_is_never_without_a_map_while_it_is_replaced() {
    with_bpf_fs(|fs| {
        if permitted(Pinned::open_or_create(fs.path("map").unwrap(), spec(1))).is_none() {
            return;
        }
        let (done, opened) = (AtomicBool::new(false), AtomicU32::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    Pinned::open(fs.path("map").unwrap()).unwrap();
                    opened.fetch_add(1, Ordering::Relaxed);
                }
            });
            let _done = SetOnDrop(&done);
            for round in 0..1000 {
                let (_, outcome) =
                    Pinned::open_or_create(fs.path("map").unwrap(), spec(2 + round % 2)).unwrap();
                assert!(matches!(outcome, PinOutcome::Replaced(_)), "{outcome}");
            }
        });
        assert!(opened.into_inner() > 100);
    });
}

#[test]
fn a_device_map_is_not_replaced_because_the_kernel_adds_a_flag() {
    with_bpf_fs(|fs| {
        for (name, map_type) in [("devmap", BpfMapType::DEVMAP), ("devmap_hash", BpfMapType::DEVMAP_HASH)] {
            let spec = MapSpec::new(map_type, 4);
            let open = || PinnedMap::<u32, u32>::open_or_create(fs.path(name).unwrap(), spec);
            let Some((_, outcome)) = permitted(open()) else { return };
            assert_eq!(outcome, PinOutcome::Created);
            assert_eq!(open().unwrap().1, PinOutcome::Opened);
        }
    });
}

#[test]
fn a_refused_map_stays_and_is_in_the_error() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(4))) else { return };
        map.update(&1, &10).unwrap();
        let error = Pinned::open_or_create_with(&path, spec(8), |_| IfDifferent::Refuse).unwrap_err();
        assert!(error.to_string().contains("max_entries: expected 8, found 4; open it"), "{error}");
        assert!(error.to_string().starts_with(&*path.to_string_lossy()), "{error}");
        let Error::Differs { map, .. } = error else { panic!("{error}") };
        let found = Map::<u32, u64>::try_from(map.try_clone().unwrap()).unwrap();
        assert_eq!(found.lookup(&1).unwrap(), Some(10));
        let pinned = Pinned::open(path).unwrap();
        assert_eq!(pinned.lookup(&1).unwrap(), Some(10));
    });
}

#[test]
fn a_difference_that_the_caller_accepts_opens_the_map() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let read_only = spec(4).with_flags(BpfMapFlags::PROG_READ_ONLY);
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, read_only)) else { return };
        map.update(&1, &10).unwrap();
        let (found, outcome) = Pinned::open_or_create_with(&path, spec(4), |differences| {
            assert_eq!(differences.len(), 1);
            IfDifferent::Open
        })
        .unwrap();
        assert_eq!(outcome.to_string(), "opened: map_flags: expected 0x0, found PROG_READ_ONLY");
        assert_eq!(found.lookup(&1).unwrap(), Some(10));
    });
}

#[test]
fn a_pin_that_a_killed_process_left_is_used_again() {
    with_bpf_fs(|fs| {
        let Some((map, _)) = permitted(Pinned::open_or_create(fs.path("map").unwrap(), spec(4))) else {
            return;
        };
        map.fd().pin(fs.path("map_perf_bpf_new").unwrap()).unwrap();
        let (_, outcome) = Pinned::open_or_create(fs.path("map").unwrap(), spec(8)).unwrap();
        assert!(matches!(outcome, PinOutcome::Replaced(_)), "{outcome}");
        assert_eq!(pin_names(fs), ["map"]);
    });
}

/// It keeps a map in the kernel.
#[test]
fn every_open_removes_the_pin_that_a_killed_process_left() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(4))) else { return };
        let opens: [fn(&std::path::Path); 4] = [
            |path| Pinned::open(path).unwrap().reopen().unwrap(),
            |path| assert_eq!(Pinned::open_or_create(path, spec(4)).unwrap().1, PinOutcome::Opened),
            |path| assert_eq!(Pinned::open(path).unwrap().path(), path),
            |path| assert!(Pinned::open_if_exists(path).unwrap().is_some()),
        ];
        for open in opens {
            map.fd().pin(fs.path("map_perf_bpf_new").unwrap()).unwrap();
            open(&path);
            assert_eq!(pin_names(fs), ["map"]);
        }
    });
}

#[test]
fn open_leaves_the_pin_of_a_process_that_replaces_the_map_at_this_moment() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(4))) else { return };
        let directory = File::open(fs.root()).unwrap();
        // SAFETY: a number, and an open descriptor.
        assert_eq!(unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX) }, 0);
        map.fd().pin(fs.path("map_perf_bpf_new").unwrap()).unwrap();
        Pinned::open(&path).unwrap();
        assert_eq!(pin_names(fs), ["map", "map_perf_bpf_new"]);
        drop(directory);
        Pinned::open(&path).unwrap();
        assert_eq!(pin_names(fs), ["map"]);
    });
}

#[test]
fn a_lock_that_another_process_holds_ends_in_an_error() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(4))) else { return };
        map.update(&1, &10).unwrap();
        let parallel = ParallelMap::<u32, u64>::create(&path, spec(8)).unwrap();
        parallel.new_map().update(&2, &20).unwrap();
        let directory = File::open(fs.root()).unwrap();
        // SAFETY: a number, and an open descriptor.
        assert_eq!(unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX) }, 0);
        let (error, refused) = std::thread::scope(|scope| {
            let opening = scope.spawn(|| Pinned::open_or_create(&path, spec(8)).unwrap_err());
            let refused = parallel.end().unwrap_err();
            (opening.join().unwrap(), refused)
        });
        assert!(matches!(error, Error::Locked { .. }), "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("flock {}: ", fs.root().display())), "{text}");
        assert!(text.contains("mode 0700"), "{text}");
        // The filled map is returned, and can be pinned as soon as the lock is free.
        assert!(matches!(refused.error, Error::Locked { .. }), "{refused}");
        drop(directory);
        assert_eq!(refused.value.end().unwrap().lookup(&2).unwrap(), Some(20));
    });
}

#[test]
fn a_map_whose_pin_is_gone_is_returned() {
    with_bpf_fs(|fs| {
        let path = fs.path("map").unwrap();
        let Some((map, _)) = permitted(Pinned::open_or_create(&path, spec(4))) else { return };
        map.update(&1, &10).unwrap();
        assert!(unpin(&path).unwrap());
        let refused = map.unpin().unwrap_err();
        assert_eq!(refused.error.errno(), Some(Errno::ENOENT));
        assert_eq!(refused.value.lookup(&1).unwrap(), Some(10));
    });
}

#[test]
fn a_name_with_a_dot_is_explained() {
    with_bpf_fs(|fs| {
        let path = fs.path("map.v2").unwrap();
        let Err(error) = Pinned::open_or_create(&path, spec(4)) else { panic!("a name with a dot") };
        if error.errno().is_some() {
            return skip(error);
        }
        assert!(error.to_string().contains("a name without '.'"), "{error}");
        assert!(error.to_string().ends_with("map.v2"), "{error}");
    });
}
