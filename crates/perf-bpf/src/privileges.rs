//! Whether the calling thread may use `bpf(2)`.

use core::fmt;

use perf_ring::Errno;
use perf_ring::abi::bpf::BpfCmd;
use perf_session::{Capability, Privileges, System};

/// The settings that decide whether the calling thread may use `bpf(2)`: its capabilities, and the
/// sysctl for threads without them.
#[derive(Clone, Debug)]
pub struct BpfPrivileges {
    thread: Privileges,
    unprivileged_bpf_disabled: Option<u32>,
}

/// The capabilities that permit BPF.
const CAPABILITIES: [Capability; 3] = [Capability::BPF, Capability::PERFMON, Capability::SYS_ADMIN];

impl BpfPrivileges {
    /// Reads the settings of the calling thread.
    pub fn read(system: &System) -> Self {
        let sysctl = system.sysctl("kernel.unprivileged_bpf_disabled").ok();
        Self {
            thread: Privileges::read(system),
            unprivileged_bpf_disabled: sysctl.and_then(|text| text.parse().ok()),
        }
    }

    /// Returns the evidence for an errno that may come from a missing permission.
    pub(crate) fn of_errno(errno: Errno) -> Option<Box<Self>> {
        matches!(errno, Errno::EPERM | Errno::EACCES).then(|| Box::new(Self::read(&System::new())))
    }

    /// Returns the capabilities and the user namespace of the thread.
    pub fn thread(&self) -> &Privileges {
        &self.thread
    }

    /// Returns `kernel.unprivileged_bpf_disabled`: 0 permits some maps and programs to all users, 1
    /// and 2 do not, and 1 stays until the next boot. `None` if it cannot be read. Since
    /// Linux 4.4.
    #[doc(alias = "kernel.unprivileged_bpf_disabled")]
    pub fn unprivileged_bpf_disabled(&self) -> Option<u32> {
        self.unprivileged_bpf_disabled
    }

    /// Returns `true` if the thread may create all types of maps: with `CAP_BPF` (since Linux 5.8)
    /// or `CAP_SYS_ADMIN`.
    pub fn may_use_maps(&self) -> bool {
        self.thread.has(Capability::BPF) || self.thread.has(Capability::SYS_ADMIN)
    }

    /// Returns `true` if the thread may load tracing programs: with `CAP_BPF` and `CAP_PERFMON`
    /// (since Linux 5.8), or `CAP_SYS_ADMIN`.
    pub fn may_load_tracing(&self) -> bool {
        self.may_use_maps() && self.thread.has_perfmon()
    }

    /// Returns what gives the thread the capabilities of a command, if it does not have them.
    pub(crate) fn remedy(&self, command: BpfCmd) -> Option<&'static str> {
        if is_on_ids(command) {
            let is_missing = !self.thread.has(Capability::SYS_ADMIN);
            return is_missing.then_some("run as root, or with CAP_SYS_ADMIN, which commands on ids need");
        }
        (!self.may_load_tracing()).then_some(
            "run as root, or with CAP_BPF and CAP_PERFMON: setcap cap_bpf,cap_perfmon+ep PROGRAM \
             (CAP_SYS_ADMIN before Linux 5.8)",
        )
    }
}

/// Returns whether a command is about the objects of all processes.
fn is_on_ids(command: BpfCmd) -> bool {
    matches!(
        command,
        BpfCmd::PROG_GET_NEXT_ID
            | BpfCmd::MAP_GET_NEXT_ID
            | BpfCmd::LINK_GET_NEXT_ID
            | BpfCmd::BTF_GET_NEXT_ID
            | BpfCmd::PROG_GET_FD_BY_ID
            | BpfCmd::MAP_GET_FD_BY_ID
            | BpfCmd::LINK_GET_FD_BY_ID
            | BpfCmd::BTF_GET_FD_BY_ID
    )
}

