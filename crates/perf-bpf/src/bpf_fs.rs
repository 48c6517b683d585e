//! The bpf file system, whose files are pins.

use std::path::{Component, Path, PathBuf};

use perf_ring::Errno;
use perf_session::System;
use rustix::fs::StatFs;

use crate::error::Error;

/// `BPF_FS_MAGIC` of `include/uapi/linux/magic.h`.
const MAGIC: u64 = 0xcafe_4a11;

/// A bpf file system, whose files are pins: references to maps, programs and links that outlive
/// processes.
///
/// It is usually mounted at `/sys/fs/bpf`. This crate does not mount it, because that is the
/// administrator's choice: `mount -t bpf bpf /sys/fs/bpf`. Since Linux 4.4.
///
/// ```
/// use perf_bpf::BpfFs;
///
/// let fs = BpfFs::new();
/// if let Err(error) = fs.check() {
///     println!("{error}"); // with the command that mounts it
/// }
/// assert_eq!(fs.path("events")?.to_str(), Some("/sys/fs/bpf/events"));
/// assert!(fs.path("../events").is_err());
/// # Ok::<(), perf_bpf::Error>(())
/// ```
#[doc(alias = "bpffs")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BpfFs {
    root: PathBuf,
}

impl BpfFs {
    /// Returns the file system at `/sys/fs/bpf`.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/sys/fs/bpf")
    }

    /// Returns a file system, or a directory in it, at another path.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the bpf file systems in the mount namespace of the calling thread.
    pub fn mounted(system: &System) -> Result<Vec<Self>, Error> {
        let mounts = system.this_thread().mounts()?.into_iter();
        Ok(mounts.filter(|mount| mount.kind == "bpf").map(|mount| Self::at(mount.path)).collect())
    }

    /// Returns the path of the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a name below the directory. The kernel refuses names with a `.`.
    ///
    /// # Errors
    ///
    /// [`Error::PinPath`] if the name is empty or absolute or has a part `..` or `.`, so that it
    /// would be another place.
    pub fn path(&self, name: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let name = name.as_ref();
        let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
        if is_below && name.components().next().is_some() {
            return Ok(self.root.join(name));
        }
        Err(Error::PinPath { path: name.into(), expected: "a relative path without '..'" })
    }

    /// Checks by `statfs(2)` that the directory is on a bpf file system.
    ///
    /// # Errors
    ///
    /// [`Error::NotBpfFs`] with the command that mounts one, and [`Error::Path`] if there is no
    /// such directory.
    pub fn check(&self) -> Result<(), Error> {
        Self::check_statfs(rustix::fs::statfs(&self.root), &self.root)
    }

    /// Checks the result of `statfs(2)` of a directory.
    #[allow(trivial_numeric_casts, clippy::cast_sign_loss, clippy::unnecessary_cast)] // the type varies
    pub(crate) fn check_statfs(found: rustix::io::Result<StatFs>, directory: &Path) -> Result<(), Error> {
        let found = found.map_err(Error::path("statfs", directory))?;
        // The type has 32 bits, whatever the width of the field.
        let found = u64::from(found.f_type as u32);
        if found == MAGIC { Ok(()) } else { Err(Error::NotBpfFs { path: directory.into(), found }) }
    }
}

impl Default for BpfFs {
    fn default() -> Self {
        Self::new()
    }
}

impl Error {
    /// Returns a closure for `map_err` after a system call of rustix on a path.
    pub(crate) fn path(call: &'static str, path: &Path) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::Path {
            call,
            path: path.into(),
            errno: Errno::from_raw_os_error(errno.raw_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_type_bpf_are_found() {
        let root = std::env::temp_dir().join(format!("pk_mounts_{}", std::process::id()));
        std::fs::create_dir_all(root.join("proc/thread-self")).unwrap();
        let mounts = "bpf /sys/fs/bpf bpf rw,nosuid,mode=700 0 0\n\
                      none /run/a\\040b bpf rw 0 0\n\
                      bpf /bpf tmpfs rw 0 0\n";
        std::fs::write(root.join("proc/thread-self/mounts"), mounts).unwrap();
        let found = BpfFs::mounted(&System::at(&root)).unwrap();
        std::fs::remove_dir_all(root).unwrap();
        assert_eq!(found, [BpfFs::at("/sys/fs/bpf"), BpfFs::at("/run/a b")]);
    }

    #[test]
    fn a_path_stays_below_the_root() {
        let fs = BpfFs::at("/sys/fs/bpf/agent");
        assert_eq!(fs.path("maps/events").unwrap(), Path::new("/sys/fs/bpf/agent/maps/events"));
        for outside in ["/etc/passwd", "..", "../x", "maps/../../x", "./x", ""] {
            let error = fs.path(outside).unwrap_err();
            assert!(matches!(error, Error::PinPath { .. }), "{outside}: {error}");
        }
    }

    #[test]
    fn another_file_system_is_an_error_with_the_remedy() {
        let error = BpfFs::at("/proc").check().unwrap_err().to_string();
        assert!(error.contains("/proc: expected a bpf file system, found"), "{error}");
        assert!(error.contains("mount -t bpf"), "{error}");
        let missing = BpfFs::at("/nonexistent/pk").check().unwrap_err().to_string();
        assert!(missing.starts_with("statfs /nonexistent/pk: No such file"), "{missing}");
    }
}
