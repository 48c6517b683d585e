//! Constants of other headers against the crate `libc`.

/// The names that are compared here.
pub(super) const PREFIXES: &[&str] = &["CLOCK_", "EM_", "TRAP_PERF"];

// On other systems the crate has other numbers, or none.
#[cfg(target_os = "linux")]
#[test]
fn clocks_machines_and_signals_have_the_numbers_of_libc() {
    let ours = super::constants::with_prefix(PREFIXES);
    let theirs: [(&str, i128); 11] = [
        ("CLOCK_BOOTTIME", libc::CLOCK_BOOTTIME.into()),
        ("CLOCK_MONOTONIC", libc::CLOCK_MONOTONIC.into()),
        ("CLOCK_MONOTONIC_RAW", libc::CLOCK_MONOTONIC_RAW.into()),
        ("CLOCK_REALTIME", libc::CLOCK_REALTIME.into()),
        ("CLOCK_TAI", libc::CLOCK_TAI.into()),
        ("EM_386", libc::EM_386.into()),
        ("EM_AARCH64", libc::EM_AARCH64.into()),
        ("EM_RISCV", libc::EM_RISCV.into()),
        ("EM_X86_64", libc::EM_X86_64.into()),
        ("TRAP_PERF", libc::TRAP_PERF.into()),
        ("TRAP_PERF_FLAG_ASYNC", 1 << 0), // copied from `asm-generic/siginfo.h`: libc does not have it
    ];
    assert_eq!(ours, theirs);
}