/// The evidence. An [`Error`](crate::Error) has the remedy, too.
impl fmt::Display for BpfPrivileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut held = CAPABILITIES.iter().filter(|&&capability| self.thread.has(capability));
        match (self.thread.in_initial_namespace(), self.thread.effective(), held.next()) {
            (Ok(false), ..) => f.write_str("found a user namespace, in which capabilities permit no BPF")?,
            (_, Err(error), _) => write!(f, "found no capabilities: {error}")?,
            (.., None) => f.write_str("found none of CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN")?,
            (.., Some(first)) => write!(f, "found {first}")?,
        }
        held.try_for_each(|capability| write!(f, ", {capability}"))?;
        match self.unprivileged_bpf_disabled {
            Some(value) => write!(f, " and unprivileged_bpf_disabled = {value}"),
            None => f.write_str(" and no sysctl unprivileged_bpf_disabled"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Returns the settings of a machine with these files.
    fn read(effective: &str, uid_map: &str, sysctl: Option<&str>) -> BpfPrivileges {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("pk_privileges_{}_{number}", std::process::id()));
        let write = |path: &str, text: String| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/thread-self/status", format!("Name:\tx\nCapEff:\t{effective}\nSeccomp:\t0\n"));
        write("proc/self/uid_map", uid_map.to_owned());
        if let Some(value) = sysctl {
            write("proc/sys/kernel/unprivileged_bpf_disabled", value.to_owned());
        }
        let found = BpfPrivileges::read(&System::at(&root));
        std::fs::remove_dir_all(root).unwrap();
        found
    }

    const INITIAL: &str = "         0          0 4294967295\n";

    #[test]
    fn a_remedy_is_given_if_a_capability_is_missing() {
        let none = read("0000000000000000", INITIAL, Some("2\n"));
        let text = none.to_string();
        assert!(text.starts_with("found none of CAP_BPF"), "{text}");
        assert!(text.ends_with("unprivileged_bpf_disabled = 2"), "{text}");
        assert!(none.remedy(BpfCmd::MAP_CREATE).is_some_and(|remedy| remedy.contains("setcap cap_bpf")));
        assert!(!none.may_use_maps() && !none.may_load_tracing());
    }

    #[test]
    fn ids_need_a_capability_that_maps_and_programs_do_not_need() {
        let tracing = read("000000c000000000", INITIAL, Some("2\n"));
        assert!(tracing.may_load_tracing());
        assert_eq!(tracing.remedy(BpfCmd::PROG_LOAD), None);
        for command in [BpfCmd::MAP_GET_NEXT_ID, BpfCmd::LINK_GET_FD_BY_ID] {
            assert!(tracing.remedy(command).is_some_and(|remedy| remedy.contains("CAP_SYS_ADMIN")));
        }
    }

    #[test]
    fn no_remedy_is_given_with_the_capabilities() {
        let all = read("000000c000200000", INITIAL, None);
        assert_eq!(
            all.to_string(),
            "found CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN and no sysctl unprivileged_bpf_disabled"
        );
        assert_eq!(
            [BpfCmd::MAP_CREATE, BpfCmd::MAP_GET_NEXT_ID].map(|command| all.remedy(command)),
            [None; 2]
        );
        assert!(all.may_use_maps() && all.may_load_tracing());
    }

    #[test]
    fn tracing_needs_two_capabilities() {
        let bpf = read("0000008000000000", INITIAL, Some("1\n"));
        assert!(bpf.may_use_maps() && !bpf.may_load_tracing());
        assert!(bpf.to_string().starts_with("found CAP_BPF and"), "{bpf}");
    }

    #[test]
    fn capabilities_of_a_user_namespace_permit_nothing() {
        let contained = read("000001ffffffffff", "0 1000 1\n", Some("2\n"));
        assert!(!contained.may_use_maps());
        assert!(contained.to_string().starts_with("found a user namespace"), "{contained}");
    }

    #[test]
    fn a_missing_proc_is_named() {
        let text = BpfPrivileges::read(&System::at("/nonexistent")).to_string();
        assert!(text.starts_with("found no capabilities: /nonexistent/proc"), "{text}");
    }
}
