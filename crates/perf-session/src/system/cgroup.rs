//! The hierarchies of cgroups, and the directories of cgroups in them.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::{FileError, MountPoint, System};

impl System {
    /// Opens the directory of a cgroup, for [`EventSetTarget::cgroup`](crate::EventSetTarget::cgroup). `name` is its path
    /// below the mount point, or its full path.
    ///
    /// # Errors
    ///
    /// `/proc/self/mounts` cannot be read or has no hierarchy that perf events can use, none of them has the directory, or it
    /// cannot be opened.
    pub fn open_cgroup(&self, name: impl AsRef<Path>) -> Result<File, FileError> {
        let name = name.as_ref();
        let relative = name.strip_prefix("/").unwrap_or(name);
        let mounts = self.cgroup_mounts()?;
        let full = mounts.iter().any(|mount| name.starts_with(&mount.path)).then(|| name.to_owned());
        let below = mounts.iter().map(|mount| mount.path.join(relative));
        let mut candidates = full.into_iter().chain(below).map(|candidate| self.path(candidate));
        let Some(path) = candidates.find(|candidate| candidate.is_dir()) else {
            let places: Vec<_> = mounts.iter().map(|mount| mount.path.display().to_string()).collect();
            return Err(FileError::malformed(
                name.into(),
                format!("a cgroup below {}", places.join(" or ")),
                "",
            ));
        };
        File::open(&path).map_err(|error| FileError::io(path, error))
    }

    /// Returns the mount point of the hierarchy whose cgroups events have: the one of the controller `perf_event`, if
    /// that has its own, otherwise the one of version 2.
    ///
    /// # Errors
    ///
    /// `/proc/self/mounts` cannot be read or has no such hierarchy.
    pub fn cgroup_root(&self) -> Result<PathBuf, FileError> {
        let mounts = self.cgroup_mounts()?;
        let root = mounts.iter().find(|mount| mount.kind == "cgroup").or(mounts.first());
        root.map(|mount| mount.path.clone()).ok_or_else(|| self.no_cgroups())
    }

    /// Returns the hierarchies that may have the controller of perf events, at least one: of version 1 with the controller,
    /// and of version 2.
    fn cgroup_mounts(&self) -> Result<Vec<MountPoint>, FileError> {
        let mut mounts = self.this_process().mounts()?;
        mounts.retain(|mount| match &*mount.kind {
            "cgroup" => mount.has_option("perf_event"),
            kind => kind == "cgroup2",
        });
        if mounts.is_empty() { Err(self.no_cgroups()) } else { Ok(mounts) }
    }

    fn no_cgroups(&self) -> FileError {
        FileError::malformed(self.this_process().path("mounts"), "a mount of cgroup2", "none")
    }
}

#[cfg(test)]
mod tests {
    use crate::system::tree::Tree;

    const VERSION_2: &str = "tmpfs /c tmpfs rw 0 0\ncgroup2 /c/uni\\040fied cgroup2 rw,relatime 0 0\n";

    #[test]
    fn hierarchy_of_the_controller_precedes_version_2() {
        let tree = Tree::new();
        let root = |mounts: &str| {
            tree.file("/proc/self/mounts", mounts);
            tree.system().cgroup_root().map(|path| path.display().to_string())
        };
        assert_eq!(root(VERSION_2).unwrap(), "/c/uni fied");
        let both =
            format!("{VERSION_2}cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/perf cgroup rw,perf_event 0 0\n");
        assert_eq!(root(&both).unwrap(), "/c/perf");
        let error = root("none / ext4 rw 0 0\n").unwrap_err().to_string();
        assert!(error.ends_with("/proc/self/mounts: expected a mount of cgroup2, found `none`"), "{error}");
    }

    #[test]
    fn cgroup_below_a_mount_point_with_a_blank_is_opened() {
        let tree = Tree::new();
        tree.file("/proc/self/mounts", VERSION_2);
        tree.file("/c/uni fied/a b/cgroup.procs", "");
        for name in ["a b", "/a b", "/c/uni fied/a b"] {
            assert!(tree.system().open_cgroup(name).unwrap().metadata().unwrap().is_dir(), "{name}");
        }
        let error = tree.system().open_cgroup("/c/x").unwrap_err().to_string();
        assert_eq!(error, "/c/x: expected a cgroup below /c/uni fied, found nothing");
        tree.file("/proc/self/mounts", "");
        let error = tree.system().open_cgroup("x").unwrap_err().to_string();
        assert!(error.contains("expected a mount of cgroup2"), "{error}");
    }
}
