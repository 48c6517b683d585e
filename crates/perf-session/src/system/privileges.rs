use std::fmt;
use std::os::unix::fs::MetadataExt;

use crate::system::System;
use crate::system::file_error::FileError;

/// A capability of Linux that permits perf events or their memory.
///
/// # References
///
/// `capabilities(7)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(u32);

impl Capability {
    /// `CAP_IPC_LOCK`: locks any amount of memory, also in rings.
    pub const IPC_LOCK: Self = Self(14);
    /// `CAP_SYS_PTRACE`: observes tasks of other users.
    pub const SYS_PTRACE: Self = Self(19);
    /// `CAP_SYS_ADMIN`: all of `CAP_PERFMON`, uprobes, and breakpoints on kernel addresses.
    pub const SYS_ADMIN: Self = Self(21);
    /// `CAP_PERFMON`: all events but some probes. Since Linux 5.8.
    pub const PERFMON: Self = Self(38);
    /// `CAP_BPF`: maps and programs, those for tracing together with `CAP_PERFMON`. Since Linux 5.8.
    pub const BPF: Self = Self(39);

    /// Returns the name that the manual page uses, `None` for the others.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::IPC_LOCK => Some("CAP_IPC_LOCK"),
            Self::SYS_PTRACE => Some("CAP_SYS_PTRACE"),
            Self::SYS_ADMIN => Some("CAP_SYS_ADMIN"),
            Self::PERFMON => Some("CAP_PERFMON"),
            Self::BPF => Some("CAP_BPF"),
            _ => None,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "capability {}", self.0),
        }
    }
}

/// The settings that decide what the calling thread may open: the paranoid level, its capabilities and its
/// seccomp mode. Each is a value or the error of its file.
#[derive(Clone, Debug)]
pub struct Privileges {
    paranoid: Result<i32, FileError>,
    effective: Result<u64, FileError>,
    seccomp: Result<u32, FileError>,
    in_initial_namespace: Result<bool, FileError>,
    in_initial_pid_namespace: Result<bool, FileError>,
}

/// The inode number of the initial pid namespace.
const INITIAL_PID_NAMESPACE: u64 = 0xefff_fffc;

impl Privileges {
    /// The file of the paranoid level. It exists on every kernel that has perf events.
    pub const PARANOID: &'static str = "/proc/sys/kernel/perf_event_paranoid";
    /// The file of the thread's capabilities and seccomp mode.
    pub const STATUS: &'static str = "/proc/thread-self/status";
    /// The file of the process's user namespace.
    pub const UID_MAP: &'static str = "/proc/self/uid_map";

    /// Reads the settings of the calling thread.
    pub fn read(system: &System) -> Self {
        // Read once, so that both lines are of the same moment.
        let status = system.this_thread().status();
        let status = status.as_ref().map_err(FileError::clone);
        let line = |name: &str, value: Option<u64>| {
            value.ok_or_else(|| {
                FileError::malformed(system.path(Self::STATUS), format!("a line {name}:"), "none")
            })
        };
        Self {
            paranoid: system.read(Self::PARANOID).and_then(|text| {
                let text = text.trim();
                text.parse().map_err(|_| FileError::malformed(system.path(Self::PARANOID), "a number", text))
            }),
            effective: status.clone().and_then(|status| line("CapEff", status.mask("CapEff"))),
            seccomp: status
                .and_then(|status| line("Seccomp", status.number("Seccomp")))
                .map(|mode| u32::try_from(mode).unwrap_or(u32::MAX)),
            in_initial_namespace: system.read(Self::UID_MAP).map(|map| is_identity(&map)),
            in_initial_pid_namespace: system
                .this_process()
                .namespace("pid")
                .map(|namespace| namespace.ino() == INITIAL_PID_NAMESPACE),
        }
    }

    /// Returns `kernel.perf_event_paranoid`.
    ///
    /// # Errors
    ///
    /// The file cannot be read; a kernel without perf events does not have it.
    pub fn paranoid(&self) -> Result<i32, &FileError> {
        self.paranoid.as_ref().copied()
    }

    /// Returns the mask of the effective capabilities.
    ///
    /// # Errors
    ///
    /// The file cannot be read or lacks the line.
    pub fn effective(&self) -> Result<u64, &FileError> {
        self.effective.as_ref().copied()
    }

