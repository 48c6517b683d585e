use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Synthesizer, path_of};
use crate::{FileError, System};

impl Synthesizer {
    /// Appends a `CGROUP` record of each cgroup, and returns their number: the kernel writes one only for those that
    /// are created later.
    ///
    /// The id is the inode number of the folder, which is the kernel's id on a machine of 64 bits. It walks the
    /// hierarchy of the controller `perf_event`, if that has its own, otherwise the hierarchy of version 2. Cgroups that are
    /// removed meanwhile are left out.
    ///
    /// # Errors
    ///
    /// `/proc/self/mounts` cannot be read or has no such hierarchy, or the root of the hierarchy cannot be read.
    pub fn cgroups(&mut self) -> Result<usize, FileError> {
        let mount = cgroup_mount(&self.system)?;
        let root = self.system.path(&mount);
        let id = fs::metadata(&root).map_err(|error| FileError::io(root.clone(), error))?.ino();
        let mut found = 1;
        self.records.cgroup(id, b"/");
        // The folders whose entries are not listed yet, with their paths from the root.
        let mut folders: Vec<(PathBuf, Vec<u8>)> = vec![(root, Vec::new())];
        while let Some((folder, path)) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    let path = [&path, &b"/"[..], entry.file_name().as_bytes()].concat();
                    self.records.cgroup(metadata.ino(), &path);
                    found += 1;
                    folders.push((entry.path(), path));
                }
            }
        }
        Ok(found)
    }
}

/// Returns the mount point of the cgroups of events.
fn cgroup_mount(system: &System) -> Result<PathBuf, FileError> {
    const MOUNTS: &str = "/proc/self/mounts";
    let mounts = system.read_bytes(MOUNTS)?;
    let found = find_mount(&mounts).map(Path::to_owned);
    found.ok_or_else(|| FileError::malformed(system.path(MOUNTS), "a mount of cgroup2", "none"))
}

/// Returns the mount point in lines such as `cgroup2 /sys/fs/cgroup cgroup2 rw 0 0`.
fn find_mount(mounts: &[u8]) -> Option<&Path> {
    let mut version_2 = None;
    for line in mounts.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ').skip(1);
        let (Some(path), Some(kind), Some(options)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        match kind {
            b"cgroup" if options.split(|byte| *byte == b',').any(|option| option == b"perf_event") => {
                return Some(path_of(path));
            }
            b"cgroup2" => version_2 = version_2.or(Some(path_of(path))),
            _ => {}
        }
    }
    version_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_of_the_controller_precedes_that_of_version_2() {
        let find = |mounts: &str| find_mount(mounts.as_bytes()).map(|path| path.display().to_string());
        let version_2 = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup2 /c/unified cgroup2 rw,relatime 0 0\n";
        assert_eq!(find(version_2).as_deref(), Some("/c/unified"));
        let both =
            format!("{version_2}cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/perf cgroup rw,perf_event 0 0\n");
        assert_eq!(find(&both).as_deref(), Some("/c/perf"));
        assert_eq!(find("none / ext4 rw 0 0\n"), None);
    }
}
