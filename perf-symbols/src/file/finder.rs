//! The candidates for the file of a mapping, and the checks that choose among them.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(feature = "debuginfod")]
use super::debuginfod::Debuginfod;
use super::elf::{ElfError, ObjectFile};
use crate::{BuildId, Inode, MappedObject, Mapping, ObjectKind};

/// Finds the files of mappings, and rejects those that are not what was mapped.
///
/// Candidates, in this order: the folder of [`with_symfs`](Self::with_symfs) if there is one; else the path in the root of
/// the process, files that were deleted while they are mapped, and the path itself; then build-id caches of the perf tool,
/// and caches of debuginfod clients. A candidate must have the build id of the mapping. If the mapping has none, device,
/// inode and the time of the last change decide, as far as they are known: see [`Evidence`].
///
/// ```
/// use perf_symbols::{BuildId, FileFinder, MappedObject, Mapping, NotFoundKind};
///
/// // The files of a recording of another machine, unpacked by `tar -x -C /tmp/files`.
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
    is_local: bool,
    symfs: Option<PathBuf>,
    build_id_caches: Vec<PathBuf>,
    debug_folders: Vec<PathBuf>,
    debuginfod_caches: Vec<PathBuf>,
    #[cfg(feature = "debuginfod")]
    debuginfod: Option<Debuginfod>,
    recorded_until: Option<SystemTime>,
}

/// How it is known that a file is what was mapped.
///
/// In order: the strongest is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Evidence {
    /// It has the build id of the mapping.
    BuildId,
    /// It has the device and inode of the mapping, and was not changed after the time that the finder was given.
    Inode,
    /// It is at the right path. The record names neither a build id nor an inode that can be compared: device numbers
    /// of overlay and btrfs in records are not those of stat(2).
    Path,
}

/// A file that was found: returned by [`FileFinder::find`].
#[derive(Debug)]
pub struct FoundFile {
    object: ObjectFile,
    evidence: Evidence,
    debug_file: Option<ObjectFile>,
}

impl FoundFile {
    /// Returns the mapped file. If only its debug information was found, it is that.
    pub fn object(&self) -> &ObjectFile {
        &self.object
    }

    /// Returns the mapped file with its headers, closed.
    #[cfg(feature = "unwind")]
    pub(crate) fn into_closed(self) -> ObjectFile {
        self.object.closed()
    }

    /// Closes the files, whose headers stay.
    #[cfg(feature = "names")]
    pub(crate) fn closed(self) -> Self {
        let debug_file = self.debug_file.map(ObjectFile::closed);
        Self { object: self.object.closed(), debug_file, ..self }
    }

    /// Returns how it is known that the file is what was mapped.
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Returns the separate file with the debug information, if there is one: it has the same build id, or the
    /// checksum in the section `.gnu_debuglink`.
    pub fn debug_file(&self) -> Option<&ObjectFile> {
        self.debug_file.as_ref()
    }
}

/// Why no candidate is the file of a mapping: returned by [`FileFinder::find`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    kind: NotFoundKind,
    object: MappedObject,
    rejected: Vec<(PathBuf, Rejection)>,
}

/// The kinds of [`NotFound`], to count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotFoundKind {
    /// The mapping has no file, such as `//anon` or `[heap]`. Code there was written at run time.
    NoFile,
    /// A file is at the path, and it is another one, or was changed after the recording.
    Replaced,
    /// The permission to open a candidate is missing.
    Denied,
    /// A file is at the path, and it is no ELF file, or damaged.
    Malformed,
    /// There is no file at the path, and no copy of it.
    Missing,
}

impl NotFoundKind {
    /// Returns the reason as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoFile => "memory without a file",
            Self::Replaced => "the file was replaced since it was mapped",
            Self::Denied => "the file may not be read",
            Self::Malformed => "the file is no ELF file",
            Self::Missing => "the file is missing",
        }
    }
}

