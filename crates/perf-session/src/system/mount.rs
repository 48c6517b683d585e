//! File systems of the kernel that may have to be mounted.

use std::fmt;
use std::path::Path;

use crate::system::System;

/// The mount points of tracefs, the usual one first.
pub(crate) const TRACEFS: [&str; 2] = [Mount::TRACEFS.path, "/sys/kernel/debug/tracing"];

/// A file system of the kernel that some containers lack. `Display` prints the command that mounts
/// it, such as `mount -t sysfs sysfs /sys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount {
    kind: &'static str,
    source: &'static str,
    path: &'static str,
    /// A directory that is there if the file system is mounted.
    probe: &'static str,
}

impl Mount {
    /// `/proc`.
    pub const PROC: Self = Self { kind: "proc", source: "proc", path: "/proc", probe: "/proc/self" };
    /// `/sys`.
    pub const SYSFS: Self = Self { kind: "sysfs", source: "sysfs", path: "/sys", probe: "/sys/kernel" };
    /// `/sys/kernel/tracing`. Since Linux 4.1.
    pub const TRACEFS: Self = Self {
        kind: "tracefs",
        source: "nodev",
        path: "/sys/kernel/tracing",
        probe: "/sys/kernel/tracing/events",
    };

    /// Returns the directory at which it is usually mounted.
    pub fn path(&self) -> &'static Path {
        Path::new(self.path)
    }

    /// Returns whether the file system is mounted, below the root of `system`.
    pub fn is_mounted(&self, system: &System) -> bool {
        system.path(self.probe).exists()
    }

    /// Returns the file system of a file, if it is `/proc` or `/sys` and is not mounted.
    pub(super) fn missing_for(path: &Path) -> Option<Self> {
        // Of the running system only: in a tree of files nothing is mounted, and no command would
        // help.
        let mount = [Self::SYSFS, Self::PROC].into_iter().find(|mount| path.starts_with(mount.path))?;
        (!mount.is_mounted(&System::new())).then_some(mount)
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mount -t {} {} {}", self.kind, self.source, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn mounts_are_found_by_their_directory_and_print_their_command() {
        let tree = Tree::new();
        assert!(!Mount::SYSFS.is_mounted(tree.system()));
        tree.file("/sys/kernel/mm/x", "");
        assert!(Mount::SYSFS.is_mounted(tree.system()) && !Mount::TRACEFS.is_mounted(tree.system()));
        assert_eq!(Mount::SYSFS.to_string(), "mount -t sysfs sysfs /sys");
        assert_eq!(Mount::TRACEFS.to_string(), "mount -t tracefs nodev /sys/kernel/tracing");
    }
}
