//! Pins on a bpf file system.

use std::process::Command;

use crate::prelude::*;

fn spec(max_entries: u32) -> MapSpec<'static> {
    MapSpec::new(BpfMapType::HASH, max_entries).with_name("pk_pinned".parse().unwrap())
}

#[test]
fn a_pin_outlives_its_map() {
    with_bpf_fs(|fs| {
        fs.check().unwrap();
        let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
        map.update(&1, &10).unwrap();
        map.fd().pin(fs.path("lasting").unwrap()).unwrap();
        drop(map);
        let mut found = Pinned::open(fs.path("lasting").unwrap()).unwrap();
        assert_eq!(
            (found.path(), found.lookup(&1).unwrap()),
            (fs.path("lasting").unwrap().as_path(), Some(10))
        );
        found.reopen().unwrap();
        let map = found.unpin().unwrap();
        assert_eq!(map.lookup(&1).unwrap(), Some(10));
        let error = Pinned::open(fs.path("lasting").unwrap()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ENOENT));
        assert!(error.to_string().contains("lasting: No such file"), "{error}");
        assert!(Pinned::open_if_exists(fs.path("lasting").unwrap()).unwrap().is_none());
        assert!(!unpin(fs.path("lasting").unwrap()).unwrap());
    });
}

#[test]
fn a_second_pin_on_a_path_is_refused() {
    with_bpf_fs(|fs| {
        let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
        map.fd().pin(fs.path("twice").unwrap()).unwrap();
        let error = map.fd().pin(fs.path("twice").unwrap()).unwrap_err();
        assert!(error.to_string().contains("another object is pinned to the path"), "{error}");
    });
}

#[test]
fn a_path_on_another_file_system_is_refused() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    for error in [
        map.fd().pin("/proc/pk_test").unwrap_err(),
        Pinned::open_or_create("/proc/pk_test", spec(4)).unwrap_err(),
        unpin("/proc/self/status").unwrap_err(),
    ] {
        assert!(matches!(error, Error::NotBpfFs { .. }), "{error}");
        assert!(error.to_string().contains("mount -t bpf"), "{error}");
    }
}

#[test]
fn a_pinned_program_is_no_map() {
    with_bpf_fs(|fs| {
        let code = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];
        let program = ProgramFd::load(BpfProgType::SOCKET_FILTER, &code, c"GPL", "pk_pin".parse().unwrap());
        let Some(program) = permitted(program) else { return };
        program.pin(fs.path("program").unwrap()).unwrap();
        for error in [
            Pinned::open(fs.path("program").unwrap()).unwrap_err(),
            Pinned::open_or_create(fs.path("program").unwrap(), spec(4)).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.ends_with("program: expected a map, found \"anon_inode:bpf-prog\""), "{text}");
        }
        ProgramFd::open_pinned(fs.path("program").unwrap()).unwrap();
    });
}

#[test]
fn a_pinned_link_keeps_its_program_attached() {
    with_bpf_fs(|fs| {
        let code = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];
        let name = "pk_link".parse().unwrap();
        let program = ProgramFd::load(BpfProgType::RAW_TRACEPOINT, &code, c"GPL", name);
        let Some(program) = permitted(program) else { return };
        let link = Link::raw_tracepoint(c"sched_process_exit", &program, 0).unwrap();
        let info = link.info().unwrap();
        assert!(Ids::new(ObjectKind::Link).any(|id| id.unwrap() == info.id));
        link.pin(fs.path("link").unwrap()).unwrap();
        drop((link, program));
        let found = Link::open_pinned(fs.path("link").unwrap()).unwrap().info().unwrap();
        assert_eq!((found.id, found.prog_id), (info.id, info.prog_id));
        assert!(ProgramFd::open_id(info.prog_id).unwrap().is_some());
        assert!(unpin(fs.path("link").unwrap()).unwrap());
        assert!(Link::open_id(u32::MAX).unwrap().is_none());
    });
}

#[test]
fn a_map_of_other_properties_is_replaced() {
    with_bpf_fs(|fs| {
        let Some((first, outcome)) = permitted(Pinned::open_or_create(fs.path("map").unwrap(), spec(4)))
        else {
            return;
        };
        assert_eq!(outcome, PinOutcome::Created);
        first.update(&1, &10).unwrap();
        let (same, outcome) = Pinned::open_or_create(fs.path("map").unwrap(), spec(4)).unwrap();
        assert_eq!((outcome, same.lookup(&1).unwrap()), (PinOutcome::Opened, Some(10)));
        let other = spec(8).with_flags(BpfMapFlags::NO_PREALLOC);
        let (new, outcome) = Pinned::open_or_create(fs.path("map").unwrap(), other).unwrap();
        assert_eq!(
            outcome.to_string(),
            "replaced: max_entries: expected 8, found 4; map_flags: expected NO_PREALLOC, found 0x0"
        );
        assert_eq!(new.lookup(&1).unwrap(), None);
        // The old map lives on for those who have it open.
        assert_eq!(first.lookup(&1).unwrap(), Some(10));
        let (_, outcome) = PinnedMap::<u64, u64>::open_or_create(fs.path("map").unwrap(), other).unwrap();
        let PinOutcome::Replaced(differences) = outcome else { panic!("{outcome}") };
        assert_eq!(
            differences.iter().map(|found| found.property).collect::<Vec<_>>(),
            [MapProperty::KeySize]
        );
    });
}

