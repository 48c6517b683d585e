//! Finds the separate debug information of a program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::elf::ObjectFile;
use super::finder::{FileFinder, folder_and_name};
use crate::BuildId;

/// Maximum length in bytes of a file to checksum. The debug information of a browser has some 4 GB.
const MAX_CHECKSUM: u64 = 8 << 30;

impl FileFinder {
    /// Returns the separate debug information of a file that contains none.
    pub(super) fn debug_file(&self, object: &ObjectFile) -> Option<ObjectFile> {
        if object.section_addresses(".debug_info").is_some() {
            return None;
        }
        let found = object.build_id().and_then(|id| self.debug_file_by_id(id));
        let found = found.or_else(|| self.debug_file_by_link(object));
        #[cfg(feature = "debuginfod")]
        let found = found.or_else(|| {
            let id = object.build_id()?;
            let path = self.debuginfod.as_ref()?.fetch(id, "debuginfo", &self.debuginfod_caches).ok()?;
            ObjectFile::open(path).ok().filter(|fetched| fetched.build_id() == Some(id))
        });
        found
    }

    pub(super) fn debug_files_by_id(&self, id: BuildId) -> Vec<PathBuf> {
        let (folder, name) = folder_and_name(id);
        let in_packages =
            self.debug_folders.iter().map(|root| root.join(&folder).join(format!("{name}.debug")));
        let in_caches = self.build_id_caches.iter().map(|root| root.join(&folder).join(&name).join("debug"));
        let in_debuginfod =
            self.debuginfod_caches.iter().map(|root| root.join(id.to_string()).join("debuginfo"));
        in_packages.chain(in_caches).chain(in_debuginfod).collect()
    }

    pub(super) fn debug_file_by_id(&self, id: BuildId) -> Option<ObjectFile> {
        let mut candidates =
            self.debug_files_by_id(id).into_iter().filter_map(|path| ObjectFile::open(path).ok());
        candidates.find(|candidate| candidate.build_id() == Some(id))
    }

    fn debug_file_by_link(&self, object: &ObjectFile) -> Option<ObjectFile> {
        let link = object.debug_link()?;
        let name = OsStr::from_bytes(&link.name);
        // The debug file of /bin/ls is /usr/lib/debug/usr/bin/ls.debug, so that links must be
        // resolved.
        let path = object.canonical_path();
        let folder = path.parent()?;
        let beside = [folder.join(name), folder.join(".debug").join(name)];
        let beside = beside.into_iter().filter_map(|path| object.open_beside(path).ok());
        let relative = folder.strip_prefix("/").ok();
        let in_packages = self.debug_folders.iter().filter_map(|root| Some(root.join(relative?).join(name)));
        let in_packages = in_packages.filter_map(|path| ObjectFile::open(path).ok());
        beside.chain(in_packages).find(|candidate| {
            let same_id = candidate.build_id() == object.build_id() || candidate.build_id().is_none();
            let is_itself = candidate.identity() == object.identity();
            let is_small = || candidate.size().is_ok_and(|len| len <= MAX_CHECKSUM);
            let mut crc = crc32fast::Hasher::new();
            same_id
                && !is_itself
                && is_small()
                && candidate.read_all(|piece| crc.update(piece)).is_ok()
                && crc.finalize() == link.crc
        })
    }
}
