//! Constants against bindings of an older kernel, which include breakpoints, namespaces and
//! registers.

use super::constants::with_prefix;
use super::published::Bindings;

/// The names that only these bindings have.
pub(super) const PREFIXES: &[&str] = &[
    "HW_BREAKPOINT_",
    "PERF_REG_",
    "NET_NS_",
    "UTS_NS_",
    "IPC_NS_",
    "PID_NS_",
    "USER_NS_",
    "MNT_NS_",
    "CGROUP_NS_",
];

fn compare(theirs: &Bindings, prefixes: &[&str]) {
    let ours = with_prefix(prefixes);
    assert!(!ours.is_empty());
    for (name, value) in ours {
        assert_eq!(theirs.constants.get(name), Some(&value), "{name}");
    }
}

#[test]
fn breakpoints_and_namespaces_have_the_same_numbers() {
    let prefixes: std::vec::Vec<_> =
        PREFIXES.iter().copied().filter(|prefix| *prefix != "PERF_REG_").collect();
    compare(&Bindings::older("x86_64"), &prefixes);
}

#[test]
fn registers_have_the_same_numbers() {
    compare(&Bindings::older("x86_64"), &["PERF_REG_X86_"]);
    compare(&Bindings::older("aarch64"), &["PERF_REG_ARM64_"]);
    compare(&Bindings::older("riscv64gc"), &["PERF_REG_RISCV_"]);
}

/// The bindings are those of 64-bit machines with two direction bits; `syscall` asserts the other
/// encodings.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64", target_arch = "s390x"))]
fn ioctls_have_the_same_numbers() {
    let theirs = Bindings::older("x86_64");
    let ours = [
        ("ENABLE", crate::IOC_ENABLE),
        ("DISABLE", crate::IOC_DISABLE),
        ("REFRESH", crate::IOC_REFRESH),
        ("RESET", crate::IOC_RESET),
        ("PERIOD", crate::IOC_PERIOD),
        ("SET_OUTPUT", crate::IOC_SET_OUTPUT),
        ("SET_FILTER", crate::IOC_SET_FILTER),
        ("ID", crate::IOC_ID),
        ("SET_BPF", crate::IOC_SET_BPF),
        ("PAUSE_OUTPUT", crate::IOC_PAUSE_OUTPUT),
        ("QUERY_BPF", crate::IOC_QUERY_BPF),
        ("MODIFY_ATTRIBUTES", crate::IOC_MODIFY_ATTRIBUTES),
    ];
    for (name, request) in ours {
        assert_eq!(theirs.constants.get(name), Some(&request.into()), "{name}");
    }
}
