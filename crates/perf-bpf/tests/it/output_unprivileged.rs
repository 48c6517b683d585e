//! Readers that a user without capabilities opens.

use crate::prelude::*;

/// Returns the number in a file of `/proc/sys/kernel`.
fn sysctl(name: &str) -> Option<i32> {
    std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

#[test]
fn missing_permission_for_the_maps_is_explained() {
    if sysctl("unprivileged_bpf_disabled").is_none_or(|disabled| disabled == 0) {
        return eprintln!("skipped: users without capabilities may create maps");
    }
    if permitted(EventArray::create("pk_root".parse().unwrap())).is_none() {
        return;
    }
    as_nobody(|| {
        for error in [
            EventArray::create("pk_nobody".parse().unwrap()).map(drop).unwrap_err(),
            RingBuf::create("pk_nobody".parse().unwrap(), 1).map(drop).unwrap_err(),
        ] {
            assert_eq!(error.errno(), Some(Errno::EPERM), "{error}");
            assert!(error.to_string().contains("CAP_BPF"), "{error}");
        }
    });
}

#[test]
fn missing_permission_for_the_events_is_explained_and_leaves_the_slots_empty() {
    if sysctl("perf_event_paranoid").is_none_or(|level| level < 1) {
        return eprintln!("skipped: users without capabilities may open events of CPUs");
    }
    let Some(array) = permitted(EventArray::create("pk_root".parse().unwrap())) else { return };
    let mut other = EventArray::from_fd(array.map().try_clone().unwrap().into_fd()).unwrap();
    as_nobody(move || {
        let error = PerfBufferOptions::new().open(array).unwrap_err();
        assert!(matches!(error.error.errno(), Some(Errno::EACCES | Errno::EPERM)), "{error}");
        assert!(error.to_string().contains("perf_event_paranoid"), "{error}");
    });
    for slot in 0..other.slots() {
        assert!(!other.remove(slot).unwrap());
    }
}