/// Why a candidate was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It cannot be used.
    Elf(ElfError),
    /// It has another build id, or none.
    BuildId {
        /// The build id of the mapping.
        expected: BuildId,
        /// The build id of the candidate.
        found: Option<BuildId>,
    },
    /// It is another file on the same device.
    Inode {
        /// The inode in the record.
        expected: u64,
        /// The inode of the candidate.
        found: u64,
    },
    /// It was changed after the recording.
    Modified {
        /// When the recording ended, in seconds since 1970.
        recorded: u64,
        /// When the candidate was last changed, in seconds since 1970.
        modified: u64,
    },
    /// A server was asked for it, and failed; its message.
    Download(String),
    /// It may be another file: the mapping has no build id or inode to compare, and the same path leads to different
    /// files on another machine, in another root, and by the links of a process that has the id now.
    Unverified,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elf(error) => error.fmt(f),
            Self::BuildId { expected, found: Some(found) } => {
                write!(f, "expected the build id {expected}, found {found}")
            }
            Self::BuildId { expected, found: None } => {
                write!(f, "expected the build id {expected}, found none")
            }
            Self::Inode { expected, found } => write!(f, "expected inode {expected}, found {found}"),
            Self::Modified { recorded, modified } => {
                write!(f, "changed {} s after the recording", modified.saturating_sub(*recorded))
            }
            Self::Download(message) => f.write_str(message),
            Self::Unverified => f.write_str("the mapping has no build id or inode to compare"),
        }
    }
}

impl NotFound {
    /// Returns the reason, to count it.
    pub fn kind(&self) -> NotFoundKind {
        self.kind
    }

    /// Returns what is mapped.
    pub fn object(&self) -> &MappedObject {
        &self.object
    }

    /// Returns the candidates that exist, each with the reason why it was rejected.
    pub fn rejected(&self) -> impl Iterator<Item = (&Path, &Rejection)> {
        self.rejected.iter().map(|(path, rejection)| (path.as_path(), rejection))
    }

    fn new(object: &MappedObject, rejected: Vec<(PathBuf, Rejection)>) -> Self {
        let kinds = rejected.iter().map(|(_, rejection)| match rejection {
            Rejection::Elf(ElfError::Io { kind: io::ErrorKind::PermissionDenied, .. }) => {
                NotFoundKind::Denied
            }
            Rejection::Elf(_) => NotFoundKind::Malformed,
            Rejection::Unverified | Rejection::Download(_) => NotFoundKind::Missing,
            _ => NotFoundKind::Replaced,
        });
        Self { kind: kinds.min().unwrap_or(NotFoundKind::Missing), object: object.clone(), rejected }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", String::from_utf8_lossy(self.object.path()), self.kind.as_str())?;
        if let Some((path, rejection)) = self.rejected.first() {
            write!(f, " ({}: {rejection})", path.display())?;
        }
        f.write_str(match self.kind {
            NotFoundKind::NoFile => "; a runtime with a perf map or jitdump names its code",
            NotFoundKind::Replaced => "; give the old file by a build-id cache or symfs",
            NotFoundKind::Denied => "; run as the user of the process, or as root",
            NotFoundKind::Malformed | NotFoundKind::Missing => {
                "; give the file by symfs, a build-id cache or a debug package"
            }
        })
    }
}

impl std::error::Error for NotFound {}

