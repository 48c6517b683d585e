//! Errors of a process without capabilities.

use crate::prelude::*;

#[test]
fn a_missing_capability_is_explained() {
    as_nobody(|| {
        let privilege = BpfPrivileges::read(&System::new());
        assert_eq!(privilege.thread().effective().unwrap(), 0);
        // LRU hashes need a capability even if unprivileged users may use BPF.
        let spec = MapSpec::new(BpfMapType::LRU_HASH, 1).with_sizes(4, 4).with_name("pk_no".parse().unwrap());
        let error = MapFd::create(&spec).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EPERM));
        let text = error.to_string();
        assert!(text.starts_with("BPF_MAP_CREATE of \"pk_no\": Operation not permitted"), "{text}");
        assert!(text.contains("found none of CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN"), "{text}");
        assert!(text.contains("unprivileged_bpf_disabled") && text.contains("setcap cap_bpf"), "{text}");
    });
}

#[test]
fn ids_need_a_capability() {
    as_nobody(|| {
        for kind in [ObjectKind::Map, ObjectKind::Program, ObjectKind::Link] {
            let mut ids = Ids::new(kind);
            let error = ids.next().unwrap().unwrap_err();
            assert!(matches!(error, Error::Bpf { privilege: Some(_), .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("with CAP_SYS_ADMIN") && !text.contains("setcap"), "{text}");
            assert!(ids.next().is_none());
        }
    });
}

#[test]
fn a_probe_without_permission_is_no_answer() {
    as_nobody(|| {
        let error = Features::map_type(BpfMapType::LRU_HASH).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EPERM));
        assert!(Features::map_type_or_hash(BpfMapType::LPM_TRIE).is_err());
    });
}
