//! Tests of the texts.

use super::*;
use crate::error::Refused;
use crate::map::BatchError;
use perf_ring::sys::Error as SysError;
use std::io;

#[test]
fn a_failed_command_names_the_object_the_errno_and_the_cause() {
    let name: ObjectName = "events".parse().unwrap();
    let text = Error::bpf(BpfCmd::MAP_UPDATE_ELEM, name, Errno::E2BIG).to_string();
    assert!(text.starts_with("BPF_MAP_UPDATE_ELEM of \"events\": "), "{text}");
    assert!(text.contains("(os error 7): the map is full"), "{text}");
}

#[test]
fn an_errno_without_a_hint_is_printed_alone() {
    let text = Error::bpf(BpfCmd::MAP_LOOKUP_ELEM, ObjectName::EMPTY, Errno::EBADF).to_string();
    assert_eq!(text, "BPF_MAP_LOOKUP_ELEM: Bad file descriptor (os error 9)");
}

#[test]
fn a_missing_permission_shows_the_privilege_of_the_process() {
    let error = Error::bpf(BpfCmd::MAP_CREATE, ObjectName::EMPTY, Errno::EPERM);
    assert!(matches!(&error, Error::Bpf { privilege: Some(_), .. }));
    assert!(error.to_string().contains("unprivileged_bpf_disabled"), "{error}");
}

#[test]
fn a_failed_load_ends_with_the_log() {
    let error = Error::Load {
        program: "p".parse().unwrap(),
        errno: Errno::EACCES,
        log: "R0 !read_ok".into(),
        privilege: None,
    };
    assert!(error.to_string().ends_with("the verifier's log:\nR0 !read_ok"), "{error}");
    assert_eq!((error.errno(), error.command()), (Some(Errno::EACCES), Some(BpfCmd::PROG_LOAD)));
}

#[test]
fn a_size_error_has_both_sizes() {
    let error = Error::Size { map: ObjectName::EMPTY, part: "key", expected: 4, found: 8 };
    assert_eq!(error.to_string(), "key of map \"\": expected 4 bytes, found 8");
}

/// An error with an errno, one with an errno inside another error, and one without.
fn errors() -> [(Error, Option<i32>, io::ErrorKind); 4] {
    let name: ObjectName = "events".parse().unwrap();
    let inner = perf_ring::Error::from(SysError::System { call: perf_ring::Call::Mmap, errno: Errno::EPERM });
    [
        (Error::bpf(BpfCmd::MAP_UPDATE_ELEM, name, Errno::ENOENT), Some(2), io::ErrorKind::NotFound),
        (Error::Event(inner), Some(1), io::ErrorKind::PermissionDenied),
        (SysError::RingInUse.into(), None, io::ErrorKind::ResourceBusy),
        (Error::Contended { path: Path::new("/x").into() }, None, io::ErrorKind::ResourceBusy),
    ]
}

#[test]
fn an_error_of_std_has_the_kind_the_text_and_the_error() {
    for (error, number, kind) in errors() {
        let (converted, text) = (io::Error::from(error.clone()), error.to_string());
        assert_eq!((converted.kind(), converted.to_string()), (kind, text.clone()));
        let inner = converted.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).unwrap();
        assert_eq!((inner.raw_os_error(), inner.to_string()), (number, text));
        let plain = error.to_os_error();
        assert_eq!((plain.raw_os_error(), plain.kind()), (number, kind));
    }
}

#[test]
fn a_refused_value_and_a_batch_have_the_error_of_their_cause() {
    for (error, number, kind) in errors() {
        let refused = Refused { error: error.clone(), value: 7 };
        assert_eq!((refused.error.raw_os_error(), refused.error.to_os_error().kind()), (number, kind));
        assert_eq!(io::Error::from(refused).to_string(), error.to_string());
        let batch = BatchError { written: 3, error };
        let converted = io::Error::from(batch);
        assert_eq!(converted.kind(), kind);
        assert!(converted.to_string().starts_with("after 3 elements: "), "{converted}");
        assert!(converted.get_ref().unwrap().is::<BatchError>());
    }
}

#[test]
fn debug_prints_the_fields() {
    let name: ObjectName = "events".parse().unwrap();
    let error = Error::Size { map: name, part: "key", expected: 4, found: 8 };
    assert_eq!(format!("{error:?}"), "Size { map: \"events\", part: \"key\", expected: 4, found: 8 }");
    let batch = BatchError { written: 3, error: error.clone() };
    assert_eq!(format!("{batch:?}"), format!("BatchError {{ written: 3, error: {error:?} }}"));
    let refused = Refused { error: error.clone(), value: () };
    assert_eq!(format!("{refused:?}"), format!("Refused {{ error: {error:?}, .. }}"));
}

#[test]
fn list_of_cpus_that_is_not_the_kernels_is_shown_beside_the_kernels_number() {
    let error = Error::PossibleCpus { listed: "0-3,8".parse().unwrap(), values: 2 };
    assert_eq!(
        error.to_string(),
        "/sys/devices/system/cpu/possible: expected 2 CPUs, as many as a per-CPU map has values, found 5 \
         (0-3,8); the file is not the kernel's own: unmount what covers it"
    );
}
