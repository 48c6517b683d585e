//! Records of the cgroups that exist already.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use perf_session::FileError;

use super::Synthesizer;

impl Synthesizer {
    /// Appends a `CGROUP` record of each cgroup, and returns their number. The kernel writes such
    /// records only for cgroups that are created later.
    ///
    /// The id is the inode number of the directory, which is the kernel's id on 64-bit machines.
    /// The walk covers the hierarchy of the controller `perf_event` if that controller has its own,
    /// otherwise the hierarchy of version 2. Cgroups that are removed meanwhile are left out.
    ///
    /// # Errors
    ///
    /// [`FileError`] if `/proc/self/mounts` cannot be read or lists no such hierarchy, or if the
    /// root of the hierarchy cannot be read.
    pub fn cgroups(&mut self) -> Result<usize, FileError> {
        let root = self.system.path(self.system.cgroup_root()?);
        let id = fs::metadata(&root).map_err(|error| FileError::io(root.clone(), error))?.ino();
        let mut found = 1;
        self.records.cgroup(id, b"/");
        // Directories whose entries are not listed yet, with their paths from the root.
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