impl FileFinder {
    /// Makes a finder for a recording of this machine, since it was booted: paths are used, in the roots of processes
    /// that live, and the code of `[vdso]` is that of this process.
    ///
    /// It looks into `~/.debug`, `/usr/lib/debug`, and the cache of the debuginfod client (`DEBUGINFOD_CACHE_PATH`,
    /// `XDG_CACHE_HOME/debuginfod_client` or `~/.cache/debuginfod_client`).
    pub fn local() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable("HOME");
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let cache = variable("XDG_CACHE_HOME").or_else(|| in_home(".cache"));
        let debuginfod =
            variable("DEBUGINFOD_CACHE_PATH").or(cache.map(|cache| cache.join("debuginfod_client")));
        Self {
            is_local: true,
            symfs: None,
            build_id_caches: in_home(".debug").into_iter().collect(),
            debug_folders: vec![PathBuf::from("/usr/lib/debug")],
            debuginfod_caches: debuginfod.into_iter().collect(),
            #[cfg(feature = "debuginfod")]
            debuginfod: None,
            recorded_until: None,
        }
    }

    /// Makes a finder for a recording of another machine, or of an earlier boot. As [`local`](Self::local), but a file at
    /// the path is used only if it has the build id of the mapping.
    pub fn remote() -> Self {
        Self { is_local: false, ..Self::local() }
    }

    /// Looks for paths in this folder, which has a copy of the root of the recorded system, and nowhere else. Debug
    /// packages are looked for there, too.
    #[must_use]
    pub fn with_symfs(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.debug_folders.insert(0, folder.join("usr/lib/debug"));
        self.symfs = Some(folder);
        self
    }

    /// Looks into a build-id cache of the perf tool, before others: the form of `~/.debug` and of `perf archive`.
    #[must_use]
    pub fn with_build_id_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.build_id_caches.insert(0, folder.into());
        self
    }

    /// Looks for separate debug information in this folder, before others: the form of `/usr/lib/debug`.
    #[must_use]
    pub fn with_debug_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.debug_folders.insert(0, folder.into());
        self
    }

    /// Looks into a cache of a debuginfod client, before others. Nothing is fetched.
    #[must_use]
    pub fn with_debuginfod_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.debuginfod_caches.insert(0, folder.into());
        self
    }

    /// Fetches files that are nowhere else, by their build id. It takes as long as the servers do: use a
    /// [`Symbolizer`](crate::Symbolizer) on a thread that may wait.
    #[cfg(feature = "debuginfod")]
    #[must_use]
    pub fn with_debuginfod(mut self, servers: Debuginfod) -> Self {
        if let Some(cache) = servers.cache() {
            self.debuginfod_caches.insert(0, cache.to_owned());
        }
        self.debuginfod = Some(servers);
        self
    }

    /// Rejects files without a build id that were changed after this time, when the recording ended.
    #[must_use]
    pub fn with_recorded_until(mut self, end: SystemTime) -> Self {
        self.recorded_until = Some(end);
        self
    }

    /// Returns whether the recording is of this machine since it was booted.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Finds the file of a mapping of a process. `build_id` comes from
    /// [`AddressSpaces::build_id`](crate::AddressSpaces::build_id).
    ///
    /// # Errors
    ///
    /// [`NotFound`]: the reason, with the candidates that were rejected.
    pub fn find(
        &self,
        pid: u32,
        mapping: &Mapping,
        build_id: Option<BuildId>,
    ) -> Result<FoundFile, NotFound> {
        let object = mapping.object();
        let no_file =
            || NotFound { kind: NotFoundKind::NoFile, object: object.clone(), rejected: Vec::new() };
        let mut search = Search { finder: self, object, build_id, rejected: Vec::new() };
        let found = match object.kind() {
            ObjectKind::File => search.try_paths(pid, mapping),
            ObjectKind::Memfd => {
                self.map_files(pid, mapping).and_then(|path| search.try_path(path, Evidence::Inode))
            }
            ObjectKind::Vdso => self.vdso(mapping).and_then(|file| search.check(file, Evidence::Path)),
            _ => return Err(no_file()),
        };
        let found = found.or_else(|| search.try_caches());
        #[cfg(feature = "debuginfod")]
        let found = found.or_else(|| search.try_servers());
        let Some((object, evidence)) = found else { return Err(NotFound::new(object, search.rejected)) };
        let debug_file = self.debug_file(&object);
        Ok(FoundFile { object, evidence, debug_file })
    }

    /// Returns the path of an object as its process sees it, while that lives; else the path itself.
    #[cfg(feature = "names")]
    pub(crate) fn path_in_process(&self, pid: u32, object: &MappedObject) -> Option<PathBuf> {
        let path = Path::new(OsStr::from_bytes(object.path()));
        let relative = path.strip_prefix("/").ok()?;
        match &self.symfs {
            Some(symfs) => Some(symfs.join(relative)),
            None if self.is_local => {
                let in_root = Path::new("/proc").join(pid.to_string()).join("root").join(relative);
                Some(if in_root.exists() { in_root } else { path.to_owned() })
            }
            None => None,
        }
    }

    /// Finds the file of the kernel itself, `vmlinux`, with this build id: in `/boot`, `/lib/modules`, `/usr/lib/debug`, and
    /// the caches. `release` is the kernel's, such as `6.12.1-amd64`, which the usual paths have.
    ///
    /// Names of the kernel's functions do not need it: see [`kallsyms`](Self::kallsyms).
    ///
    /// # Errors
    ///
    /// [`NotFound`]: the reason, with the candidates that were rejected.
    pub fn find_kernel(&self, release: &str, build_id: BuildId) -> Result<FoundFile, NotFound> {
        let object = MappedObject::new(b"[kernel.kallsyms]");
        let mut search =
            Search { finder: self, object: &object, build_id: Some(build_id), rejected: Vec::new() };
        let root = self.symfs.as_deref().unwrap_or(Path::new("/"));
        let places = [
            format!("boot/vmlinux-{release}"),
            format!("lib/modules/{release}/vmlinux"),
            format!("lib/modules/{release}/build/vmlinux"),
            format!("usr/lib/debug/boot/vmlinux-{release}"),
            format!("usr/lib/debug/lib/modules/{release}/vmlinux"),
        ];
        // A release with a folder would leave those that are searched.
        let mut places = places.iter().filter(|_| !release.contains('/')).map(|place| root.join(place));
        let found = places.find_map(|path| search.try_path(path, Evidence::BuildId));
        let Some((file, evidence)) = found.or_else(|| search.try_caches()) else {
            return Err(NotFound::new(&object, search.rejected));
        };
        let debug_file = self.debug_file(&file);
        Ok(FoundFile { object: file, evidence, debug_file })
    }

    /// Returns the path of the list of the symbols of a kernel in a build-id cache. For the kernel that runs, read
    /// `/proc/kallsyms`: see [`kernel_build_id`](crate::kernel_build_id).
    pub fn kallsyms(&self, id: BuildId) -> Option<PathBuf> {
        let (folder, name) = folder_and_name(id);
        let places = self.build_id_caches.iter().map(|root| root.join(&folder).join(&name).join("kallsyms"));
        places.into_iter().find(|path| path.is_file())
    }

    /// Returns the link to the mapped file itself, which needs `CAP_CHECKPOINT_RESTORE`.
    fn map_files(&self, pid: u32, mapping: &Mapping) -> Option<PathBuf> {
        let name = format!("{:x}-{:x}", mapping.start(), mapping.end());
        self.is_local.then(|| Path::new("/proc").join(pid.to_string()).join("map_files").join(name))
    }

    /// Returns the vdso of this process if the mapping is as long: 32-bit programs have another one.
    fn vdso(&self, mapping: &Mapping) -> Option<ObjectFile> {
        if !self.is_local {
            return None;
        }
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let (range, _) = maps.lines().find(|line| line.ends_with("[vdso]"))?.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let len = u64::from_str_radix(end, 16).ok()?.checked_sub(start)?;
        if len != mapping.end() - mapping.start() {
            return None;
        }
        let mut bytes = vec![0; len as usize];
        File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
        ObjectFile::from_memory("[vdso]", bytes.into()).ok()
    }

    /// Returns the separate file with the debug information of a file that has none itself.
    fn debug_file(&self, object: &ObjectFile) -> Option<ObjectFile> {
        if object.section_addresses(".debug_info").is_some() {
            return None;
        }
        let by_id = object.build_id().and_then(|id| {
            let mut candidates = self.debug_files_by_id(id).into_iter().filter_map(|path| open(path).ok());
            candidates.find(|candidate| candidate.build_id() == Some(id))
        });
        let found = by_id.or_else(|| self.debug_file_by_link(object));
        #[cfg(feature = "debuginfod")]
        let found = found.or_else(|| {
            let id = object.build_id()?;
            let path = self.debuginfod.as_ref()?.fetch(id, "debuginfo", &self.debuginfod_caches).ok()?;
            open(path).ok().filter(|fetched| fetched.build_id() == Some(id))
        });
        found
    }

    fn debug_files_by_id(&self, id: BuildId) -> Vec<PathBuf> {
        let (folder, name) = folder_and_name(id);
        let in_packages =
            self.debug_folders.iter().map(|root| root.join(&folder).join(format!("{name}.debug")));
        let in_caches = self.build_id_caches.iter().map(|root| root.join(&folder).join(&name).join("debug"));
        let in_debuginfod =
            self.debuginfod_caches.iter().map(|root| root.join(id.to_string()).join("debuginfo"));
        in_packages.chain(in_caches).chain(in_debuginfod).collect()
    }

    fn debug_file_by_link(&self, object: &ObjectFile) -> Option<ObjectFile> {
        let link = object.debug_link()?;
        let name = OsStr::from_bytes(&link.name);
        // Of /bin/ls, the package has /usr/lib/debug/usr/bin/ls.debug.
        let path = object.path().canonicalize().unwrap_or_else(|_| object.path().to_owned());
        let folder = path.parent()?;
        let mut candidates = vec![folder.join(name), folder.join(".debug").join(name)];
        if let Ok(relative) = folder.strip_prefix("/") {
            candidates.extend(self.debug_folders.iter().map(|root| root.join(relative).join(name)));
        }
        candidates.into_iter().filter_map(|path| open(path).ok()).find(|candidate| {
            let same_id = candidate.build_id() == object.build_id() || candidate.build_id().is_none();
            let is_itself = candidate.identity() == object.identity();
            let mut crc = crc32fast::Hasher::new();
            same_id
                && !is_itself
                && candidate.read_all(|piece| crc.update(piece)).is_ok()
                && crc.finalize() == link.crc
        })
    }
}

