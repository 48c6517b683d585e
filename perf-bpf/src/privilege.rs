use core::fmt;

use perf_events::System;
use perf_sys::Errno;

/// The evidence whether the process may use `bpf(2)`: its effective capabilities, and the sysctl
/// for processes without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privilege {
    /// The effective capabilities of the calling thread as a bit mask, from `CapEff` of
    /// `/proc/thread-self/status`; `None` if it cannot be read.
    pub effective: Option<u64>,
    /// `/proc/sys/kernel/unprivileged_bpf_disabled`: 0 allows some programs and maps without a
    /// capability, 1 and 2 do not, and 1 cannot be changed until the next boot. `None` if it cannot
    /// be read (since Linux 4.4).
    pub unprivileged_bpf_disabled: Option<u32>,
}

/// Names and numbers of the capabilities, from `include/uapi/linux/capability.h`.
const CAPABILITIES: [(&str, u32); 3] = [("CAP_SYS_ADMIN", 21), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

impl Privilege {
    /// Returns the privilege of the calling thread.
    pub fn of_thread(system: &System) -> Self {
        let status = system.read("/proc/thread-self/status").ok();
        let sysctl = system.read("/proc/sys/kernel/unprivileged_bpf_disabled").ok();
        Self {
            effective: status.as_deref().and_then(effective),
            unprivileged_bpf_disabled: sysctl.and_then(|text| text.trim().parse().ok()),
        }
    }

    /// Returns the evidence for an errno that may come from a missing permission.
    pub(crate) fn of_errno(errno: Errno) -> Option<Box<Self>> {
        matches!(errno, Errno::EPERM | Errno::EACCES).then(|| Box::new(Self::of_thread(&System::new())))
    }

    /// Returns `true` if the thread has `CAP_BPF` (since Linux 5.8) or `CAP_SYS_ADMIN`.
    pub fn may_use_maps(&self) -> bool {
        self.has(21) || self.has(39)
    }

    /// Returns `true` if the thread may load tracing programs: with `CAP_SYS_ADMIN`, or with
    /// `CAP_BPF` and `CAP_PERFMON` (since Linux 5.8).
    pub fn may_load_tracing(&self) -> bool {
        self.has(21) || self.has(38) && self.has(39)
    }

    fn has(&self, capability: u32) -> bool {
        self.effective.is_some_and(|effective| effective >> capability & 1 == 1)
    }
}

/// Returns the mask in the line `CapEff`.
fn effective(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// The evidence, and the remedy if a capability is missing.
impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut held = CAPABILITIES.iter().filter(|(_, number)| self.has(*number)).map(|(name, _)| name);
        match (self.effective, held.next()) {
            (None, _) => f.write_str("found unknown capabilities")?,
            (_, None) => f.write_str("found none of CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN")?,
            (_, Some(first)) => write!(f, "found {first}")?,
        }
        held.try_for_each(|name| write!(f, ", {name}"))?;
        match self.unprivileged_bpf_disabled {
            Some(value) => write!(f, " and unprivileged_bpf_disabled = {value}")?,
            None => f.write_str(" and no sysctl unprivileged_bpf_disabled")?,
        }
        if self.may_load_tracing() {
            return Ok(());
        }
        f.write_str(
            "; run as root, or with CAP_BPF and CAP_PERFMON: \
             setcap cap_bpf,cap_perfmon+ep PROGRAM (CAP_SYS_ADMIN before Linux 5.8)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tcat\nCapPrm:\t000001fffeffffff\nCapEff:\t000000c000200000\nCapBnd:\t0\n";

    #[test]
    fn effective_capabilities_are_a_hexadecimal_mask() {
        assert_eq!(effective(STATUS), Some(0xc0_0020_0000));
        for text in ["", "CapEff:\n", "CapEff:\tzz\n", "CapEff: 10000000000000000\n"] {
            assert_eq!(effective(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_remedy_is_printed_if_a_capability_is_missing() {
        let none = Privilege { effective: Some(0), unprivileged_bpf_disabled: Some(2) };
        let text = none.to_string();
        assert!(text.starts_with("found none of CAP_BPF"), "{text}");
        assert!(text.contains("unprivileged_bpf_disabled = 2; run as root"), "{text}");
        assert!(!none.may_use_maps() && !none.may_load_tracing());
    }

    #[test]
    fn no_remedy_is_printed_with_the_capabilities() {
        let all = Privilege { effective: Some(0xc0_0020_0000), unprivileged_bpf_disabled: None };
        assert_eq!(
            all.to_string(),
            "found CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF and no sysctl unprivileged_bpf_disabled"
        );
        assert!(all.may_use_maps() && all.may_load_tracing());
    }

    #[test]
    fn tracing_needs_two_capabilities() {
        let bpf = Privilege { effective: Some(1 << 39), unprivileged_bpf_disabled: Some(1) };
        assert!(bpf.may_use_maps() && !bpf.may_load_tracing());
        assert!(bpf.to_string().contains("found CAP_BPF and"), "{bpf}");
    }
}
