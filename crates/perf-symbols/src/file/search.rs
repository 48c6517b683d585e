//! The search for the file of a mapping: the candidates, and the checks that choose among them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::elf::{ElfError, ObjectFile};
use super::finder::{Evidence, FileFinder, folder_and_name};
use super::not_found::{NotFound, Rejection};
use crate::{BuildId, Inode, MappedObject, Mapping, ObjectKind};

pub(super) struct Search<'a> {
    finder: &'a FileFinder,
    object: &'a MappedObject,
    build_id: Option<BuildId>,
    rejected: Vec<(PathBuf, Rejection)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(finder: &'a FileFinder, object: &'a MappedObject, build_id: Option<BuildId>) -> Self {
        Self { finder, object, build_id, rejected: Vec::new() }
    }

    /// Returns the reason for the failure, with the rejected candidates.
    pub(super) fn not_found(self) -> NotFound {
        NotFound::new(self.object, self.rejected)
    }

    /// Tries the mapped path in several places, the most likely first.
    pub(super) fn try_paths(&mut self, pid: u32, mapping: &Mapping) -> Option<(ObjectFile, Evidence)> {
        let path = Path::new(OsStr::from_bytes(mapping.object().path()));
        let relative = path.strip_prefix("/").ok()?;
        if let Some(symfs) = &self.finder.symfs {
            return self.try_path(symfs.join(relative), Evidence::Path);
        }
        if !self.finder.is_local {
            return self.try_path(path.to_owned(), Evidence::BuildId);
        }
        let system = &self.finder.system;
        let root = system.of_process(pid, "root");
        let in_root = self.try_file(
            ObjectFile::open_in_root(root.clone(), relative),
            root.join(relative),
            Evidence::Path,
        );
        // The same file by its path here, which stays when the process ends.
        let here = |(file, evidence): (ObjectFile, Evidence)| {
            let same = ObjectFile::open(path).ok().filter(|same| same.identity() == file.identity());
            (same.unwrap_or(file), evidence)
        };
        let in_root = in_root.map(here);
        // The kernel links to deleted and renamed files. The links may lead elsewhere by now, if
        // the process id or the addresses were reused.
        let links = self.finder.map_files(pid, mapping).into_iter().chain([system.of_process(pid, "exe")]);
        // Skip silently if this user may not follow them.
        let mut links = links.filter(|link| link.metadata().is_ok());
        let found = in_root.or_else(|| links.find_map(|path| self.try_path(path, Evidence::Inode)));
        // The path of a process in another root leads to other files here.
        let least = if root.metadata().is_ok() { Evidence::Inode } else { Evidence::Path };
        found.or_else(|| self.try_path(path.to_owned(), least))
    }

    /// Opens a candidate, and accepts it if the evidence is at least as strong as `least`.
    pub(super) fn try_path(&mut self, path: PathBuf, least: Evidence) -> Option<(ObjectFile, Evidence)> {
        self.try_file(ObjectFile::open(&path), path, least)
    }

    fn try_file(
        &mut self,
        opened: Result<ObjectFile, ElfError>,
        path: PathBuf,
        least: Evidence,
    ) -> Option<(ObjectFile, Evidence)> {
        match opened {
            Ok(file) => self.check(file, least),
            // A missing file is not a candidate.
            Err(error) if error.is_missing() => None,
            Err(error) => {
                self.rejected.push((path, Rejection::Elf(error)));
                None
            }
        }
    }

    /// Tries copies by their build id.
    pub(super) fn try_caches(&mut self) -> Option<(ObjectFile, Evidence)> {
        let id = self.build_id?;
        let (folder, name) = folder_and_name(id);
        let cached = if self.object.kind() == ObjectKind::Vdso { "vdso" } else { "elf" };
        let in_caches =
            self.finder.build_id_caches.iter().map(|root| root.join(&folder).join(&name).join(cached));
        let in_debuginfod =
            self.finder.debuginfod_caches.iter().map(|root| root.join(id.to_string()).join("executable"));
        // Some packages also link from the build id to the program.
        let in_packages = self.finder.debug_folders.iter().map(|root| root.join(&folder).join(&name));
        let candidates: Vec<_> = in_caches.chain(in_debuginfod).chain(in_packages).collect();
        let debug_files = self.finder.debug_files_by_id(id);
        candidates.into_iter().chain(debug_files).find_map(|path| self.try_path(path, Evidence::BuildId))
    }

    /// Downloads the file from debuginfod servers.
    #[cfg(feature = "debuginfod")]
    pub(super) fn try_servers(&mut self) -> Option<(ObjectFile, Evidence)> {
        let servers = self.finder.debuginfod.as_ref()?;
        match servers.fetch(self.build_id?, "executable", &self.finder.debuginfod_caches) {
            Ok(path) => self.try_path(path, Evidence::BuildId),
            Err(failures) => {
                let failures = failures.into_iter();
                self.rejected.extend(failures.map(|(url, message)| (url, Rejection::Download(message))));
                None
            }
        }
    }

    pub(super) fn check(&mut self, file: ObjectFile, least: Evidence) -> Option<(ObjectFile, Evidence)> {
        let evidence = self
            .evidence(&file)
            .and_then(|evidence| if evidence <= least { Ok(evidence) } else { Err(Rejection::Unverified) });
        match evidence {
            Ok(evidence) => Some((file, evidence)),
            Err(rejection) => {
                self.rejected.push((file.path().to_owned(), rejection));
                None
            }
        }
    }

    fn evidence(&self, file: &ObjectFile) -> Result<Evidence, Rejection> {
        if let Some(expected) = self.build_id {
            return match file.build_id() {
                Some(found) if found == expected => Ok(Evidence::BuildId),
                found => Err(Rejection::BuildId { expected, found }),
            };
        }
        // Files in symfs are copies, whose inodes and times differ.
        if self.finder.symfs.is_some() {
            return Ok(Evidence::Path);
        }
        let Some(identity) = file.identity() else { return Ok(Evidence::Path) };
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let modified = u64::try_from(identity.modified.0).unwrap_or(0);
        if let Some(recorded) = self.finder.recorded_until.map(seconds).filter(|&end| modified > end) {
            return Err(Rejection::Modified { recorded, modified });
        }
        match self.object.inode {
            Some(inode) if has_device(identity.dev, inode) => {
                if identity.inode == inode.inode {
                    Ok(Evidence::Inode)
                } else {
                    Err(Rejection::Inode { expected: inode.inode, found: identity.inode })
                }
            }
            _ => Ok(Evidence::Path),
        }
    }
}

/// Compares a `st_dev` with the device in a record. It has 12 bits of major and 20 bits of minor
/// number, as the kernel encodes them for user space.
fn has_device(dev: u64, inode: Inode) -> bool {
    let major = dev >> 8 & 0xfff | dev >> 32 & 0xffff_f000;
    let minor = dev & 0xff | dev >> 12 & 0xffff_ff00;
    (major, minor) == (inode.major.into(), inode.minor.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_split_as_in_records() {
        for (dev, major, minor) in
            [(0xfe00, 254, 0), (0x801, 8, 1), (0x0012_3456_7890_1234, 0x12_3012, 0x4567_8934)]
        {
            let inode = |major, minor| Inode { major, minor, inode: 1, generation: 0 };
            assert!(has_device(dev, inode(major, minor)), "{dev:#x}");
            assert!(!has_device(dev, inode(major, minor + 1)), "{dev:#x}");
            assert!(!has_device(dev, inode(major + 1, minor)), "{dev:#x}");
        }
    }
}
