//! Errors of maps name their cause.

use crate::prelude::*;

/// Checks the errno and the cause, and that no capability is listed, since none is missing.
#[track_caller]
fn assert_cause(error: &Error, errno: Errno, cause: &str) {
    let text = error.to_string();
    assert_eq!(error.errno(), Some(errno), "{text}");
    assert!(text.contains(cause), "{text}");
    assert!(!text.contains("CAP_BPF"), "{text}");
}

#[test]
fn a_map_that_cannot_be_created_is_described() {
    if permitted(Features::map_type(BpfMapType::HASH)).is_none() {
        return;
    }
    let spec = MapSpec::new(BpfMapType::HASH, 7).with_sizes(4, 8).with_name("pk_bad".parse().unwrap());
    let error = MapFd::create(&spec.with_flags(BpfMapFlags::MMAPABLE)).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("BPF_MAP_CREATE of \"pk_bad\": Invalid argument"), "{text}");
    assert_cause(
        &error,
        Errno::EINVAL,
        "type HASH, key_size 4, value_size 8, max_entries 7, map_flags MMAPABLE",
    );
}

#[test]
fn a_map_without_elements_is_refused_before_the_call() {
    for map_type in [BpfMapType::HASH, BpfMapType::ARRAY, BpfMapType::RINGBUF, BpfMapType::LPM_TRIE] {
        let spec = MapSpec::new(map_type, 0).with_sizes(4, 8);
        let error = MapFd::create(&spec).unwrap_err();
        assert!(matches!(error, Error::NoEntries { .. }), "{error}");
        assert!(error.to_string().contains("max_entries of at least 1, found 0"), "{error}");
    }
    // The kernel requires 0 for storage, so the error differs.
    let error = MapFd::create(&MapSpec::new(BpfMapType::TASK_STORAGE, 0).with_sizes(4, 8)).unwrap_err();
    assert!(error.errno().is_some(), "{error}");
}

#[test]
fn a_restricted_descriptor_is_the_cause() {
    with_bpf_fs(|fs| {
        let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
        let path = fs.path("map").unwrap();
        map.fd().pin(&path).unwrap();
        let open =
            |access| Map::<u32, u64>::try_from(MapFd::open_pinned_with(&path, access).unwrap()).unwrap();
        let writer = open(BpfMapFlags::WRITE_ONLY);
        for error in [writer.lookup(&1).unwrap_err(), writer.next_key(None).unwrap_err()] {
            assert_cause(&error, Errno::EPERM, "its descriptor is write-only");
        }
        let reader = open(BpfMapFlags::READ_ONLY);
        let error = reader.update(&1, &1).unwrap_err();
        assert_cause(&error, Errno::EPERM, "its descriptor is read-only");
        // Some kernels freeze a map by any descriptor.
        if let Err(error) = reader.freeze() {
            assert_cause(&error, Errno::EPERM, "its descriptor is read-only");
        }
        let error = reader.update_batch(&[(1, 1)]).unwrap_err().error;
        assert_cause(&error, Errno::EPERM, "its descriptor is read-only");
    });
}

#[test]
fn a_second_freeze_is_explained() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    map.freeze().unwrap();
    let error = map.freeze().unwrap_err();
    assert!(error.to_string().contains("the map is frozen"), "{error}");
    assert!(!error.to_string().contains("CAP_BPF"), "{error}");
}

#[test]
fn a_batch_that_the_kernel_refuses_writes_nothing_and_is_an_error() {
    let Some(map) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    map.update_batch(&[(1, 10), (2, 20)]).unwrap();
    map.freeze().unwrap();
    let updated = map.update_batch(&[(1, 11), (3, 30)]).unwrap_err();
    let deleted = map.delete_batch(&[1, 2]).unwrap_err();
    for refused in [updated, deleted] {
        assert_eq!(refused.written, 0, "{refused}");
        assert_cause(&refused.error, Errno::EPERM, "the map is frozen");
    }
    assert_eq!((map.lookup(&1).unwrap(), map.lookup(&3).unwrap()), (Some(10), None));
}

#[test]
fn a_queue_has_no_keys() {
    let Some(queue) = map_or_skip::<(), u32>(BpfMapType::QUEUE, 4) else { return };
    assert_cause(&queue.next_key(None).unwrap_err(), Errno::EINVAL, "queues and stacks have no keys");
}

#[test]
fn an_object_that_does_not_fit_the_map_is_the_cause() {
    let Some(template) = map_or_skip::<u32, u64>(BpfMapType::HASH, 4) else { return };
    let spec = MapSpec::new(BpfMapType::ARRAY_OF_MAPS, 4).with_inner(&template);
    let outer = Map::<u32, u32>::create(spec).unwrap();
    let other = map_or_skip::<u64, u64>(BpfMapType::HASH, 4).unwrap();
    let error = outer.update(&0, &other.as_fd().as_raw_fd().unsigned_abs()).unwrap_err();
    assert_cause(&error, Errno::EINVAL, "the inner map differs from the template");
}