    /// Returns the seccomp mode: 0 is off, 2 is a filter.
    ///
    /// # Errors
    ///
    /// The file cannot be read or lacks the line, as on a kernel without seccomp.
    pub fn seccomp(&self) -> Result<u32, &FileError> {
        self.seccomp.as_ref().copied()
    }

    /// Returns whether the process is in the initial user namespace. Capabilities in another one, for
    /// example of root in a rootless container, permit no perf event.
    ///
    /// # Errors
    ///
    /// The file cannot be read; a kernel without user namespaces does not have it.
    pub fn in_initial_namespace(&self) -> Result<bool, &FileError> {
        self.in_initial_namespace.as_ref().copied()
    }

    /// Returns whether the process is in the initial pid namespace. In another one, for example in a container, the ids of
    /// tasks in the payloads of tracepoints are not those of the records.
    ///
    /// # Errors
    ///
    /// The file cannot be read; a kernel without pid namespaces does not have it.
    pub fn in_initial_pid_namespace(&self) -> Result<bool, &FileError> {
        self.in_initial_pid_namespace.as_ref().copied()
    }

    /// Returns whether a seccomp filter applies to the thread. `false` if that is unknown.
    pub fn is_filtered(&self) -> bool {
        matches!(self.seccomp, Ok(2))
    }

    /// Returns whether the thread has the capability in the initial user namespace. `false` if that is
    /// unknown.
    pub fn has(&self, capability: Capability) -> bool {
        // The kernel asks for capabilities in the initial namespace, whatever the thread has in its own.
        let here = !matches!(self.in_initial_namespace, Ok(false));
        here && matches!(self.effective, Ok(mask) if mask >> capability.0 & 1 == 1)
    }

    /// Returns whether the thread has `CAP_PERFMON`, or `CAP_SYS_ADMIN`, which includes it.
    pub fn has_perfmon(&self) -> bool {
        self.has(Capability::PERFMON) || self.has(Capability::SYS_ADMIN)
    }
}

impl System {
    /// Returns the file of the label that a security module gives to the calling thread, and the label.
    pub(crate) fn security_label(&self) -> (String, Result<String, FileError>) {
        let file = self.this_thread().file("attr/current");
        let label = self.read(&file).map(|text| text.trim_end_matches(['\n', '\0']).to_owned());
        (file, label)
    }
}

/// Returns whether a `uid_map` maps every id to itself.
fn is_identity(map: &str) -> bool {
    map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn capabilities_are_bits_of_the_effective_mask() {
        let tree = Tree::new();
        // Any bytes may be the name.
        tree.file(
            Privileges::STATUS,
            b"Name:\t\xff\nCapPrm:\t0\nCapEff:\t0000004000004000\nSeccomp_filters:\t2\n",
        );
        tree.file(Privileges::UID_MAP, "         0          0 4294967295\n");
        let privileges = Privileges::read(tree.system());
        let error = privileges.seccomp().unwrap_err().to_string();
        assert!(error.ends_with("status: expected a line Seccomp:, found `none`"), "{error}");
        assert!(privileges.has(Capability::PERFMON) && privileges.has(Capability::IPC_LOCK));
        assert!(!privileges.has(Capability::SYS_ADMIN) && privileges.has_perfmon());
        let contained = Privileges { in_initial_namespace: Ok(false), ..privileges };
        assert!(!contained.has_perfmon(), "of another user namespace");
    }

    #[test]
    fn only_the_identity_map_is_the_initial_namespace() {
        assert!(is_identity("         0          0 4294967295\n"));
        assert!(!is_identity("         0       1000          1\n"));
        assert!(!is_identity(""));
    }

    #[test]
    fn unreadable_files_are_errors_with_their_path() {
        let privileges = Privileges::read(&System::at("/nonexistent"));
        let error = privileges.paranoid().unwrap_err();
        assert!(error.to_string().contains("perf_event_paranoid"), "{error}");
        assert!(!privileges.has_perfmon() && !privileges.is_filtered());
    }

    #[test]
    fn settings_of_this_thread_are_read() {
        let privileges = Privileges::read(&System::new());
        assert!(privileges.effective().is_ok(), "{privileges:?}");
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
        let is_initial = namespace.to_str() == Some("pid:[4026531836]");
        assert_eq!(privileges.in_initial_pid_namespace().ok(), Some(is_initial));
    }
}
