//! Finds the files of mappings.

#[cfg(feature = "names")]
use std::ffi::OsStr;
#[cfg(feature = "names")]
use std::fs::File;
#[cfg(feature = "names")]
use std::fs::Metadata;
#[cfg(feature = "names")]
use std::io;
#[cfg(feature = "disassembly")]
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
#[cfg(feature = "disassembly")]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(feature = "debuginfod")]
use super::debuginfod::Debuginfod;
use super::elf::ObjectFile;
#[cfg(feature = "names")]
use super::foreign::{self, LastLink};
use super::not_found::NotFound;
use super::search::Search;
use crate::system::System;
use crate::{BuildId, MappedObject, Mapping, ObjectKind};

/// Finds the files of mappings, and rejects files that differ from what was mapped.
///
/// Candidates are tried in this order. With [`with_symfs`](Self::with_symfs), the path in that
/// folder; otherwise the path in the root of the process, deleted files that are still mapped, and
/// the path itself. Then build-id caches of the perf tool, and caches of debuginfod clients. A
/// candidate must have the build id of the mapping. If the mapping has no build id, the device, the
/// inode and the time of the last change decide as far as they are known: see [`Evidence`].
///
/// ```
/// use perf_symbols::{BuildId, FileFinder, MappedObject, Mapping, NotFoundKind};
///
/// // The files of a recording on another machine, unpacked by `tar -x -C /tmp/files`.
/// let finder = FileFinder::remote().with_build_id_cache("/tmp/files");
/// # let object = MappedObject::new(b"/bin/no-such-file");
/// # let mapping = Mapping::new(0x1000..0x2000, 0, object).with_executable(true);
/// let id = BuildId::new(&[0xab; 20]);
/// match finder.find(42, &mapping, id) {
///     Ok(found) => println!("{} by {:?}", found.object().path().display(), found.evidence()),
///     Err(reason) => assert_eq!(reason.kind(), NotFoundKind::Missing, "{reason}"),
/// }
/// ```
#[derive(Clone, Debug)]
pub struct FileFinder {
    pub(super) system: System,
    pub(super) is_local: bool,
    pub(super) symfs: Option<PathBuf>,
    pub(super) build_id_caches: Vec<PathBuf>,
    pub(super) debug_folders: Vec<PathBuf>,
    pub(super) debuginfod_caches: Vec<PathBuf>,
    #[cfg(feature = "debuginfod")]
    pub(super) debuginfod: Option<Debuginfod>,
    pub(super) recorded_until: Option<SystemTime>,
    #[cfg(feature = "names")]
    kernel_cache: Option<PathBuf>,
}

/// How a file was verified to be what was mapped.
///
/// Ordered: the strongest evidence is the smallest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Evidence {
    /// The file has the build id of the mapping.
    BuildId,
    /// The file has the device and inode of the mapping, and was not changed after
    /// [`FileFinder::with_recorded_until`].
    Inode,
    /// The file is at the right path. The record has neither a build id nor a comparable inode:
    /// device numbers of overlay and btrfs in records differ from those of stat(2).
    Path,
}

/// A file that was found: returned by [`FileFinder::find`].
#[derive(Debug)]
pub struct FoundFile {
    object: ObjectFile,
    evidence: Evidence,
    debug_file: Option<ObjectFile>,
    /// The last part of the mapped path. A copy in a cache has another one.
    #[cfg(feature = "names")]
    name: Box<str>,
}

impl FoundFile {
    /// Returns the mapped file, or its debug information if only that was found.
    pub fn object(&self) -> &ObjectFile {
        &self.object
    }

    /// Returns the mapped file, closed.
    #[cfg(feature = "unwind")]
    pub(crate) fn into_closed(self) -> ObjectFile {
        self.object.closed()
    }

    /// Closes the files but keeps their headers.
    #[cfg(feature = "names")]
    pub(crate) fn closed(self) -> Self {
        let debug_file = self.debug_file.map(ObjectFile::closed);
        Self { object: self.object.closed(), debug_file, ..self }
    }

    /// Opens the files again. Returns `None` if the file with the symbols was replaced or written
    /// meanwhile.
    #[cfg(feature = "names")]
    pub(crate) fn reopened(&self) -> Option<Self> {
        let debug_file = match &self.debug_file {
            Some(file) => Some(file.reopened()?),
            None => None,
        };
        let object = match self.object.reopened() {
            Some(object) => object,
            // The headers and the path are enough if there is a debug file.
            None if debug_file.is_some() => self.object.without_content()?,
            None => return None,
        };
        Some(Self { object, debug_file, name: self.name.clone(), evidence: self.evidence })
    }