/// Returns the folder `.build-id/ab` and the name `cdef...` by which caches and packages file a build id.
fn folder_and_name(id: BuildId) -> (PathBuf, String) {
    let text = id.to_string();
    let (first, rest) = text.split_at(2);
    (Path::new(".build-id").join(first), rest.to_owned())
}

/// Opens a candidate. A missing one is not reported.
fn open(path: PathBuf) -> Result<ObjectFile, Option<(PathBuf, ElfError)>> {
    ObjectFile::open(&path).map_err(|error| match error {
        ElfError::Io { kind: io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, .. } => None,
        error => Some((path, error)),
    })
}

/// One search, with the candidates that it rejected.
struct Search<'a> {
    finder: &'a FileFinder,
    object: &'a MappedObject,
    build_id: Option<BuildId>,
    rejected: Vec<(PathBuf, Rejection)>,
}

impl Search<'_> {
    /// Tries the places of the mapped path, the likeliest first.
    fn try_paths(&mut self, pid: u32, mapping: &Mapping) -> Option<(ObjectFile, Evidence)> {
        let path = Path::new(OsStr::from_bytes(mapping.object().path()));
        let relative = path.strip_prefix("/").ok()?;
        if let Some(symfs) = &self.finder.symfs {
            return self.try_path(symfs.join(relative), Evidence::Path);
        }
        if !self.finder.is_local {
            return self.try_path(path.to_owned(), Evidence::BuildId);
        }
        let process = Path::new("/proc").join(pid.to_string());
        let root = process.join("root");
        let in_root = self.try_path(root.join(relative), Evidence::Path);
        // The same file by its path here, which stays when the process ends.
        let here = |(file, evidence): (ObjectFile, Evidence)| {
            let same = open(path.to_owned()).ok().filter(|same| same.identity() == file.identity());
            (same.unwrap_or(file), evidence)
        };
        let in_root = in_root.map(here);
        // Of files that were deleted or renamed, the kernel still has links. What they lead to now may not be what was
        // mapped: a process of the same id, or another mapping at the same addresses.
        let links = self.finder.map_files(pid, mapping).into_iter().chain([process.join("exe")]);
        // Few users may follow them, which is no reason.
        let mut links = links.filter(|link| link.metadata().is_ok());
        let found = in_root.or_else(|| links.find_map(|path| self.try_path(path, Evidence::Inode)));
        // The path of a process in another root leads to other files here.
        let least = if root.metadata().is_ok() { Evidence::Inode } else { Evidence::Path };
        found.or_else(|| self.try_path(path.to_owned(), least))
    }

    /// Opens a candidate, and takes it if it is the file by at least this evidence.
    fn try_path(&mut self, path: PathBuf, least: Evidence) -> Option<(ObjectFile, Evidence)> {
        match open(path) {
            Ok(file) => self.check(file, least),
            Err(reason) => {
                self.rejected.extend(reason.map(|(path, error)| (path, Rejection::Elf(error))));
                None
            }
        }
    }

    /// Looks for copies by the build id.
    fn try_caches(&mut self) -> Option<(ObjectFile, Evidence)> {
        let id = self.build_id?;
        let (folder, name) = folder_and_name(id);
        let cached = if self.object.kind() == ObjectKind::Vdso { "vdso" } else { "elf" };
        let in_caches =
            self.finder.build_id_caches.iter().map(|root| root.join(&folder).join(&name).join(cached));
        let in_debuginfod =
            self.finder.debuginfod_caches.iter().map(|root| root.join(id.to_string()).join("executable"));
        // Some packages have links to the programs beside the debug information.
        let in_packages = self.finder.debug_folders.iter().map(|root| root.join(&folder).join(&name));
        let candidates: Vec<_> = in_caches.chain(in_debuginfod).chain(in_packages).collect();
        let debug_files = self.finder.debug_files_by_id(id);
        candidates.into_iter().chain(debug_files).find_map(|path| self.try_path(path, Evidence::BuildId))
    }

    /// Asks debuginfod servers for the file.
    #[cfg(feature = "debuginfod")]
    fn try_servers(&mut self) -> Option<(ObjectFile, Evidence)> {
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

    fn check(&mut self, file: ObjectFile, least: Evidence) -> Option<(ObjectFile, Evidence)> {
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
        // The files of symfs are copies, whose inodes and times say nothing.
        if self.finder.symfs.is_some() {
            return Ok(Evidence::Path);
        }
        let Some(identity) = file.identity() else { return Ok(Evidence::Path) };
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let modified = u64::try_from(identity.modified.0).unwrap_or(0);
        if let Some(recorded) = self.finder.recorded_until.map(seconds).filter(|&end| modified > end) {
            return Err(Rejection::Modified { recorded, modified });
        }
        match self.object.inode() {
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

/// Compares a `st_dev` with the device in a record: 12 and 20 bits, as the kernel encodes them for programs.
fn has_device(dev: u64, inode: Inode) -> bool {
    let major = dev >> 8 & 0xfff | dev >> 32 & 0xffff_f000;
    let minor = dev & 0xff | dev >> 12 & 0xffff_ff00;
    (major, minor) == (inode.major.into(), inode.minor.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_is_the_first_in_order_of_all_candidates() {
        let object = MappedObject::new(b"/bin/a");
        let denied = || Rejection::Elf(ElfError::from(io::Error::from_raw_os_error(13)));
        let malformed = || Rejection::Elf(ElfError::Malformed("no header".to_owned()));
        let other = || Rejection::Inode { expected: 1, found: 2 };
        for (rejected, kind, text) in [
            (
                vec![denied(), malformed()],
                NotFoundKind::Denied,
                "/bin/a: the file may not be read (/x: Permission denied (os error 13)); \
                 run as the user of the process, or as root",
            ),
            (
                vec![malformed(), Rejection::Unverified],
                NotFoundKind::Malformed,
                "/bin/a: the file is no ELF file (/x: expected an ELF file: no header); \
                 give the file by symfs, a build-id cache or a debug package",
            ),
            (
                vec![other(), denied()],
                NotFoundKind::Replaced,
                "/bin/a: the file was replaced since it was mapped (/x: expected inode 1, found 2); \
                 give the old file by a build-id cache or symfs",
            ),
            (
                vec![],
                NotFoundKind::Missing,
                "/bin/a: the file is missing; give the file by symfs, a build-id cache or a debug package",
            ),
        ] {
            let rejected = rejected.into_iter().map(|rejection| (PathBuf::from("/x"), rejection)).collect();
            let reason = NotFound::new(&object, rejected);
            assert_eq!((reason.kind(), reason.to_string().as_str()), (kind, text));
            assert_eq!(reason.object(), &object);
        }
    }

    #[cfg(feature = "names")]
    #[test]
    fn path_of_a_runtime_is_in_the_root_of_its_process_or_of_symfs() {
        let pid = std::process::id();
        let in_process =
            |finder: FileFinder, path: &[u8]| finder.path_in_process(pid, &MappedObject::new(path));
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        assert_eq!(in_process(FileFinder::local(), b"/etc/passwd"), Some(root.join("etc/passwd")));
        assert_eq!(in_process(FileFinder::local(), b"/etc/no-file"), Some(PathBuf::from("/etc/no-file")));
        assert_eq!(in_process(FileFinder::local(), b"//anon/../x"), Some(PathBuf::from("//anon/../x")));
        assert_eq!(in_process(FileFinder::local(), b"[heap]"), None);
        assert_eq!(in_process(FileFinder::remote(), b"/etc/passwd"), None);
        let symfs = FileFinder::remote().with_symfs("/files");
        assert_eq!(in_process(symfs, b"/etc/passwd"), Some(PathBuf::from("/files/etc/passwd")));
        let id = BuildId::new(&[0xab; 20]).expect("20 bytes");
        assert_eq!(FileFinder::local().kallsyms(id), None);
        let cache = std::env::temp_dir().join(format!("perf-symbols-{pid}-cache"));
        let list = cache.join(".build-id/ab").join("ab".repeat(19)).join("kallsyms");
        fs::create_dir_all(list.parent().expect("a folder")).expect("a folder");
        fs::write(&list, "").expect("a file");
        let found = FileFinder::remote().with_build_id_cache(&cache).kallsyms(id);
        let _ = fs::remove_dir_all(&cache);
        assert_eq!(found, Some(list));
    }

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
