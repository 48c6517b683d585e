//! The hierarchies of cgroups, and the directories of cgroups in them.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::{FileError, MountPoint, System};
use crate::std_error::into_std;

/// No directory of a cgroup has a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CgroupError {
    /// No hierarchy that perf events can use is mounted.
    NotMounted {
        /// The name of the cgroup.
        name: PathBuf,
    },
    /// No hierarchy has the directory.
    NotFound {
        /// The name of the cgroup.
        name: PathBuf,
        /// The mount points of the hierarchies.
        below: Vec<PathBuf>,
    },
    /// The list of mounts cannot be read, or the directory cannot be opened.
    File(FileError),
}

impl fmt::Display for CgroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMounted { name } => {
                write!(f, "cgroup {}: no hierarchy for perf events is mounted", name.display())
            }
            Self::NotFound { name, below } => {
                let below: Vec<_> = below.iter().map(|mount| mount.display().to_string()).collect();
                let below = below.join(" or ");
                write!(f, "cgroup {}: there is no such directory below {below}", name.display())
            }
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CgroupError {}

impl From<FileError> for CgroupError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl CgroupError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::File(error) => error.raw_os_error(),
            Self::NotMounted { .. } | Self::NotFound { .. } => None,
        }
    }
}

into_std!(CgroupError, NotFound);

impl System {
    /// Opens the directory of a cgroup, for [`EventSetTarget::cgroup`](crate::EventSetTarget::cgroup). `name` is its path
    /// below the mount point, or its full path.
    ///
    /// # Errors
    ///
    /// [`CgroupError`] if no hierarchy has the directory, or if it cannot be opened.
    pub fn open_cgroup(&self, name: impl AsRef<Path>) -> Result<File, CgroupError> {
        let name = name.as_ref();
        let below: Vec<PathBuf> = self.cgroup_mounts()?.into_iter().map(|mount| mount.path).collect();
        let full = below.iter().find(|mount| name.starts_with(mount)).map(|_| name.to_owned());
        let relative = name.strip_prefix("/").unwrap_or(name);
        let candidates = full.into_iter().chain(below.iter().map(|mount| mount.join(relative)));
        let found = candidates.map(|candidate| self.path(candidate)).find(|candidate| candidate.is_dir());
        match found {
            Some(path) => File::open(&path).map_err(|error| FileError::io(path, error).into()),
            None if below.is_empty() => Err(CgroupError::NotMounted { name: name.to_owned() }),
            None => Err(CgroupError::NotFound { name: name.to_owned(), below }),
        }
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
        let none = || FileError::malformed(self.this_process().path("mounts"), "a mount of cgroup2", "none");
        root.map(|mount| mount.path.clone()).ok_or_else(none)
    }

    /// Returns the hierarchies that may have the controller of perf events: of version 1 with the controller, and of
    /// version 2.
    fn cgroup_mounts(&self) -> Result<Vec<MountPoint>, FileError> {
        let mut mounts = self.this_process().mounts()?;
        mounts.retain(|mount| match &*mount.kind {
            "cgroup" => mount.has_option("perf_event"),
            kind => kind == "cgroup2",
        });
        Ok(mounts)
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
        assert_eq!(error, "cgroup /c/x: there is no such directory below /c/uni fied");
        tree.file("/proc/self/mounts", "");
        let error = tree.system().open_cgroup("x").unwrap_err().to_string();
        assert_eq!(error, "cgroup x: no hierarchy for perf events is mounted");
    }
}