#[test]
fn an_lru_hash_per_cpu_is_not_replaced_because_the_kernel_rounds_its_capacity() {
    with_bpf_fs(|fs| {
        let spec = MapSpec::new(BpfMapType::LRU_HASH, 1001).with_flags(BpfMapFlags::NO_COMMON_LRU);
        if permitted(Pinned::open_or_create(fs.path("lru").unwrap(), spec)).is_none() {
            return;
        }
        assert_eq!(Pinned::open_or_create(fs.path("lru").unwrap(), spec).unwrap().1, PinOutcome::Opened);
    });
}

#[test]
fn a_parallel_map_replaces_the_pin_in_one_step() {
    with_bpf_fs(|fs| {
        let Some((old, _)) = permitted(Pinned::open_or_create(fs.path("map").unwrap(), spec(4))) else {
            return;
        };
        old.update(&1, &10).unwrap();
        let abandoned = ParallelMap::<u32, u64>::create(fs.path("map").unwrap(), spec(8)).unwrap();
        drop(abandoned);
        let parallel = ParallelMap::<u32, u64>::create(fs.path("map").unwrap(), spec(8)).unwrap();
        assert_eq!(parallel.old().unwrap().info().unwrap(), old.fd().info().unwrap());
        parallel.new_map().update(&1, &11).unwrap();
        assert_eq!(Pinned::open(fs.path("map").unwrap()).unwrap().lookup(&1).unwrap(), Some(10));
        let new = parallel.end().unwrap();
        assert_eq!(Pinned::open(fs.path("map").unwrap()).unwrap().lookup(&1).unwrap(), Some(11));
        assert_eq!((old.lookup(&1).unwrap(), new.lookup(&1).unwrap()), (Some(10), Some(11)));
        // No other name is left.
        let names = std::fs::read_dir(fs.root()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| name.to_string_lossy().starts_with("map_")).count(), 0);
        let anew = Pinned::create_anew(fs.path("map").unwrap(), spec(8)).unwrap();
        assert_eq!(anew.lookup(&1).unwrap(), None);
        assert_eq!(
            Pinned::create_anew(fs.path("other").unwrap(), spec(8)).unwrap().path(),
            fs.path("other").unwrap()
        );
    });
}

#[test]
fn a_read_only_descriptor_cannot_write() {
    with_bpf_fs(|fs| {
        let Some((map, _)) = permitted(Pinned::open_or_create(fs.path("map").unwrap(), spec(4))) else {
            return;
        };
        map.update(&1, &10).unwrap();
        let reader = MapFd::open_pinned_with(fs.path("map").unwrap(), BpfMapFlags::READ_ONLY).unwrap();
        let reader = Map::<u32, u64>::try_from(reader).unwrap();
        assert_eq!(reader.lookup(&1).unwrap(), Some(10));
        let error = reader.update(&1, &11).unwrap_err();
        assert!(error.to_string().contains("its descriptor is read-only"), "{error}");
    });
}

#[test]
fn another_process_opens_the_pin() {
    with_bpf_fs(|fs| {
        let Some((map, _)) = permitted(Pinned::open_or_create(fs.path("shared").unwrap(), spec(4))) else {
            return;
        };
        map.update(&1, &10).unwrap();
        // The process inherits the mount namespace of this thread.
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pinned::child_of_another_process_opens_the_pin", "--ignored", "--nocapture"])
            .env("PK_PIN", fs.path("shared").unwrap())
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        assert_eq!((map.lookup(&1).unwrap(), map.lookup(&2).unwrap()), (Some(11), Some(20)));
    });
}

#[test]
#[ignore = "run by another_process_opens_the_pin"]
fn child_of_another_process_opens_the_pin() {
    let Some(path) = std::env::var_os("PK_PIN") else { return };
    let map = Pinned::open(path).unwrap();
    assert_eq!(map.lookup(&1).unwrap(), Some(10));
    map.update(&1, &11).unwrap();
    map.update(&2, &20).unwrap();
}

#[test]
fn mounted_file_systems_are_listed() {
    with_bpf_fs(|fs| {
        let found = BpfFs::mounted(&System::new()).unwrap();
        assert!(found.contains(fs), "{found:?}");
        assert!(found.iter().all(|fs| fs.check().is_ok() || !fs.root().exists()), "{found:?}");
    });
}

#[test]
fn a_path_with_a_nul_byte_is_refused() {
    let error = Pinned::open("/sys/fs/bpf/a\0b").unwrap_err();
    assert!(matches!(error, Error::PinPath { expected: "no NUL byte", .. }), "{error}");
}

#[test]
fn pin_without_proc_names_what_is_missing() {
    with_bpf_fs(|fs| {
        let spec = MapSpec::new(BpfMapType::HASH, 4);
        let Some(map) = permitted(Map::<u32, u64>::create(spec)) else { return };
        map.fd().pin(fs.path("there").unwrap()).unwrap();
        if let Err(error) = hide_proc() {
            return skip(format_args!("mounting over /proc: {error}"));
        }
        let open = |name| Pinned::open_or_create(fs.path(name).unwrap(), spec).unwrap_err();
        let parallel = ParallelMap::<u32, u64>::create(fs.path("new").unwrap(), spec).unwrap();
        for error in [
            open("there"),
            open("new"),
            parallel.end().unwrap_err().error,
            Pinned::open(fs.path("there").unwrap()).unwrap_err(),
            MapFd::from_fd(map.as_fd().try_clone_to_owned().unwrap()).unwrap_err().error,
        ] {
            let text = error.to_string();
            assert!(text.contains(" /proc/thread-self/fd"), "{text}");
            assert!(text.contains("mount -t proc proc /proc"), "{text}");
            assert_eq!(error.errno(), Some(Errno::ENOENT));
        }
        assert_eq!(pin_names(fs), ["there"]);
    });
}