    /// Returns the last part of the mapped path.
    #[cfg(feature = "names")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file that has the symbols.
    #[cfg(feature = "names")]
    pub(crate) fn symbol_file(&self) -> &ObjectFile {
        self.debug_file.as_ref().unwrap_or(&self.object)
    }

    /// Returns how the file was verified.
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Returns the separate debug information, if any. It has the same build id, or the checksum in
    /// the section `.gnu_debuglink`.
    pub fn debug_file(&self) -> Option<&ObjectFile> {
        self.debug_file.as_ref()
    }
}

/// The text of a source file: returned by [`FileFinder::source`].
#[cfg(feature = "disassembly")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceText {
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Time of the last change, in s since 1970.
    pub modified: i64,
}

/// Maximum length of a source file in bytes.
#[cfg(feature = "disassembly")]
const MAX_SOURCE: u64 = 16 << 20;

impl FileFinder {
    /// Creates a finder for a recording of this machine since its last boot. It uses paths, also in
    /// the roots of living processes, and reads `[vdso]` from its own process.
    ///
    /// It searches `~/.debug`, `/usr/lib/debug`, and the cache of the debuginfod client
    /// (`DEBUGINFOD_CACHE_PATH`, `XDG_CACHE_HOME/debuginfod_client` or
    /// `~/.cache/debuginfod_client`).
    pub fn local() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable("HOME");
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let cache = variable("XDG_CACHE_HOME").or_else(|| in_home(".cache"));
        let debuginfod =
            variable("DEBUGINFOD_CACHE_PATH").or(cache.map(|cache| cache.join("debuginfod_client")));
        Self {
            system: System::new(),
            is_local: true,
            symfs: None,
            build_id_caches: in_home(".debug").into_iter().collect(),
            debug_folders: vec![PathBuf::from("/usr/lib/debug")],
            debuginfod_caches: debuginfod.into_iter().collect(),
            #[cfg(feature = "debuginfod")]
            debuginfod: None,
            recorded_until: None,
            #[cfg(feature = "names")]
            kernel_cache: None,
        }
    }

    /// Creates a finder for a recording of another machine, or of an earlier boot. It searches the
    /// same places as [`local`](Self::local), but uses a file at the mapped path only if it has the
    /// build id of the mapping.
    pub fn remote() -> Self {
        Self { is_local: false, ..Self::local() }
    }

    /// Searches paths only in this folder, a copy of the root of the recorded system. Also searches
    /// it for debug packages.
    #[must_use]
    pub fn with_symfs(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.debug_folders.insert(0, folder.join("usr/lib/debug"));
        self.symfs = Some(folder);
        self
    }

    /// Searches a build-id cache of the perf tool first, laid out as `~/.debug` and `perf archive`.
    #[must_use]
    pub fn with_build_id_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.build_id_caches.insert(0, folder.into());
        self
    }

    /// Searches this folder first for separate debug information, laid out as `/usr/lib/debug`.
    #[must_use]
    pub fn with_debug_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.debug_folders.insert(0, folder.into());
        self
    }

    /// Searches the cache of a debuginfod client first. Downloads nothing.
    #[must_use]
    pub fn with_debuginfod_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.debuginfod_caches.insert(0, folder.into());
        self
    }

    /// Downloads files that are not found elsewhere, by their build id. This takes as long as the
    /// servers do: use a [`Symbolizer`](crate::Symbolizer) on a thread that may block.
    #[cfg(feature = "debuginfod")]
    #[must_use]
    pub fn with_debuginfod(mut self, servers: Debuginfod) -> Self {
        if let Some(cache) = servers.cache() {
            self.debuginfod_caches.insert(0, cache.to_owned());
        }
        self.debuginfod = Some(servers);
        self
    }

    /// Rejects files without a build id that changed after this time, the end of the recording.
    #[must_use]
    pub fn with_recorded_until(mut self, end: SystemTime) -> Self {
        self.recorded_until = Some(end);
        self
    }

    /// Keeps a copy of the names of the running kernel's functions in this folder, some 3 MB, which
    /// replaces `/proc/kallsyms` in later runs: the kernel takes some 50 ms to generate that list.
    /// The copy has the offsets of functions, which are the same in each boot, but no addresses.
    ///
    /// The folder is created if the folder around it exists. Both must be of this user, and no
    /// other user may write to them; otherwise there is no copy.
    #[cfg(feature = "names")]
    #[must_use]
    pub fn with_kernel_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.kernel_cache = Some(folder.into());
        self
    }

    /// Returns the folder for the copy of the names of the kernel's functions.
    #[cfg(feature = "names")]
    pub(crate) fn kernel_cache(&self) -> Option<&Path> {
        self.kernel_cache.as_deref()
    }

    /// Returns the files of `/proc` and `/sys`.
    #[cfg(feature = "names")]
    pub(crate) fn system(&self) -> &System {
        &self.system
    }

    /// Returns true if the recording is of this machine since its last boot.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Finds the file of a mapping of a process. Take `build_id` from
    /// [`AddressSpaces::build_id`](crate::AddressSpaces::build_id).
    ///
    /// # Errors
    ///
    /// Returns [`NotFound`] with the reason and the rejected candidates.
    pub fn find(
        &self,
        pid: u32,
        mapping: &Mapping,
        build_id: Option<BuildId>,
    ) -> Result<FoundFile, NotFound> {
        let object = mapping.object();
        let mut search = Search::new(self, object, build_id);
        let found = match object.kind() {
            ObjectKind::File => search.try_paths(pid, mapping),
            ObjectKind::Memfd => {
                self.map_files(pid, mapping).and_then(|path| search.try_path(path, Evidence::Inode))
            }
            ObjectKind::Vdso => self.vdso(mapping).and_then(|file| search.check(file, Evidence::Path)),
            _ => return Err(NotFound::no_file(object)),
        };
        let found = found.or_else(|| search.try_caches());
        #[cfg(feature = "debuginfod")]
        let found = found.or_else(|| search.try_servers());
        let Some((object, evidence)) = found else { return Err(search.not_found()) };
        Ok(self.found(mapping.object().path(), object, evidence))
    }

    /// Finds the separate debug information of a known file, by its build id or debug link.
    pub fn find_debug_file(&self, object: ObjectFile) -> FoundFile {
        let path = object.path().as_os_str().as_bytes().to_vec();
        self.found(&path, object, Evidence::Path)
    }

    /// Adds the debug information to the file of a mapped path.
    fn found(&self, path: &[u8], object: ObjectFile, evidence: Evidence) -> FoundFile {
        let debug_file = self.debug_file(&object);
        #[cfg(feature = "names")]
        let name = String::from_utf8_lossy(path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)).into();
        #[cfg(not(feature = "names"))]
        let _ = path;
        FoundFile {
            object,
            evidence,
            debug_file,
            #[cfg(feature = "names")]
            name,
        }
    }

    /// Opens a mapped file that is not a program, such as a jitdump: at its path in the root of the
    /// process while it lives, otherwise at the path itself.
    #[cfg(feature = "names")]
    pub(crate) fn open_in_process(&self, pid: u32, object: &MappedObject) -> io::Result<(File, Metadata)> {
        let path = Path::new(OsStr::from_bytes(object.path()));
        let relative = path.strip_prefix("/").map_err(|_| io::ErrorKind::NotFound)?;
        match &self.symfs {
            Some(symfs) => foreign::open(&symfs.join(relative), LastLink::Refuse),
            None if self.is_local => {
                foreign::open_in_root(&self.system.of_process(pid, "root"), relative, LastLink::Refuse)
                    .or_else(|_| foreign::open(path, LastLink::Refuse))
            }
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Reads a source file that debug information names, at its path or, with
    /// [symfs](Self::with_symfs), below that folder. The file has no build id: compare
    /// [`SourceText::modified`] with the program's.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the path is relative, the file cannot be read, is no regular file on a
    /// disk, or has more than 16 MiB.
    #[cfg(feature = "disassembly")]
    pub fn source(&self, path: &Path) -> io::Result<SourceText> {
        let expected = || io::Error::new(io::ErrorKind::InvalidInput, "expected an absolute path");
        let relative = path.strip_prefix("/").map_err(|_| expected())?;
        let path = self.symfs.as_ref().map_or_else(|| path.to_owned(), |symfs| symfs.join(relative));
        let (file, metadata) = foreign::open(&path, LastLink::Follow)?;
        let mut bytes = Vec::new();
        file.take(MAX_SOURCE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_SOURCE {
            let text =
                format!("expected a source file of at most {MAX_SOURCE} bytes, found {}", metadata.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(SourceText { text: String::from_utf8_lossy(&bytes).into_owned(), modified: metadata.mtime() })
    }

    /// Finds the kernel image `vmlinux` with this build id in `/boot`, `/lib/modules`,
    /// `/usr/lib/debug`, and the caches. `release` is the kernel release, such as `6.12.1-amd64`,
    /// which is part of the usual paths.
    ///
    /// Naming kernel functions does not need this file: see [`kallsyms`](Self::kallsyms).
    ///
    /// # Errors
    ///
    /// Returns [`NotFound`] with the reason and the rejected candidates.
    pub fn find_kernel(&self, release: &str, build_id: BuildId) -> Result<FoundFile, NotFound> {
        let object = MappedObject::new(b"[kernel.kallsyms]");
        let mut search = Search::new(self, &object, Some(build_id));
        let root = self.symfs.as_deref().unwrap_or(Path::new("/"));
        let places = [
            format!("boot/vmlinux-{release}"),
            format!("lib/modules/{release}/vmlinux"),
            format!("lib/modules/{release}/build/vmlinux"),
            format!("usr/lib/debug/boot/vmlinux-{release}"),
            format!("usr/lib/debug/lib/modules/{release}/vmlinux"),
        ];
        // A release with a slash could name a path outside of these folders.
        let mut places = places.iter().filter(|_| !release.contains('/')).map(|place| root.join(place));
        let found = places.find_map(|path| search.try_path(path, Evidence::BuildId));
        let Some((file, evidence)) = found.or_else(|| search.try_caches()) else {
            return Err(search.not_found());
        };
        Ok(self.found(b"vmlinux", file, evidence))
    }

    /// Returns the path of the list of the symbols of a kernel in a build-id cache. For the kernel
    /// that runs, read `/proc/kallsyms`: see [`kernel_build_id`](crate::kernel_build_id).
    pub fn kallsyms(&self, id: BuildId) -> Option<PathBuf> {
        let (folder, name) = folder_and_name(id);
        let places = self.build_id_caches.iter().map(|root| root.join(&folder).join(&name).join("kallsyms"));
        places.into_iter().find(|path| path.is_file())
    }

    /// Returns the link to the mapped file itself, which needs `CAP_CHECKPOINT_RESTORE`.
    pub(super) fn map_files(&self, pid: u32, mapping: &Mapping) -> Option<PathBuf> {
        let name = format!("{:x}-{:x}", mapping.start(), mapping.end());
        self.is_local.then(|| self.system.of_process(pid, "map_files").join(name))
    }

    /// Returns the vdso of this process if the mapping is of the same vdso. 32-bit programs have
    /// another one, which can have the same length.
    fn vdso(&self, mapping: &Mapping) -> Option<ObjectFile> {
        if !self.is_local || mapping.is_below_4_gib() != cfg!(target_pointer_width = "32") {
            return None;
        }
        let bytes = self.system.own_vdso(mapping.end() - mapping.start())?;
        ObjectFile::from_memory("[vdso]", bytes.into()).ok()
    }
}

/// Returns the folder `.build-id/ab` and the name `cdef...` under which caches and packages store a
/// build id.
pub(super) fn folder_and_name(id: BuildId) -> (PathBuf, String) {
    let text = id.to_string();
    let (first, rest) = text.split_at(2);
    (Path::new(".build-id").join(first), rest.to_owned())
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "names")]
    use std::fs;

    use super::*;

    #[cfg(feature = "names")]
    #[test]
    fn file_of_a_runtime_is_in_the_root_of_its_process_or_of_symfs() {
        let pid = std::process::id();
        let folder = std::env::temp_dir().join(format!("perf-symbols-{pid}-files"));
        fs::create_dir_all(folder.join("etc")).expect("a folder");
        fs::write(folder.join("etc/passwd"), "in symfs").expect("a file");
        let open = |finder: FileFinder, path: &[u8]| {
            finder.open_in_process(pid, &MappedObject::new(path)).map(|(_, metadata)| metadata.len()).ok()
        };
        let len = fs::metadata("/etc/passwd").expect("the users").len();
        assert_eq!(open(FileFinder::local(), b"/etc/passwd"), Some(len));
        assert_eq!(open(FileFinder::local(), b"/etc/no-file"), None);
        assert_eq!(open(FileFinder::local(), b"[heap]"), None);
        assert_eq!(open(FileFinder::remote(), b"/etc/passwd"), None);
        let in_symfs = open(FileFinder::remote().with_symfs(&folder), b"/etc/passwd");
        let id = BuildId::new(&[0xab; 20]).expect("20 bytes");
        assert_eq!(FileFinder::local().kallsyms(id), None);
        let list = folder.join(".build-id/ab").join("ab".repeat(19)).join("kallsyms");
        fs::create_dir_all(list.parent().expect("a folder")).expect("a folder");
        fs::write(&list, "").expect("a file");
        let found = FileFinder::remote().with_build_id_cache(&folder).kallsyms(id);
        let _ = fs::remove_dir_all(&folder);
        assert_eq!((in_symfs, found), (Some(8), Some(list)));
    }
}
