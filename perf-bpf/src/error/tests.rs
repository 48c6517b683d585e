use super::*;

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
