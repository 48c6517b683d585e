//! The place of an output, found without links and files that other users may have put there.
//!
//! In a folder in which others may create files, such as `/tmp`, a link or a file of another user
//! may have the name of an output before the output is there. A link leads to a file that only this
//! user can write, and a file gives its owner what is written to it. The kernel refuses to follow
//! or open these if `fs.protected_symlinks`, `fs.protected_regular` and `fs.protected_fifos` are
//! set, but only in folders with the sticky bit. Here each part of a path is looked up separately,
//! in the folder found for the part before it, so that nobody can exchange a part in between.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, mkdirat, openat,
    readlinkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::out::message::shown;

/// Links in a path, at most: as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// A folder, and a name in it. The name is not a link, except for the kernel's own links in
/// `/proc`.
#[derive(Clone, Debug)]
pub(crate) struct OutputPath {
    folder: Arc<OwnedFd>,
    name: OsString,
    /// The path after all links were followed.
    path: PathBuf,
    is_of_proc: bool,
}

impl OutputPath {
    /// Finds the folder of a path, and the name in it. Links are followed, also to a file that is
    /// not there.
    ///
    /// # Errors
    ///
    /// A folder does not exist or cannot be entered, or a link belongs to another user and others
    /// may create links in its folder.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let mut folder = open_folder(CWD, Path::new("."))?;
        let mut rest: VecDeque<OsString> = path.components().map(part).collect();
        let (mut links, mut path) = (0, PathBuf::new());
        let found = |folder, name, path: PathBuf, is_of_proc| {
            let (folder, path) = (Arc::new(folder), path.join(&name));
            Ok(Self { folder, name, path, is_of_proc })
        };
        while let Some(name) = rest.pop_front() {
            let is_folder = ["/", ".", ".."].iter().any(|known| name == *known);
            let known = if is_folder { Ok(None) } else { stat_name(&folder, &name) }?;
            let is_link = known.as_ref().is_some_and(|stat| kind(stat) == FileType::Symlink);
            if is_link && is_proc(&folder) {
                if rest.is_empty() {
                    return found(folder, name, path, true);
                }
                folder = open_folder(&folder, &name)?;
                path.push(name);
            } else if let Some(link) = known.filter(|_| is_link) {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if !is_trusted(&folder, &link)? {
                    return Err(foreign(&name, "symbolic link", &link));
                }
                let target = readlinkat(&folder, &name, Vec::new())?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                target.components().rev().for_each(|component| rest.push_front(part(component)));
            } else if rest.is_empty() {
                return found(folder, name, path, false);
            } else {
                folder = open_folder_itself(&folder, &name)?;
                path.push(name);
            }
        }
        // The path is empty.
        Err(Errno::NOENT.into())
    }

    /// Returns the path after all links were followed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the same path with a suffix after the name.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        let mut name = self.name.clone();
        name.push(suffix);
        self.with_name(name)
    }

    /// Returns another name in the same folder.
    pub(crate) fn with_name(&self, name: impl Into<OsString>) -> Self {
        let name = name.into();
        Self { path: self.path.with_file_name(&name), name, ..self.clone() }
    }

    /// Returns whether it is a link of `/proc`, as `/dev/stdout` is. The target of such a link has
    /// no name, so another file cannot replace it.
    pub(crate) fn is_of_proc(&self) -> bool {
        self.is_of_proc
    }

    /// Returns what is there; `None` if nothing is.
    pub(crate) fn stat(&self) -> io::Result<Option<Stat>> {
        if self.is_of_proc {
            return Ok(Some(statat(&self.folder, &self.name, AtFlags::empty())?));
        }
        Ok(stat_name(&self.folder, &self.name)?)
    }

    /// Returns whether it is a file that another file can replace.
    pub(crate) fn is_replaceable(&self) -> io::Result<bool> {
        Ok(!self.is_of_proc && self.stat()?.is_some_and(|stat| kind(&stat) == FileType::RegularFile))
    }

    /// Creates a file, for its owner and those that the mode and the mask permit.
    ///
    /// # Errors
    ///
    /// `EEXIST` if the name exists, or another errno of `openat`.
    pub(crate) fn create(&self, mode: u32) -> io::Result<File> {
        self.open_with(OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode)
    }

    /// Opens what is there for writing, or creates a file. Nothing is truncated.
    ///
    /// # Errors
    ///
    /// The file belongs to another user, and others may create files in the folder.
    pub(crate) fn open(&self, mode: u32, appends: bool) -> io::Result<File> {
        let append = if appends { OFlags::APPEND } else { OFlags::empty() };
        if self.is_of_proc {
            return self.open_with(append, 0);
        }
        let Some(stat) = self.stat()? else {
            return self.open_with(append | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode);
        };
        self.check(&stat)?;
        let file = self.open_with(append | OFlags::NOFOLLOW, 0)?;
        // Another user may have exchanged the file since the check.
        self.check(&fstat(&file)?)?;
        Ok(file)
    }

    fn open_with(&self, flags: OFlags, mode: u32) -> io::Result<File> {
        let flags = flags | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        Ok(File::from(openat(&self.folder, &self.name, flags, Mode::from_raw_mode(mode))?))
    }

    fn check(&self, stat: &Stat) -> io::Result<()> {
        if is_trusted(&self.folder, stat)? { Ok(()) } else { Err(foreign(&self.name, "file", stat)) }
    }

    /// Renames the file in its folder, and replaces a file that has the new name.
    pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
        Ok(renameat(&self.folder, &self.name, &to.folder, &to.name)?)
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }
}

/// Creates a folder and its parent folders, unless they exist.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    let place = match OutputPath::find(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                create_folders(parent)?;
                OutputPath::find(path)?
            }
            _ => return Err(error),
        },
        place => place?,
    };
    match mkdirat(&place.folder, &place.name, Mode::from_raw_mode(0o777)) {
        Err(Errno::EXIST) if place.stat()?.is_some_and(|stat| kind(&stat) == FileType::Directory) => Ok(()),
        created => Ok(created?),
    }
}

fn part(component: Component<'_>) -> OsString {
    component.as_os_str().to_owned()
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn stat_name(folder: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, Errno> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_folder(folder: impl std::os::fd::AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

fn open_folder_itself(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// Returns whether the folder is in `/proc`, whose links, such as `/proc/self/fd/1`, have no target
/// to read.
fn is_proc(folder: &OwnedFd) -> bool {
    fstatfs(folder).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC)
}

/// Returns whether a link or file of a folder belongs to this user, root or the owner of the
/// folder, or nobody else can have created it.
fn is_trusted(folder: &OwnedFd, stat: &Stat) -> io::Result<bool> {
    let folder = fstat(folder)?;
    let is_shared = folder.st_mode & 0o022 != 0;
    Ok(!is_shared || [geteuid().as_raw(), folder.st_uid, 0].contains(&stat.st_uid))
}

fn foreign(name: &OsStr, what: &str, stat: &Stat) -> io::Error {
    let (name, user) = (shown(name), stat.st_uid);
    let text =
        format!("{name} is a {what} of user {user} in a folder that others may write: choose another folder");
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};

    use rustix::fs::mkfifoat;

    use super::*;

    /// A folder with this mode, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, mode: u32) -> Self {
            let path = std::env::temp_dir().join(format!("perfkit-path-{}-{name}", std::process::id()));
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Self(path)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Gives a link or file to another user. Returns `false` if only root can.
    fn give_away(path: &Path) -> bool {
        let given = lchown(path, Some(65534), Some(65534));
        if given.is_err() {
            eprintln!("skipped: only root can make a file of another user");
        }
        given.is_ok()
    }

    fn write(path: &Path) -> io::Result<()> {
        OutputPath::find(path)?.open(0o600, false)?.write_all(b"text")
    }

    #[test]
    fn own_links_are_followed_to_what_is_there_or_not() {
        let folder = Folder::new("own", 0o1777);
        fs::create_dir(folder.path("in")).unwrap();
        symlink("in/../in", folder.path("folder")).unwrap();
        symlink(folder.path("folder/new"), folder.path("link")).unwrap();
        let place = OutputPath::find(&folder.path("link")).unwrap();
        assert_eq!(place.path(), folder.path("in/../in/new"));
        assert!(place.stat().unwrap().is_none());
        write(&folder.path("link")).unwrap();
        assert_eq!(fs::read(folder.path("in/new")).unwrap(), b"text");
        assert!(folder.path("link").is_symlink());
        symlink("loop", folder.path("loop")).unwrap();
        assert_eq!(OutputPath::find(&folder.path("loop")).unwrap_err().raw_os_error(), Some(40));
        for path in ["", "/nonexistent/x", "link/x"] {
            assert!(
                OutputPath::find(&if path.is_empty() { PathBuf::new() } else { folder.path(path) }).is_err()
            );
        }
    }

    #[test]
    fn links_of_others_are_not_followed_where_others_can_make_them() {
        for (name, mode, is_followed) in
            [("sticky", 0o1777, false), ("group", 0o775, false), ("private", 0o755, true)]
        {
            let (folder, private) = (Folder::new(name, mode), Folder::new(&format!("{name}-own"), 0o700));
            fs::write(private.path("victim"), "old").unwrap();
            for (name, target) in [("file", "victim"), ("missing", "new"), ("folder", "")] {
                symlink(private.path(target), folder.path(name)).unwrap();
                if !give_away(&folder.path(name)) {
                    return;
                }
            }
            for path in ["file", "missing", "folder/other"] {
                let written = write(&folder.path(path));
                assert_eq!(written.is_ok(), is_followed, "{name} {path}: {written:?}");
                let error = written.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(is_followed || error.contains("symbolic link of user 65534"), "{error}");
            }
            assert_eq!(fs::read(private.path("victim")).unwrap() == b"text", is_followed, "{name}");
            assert_eq!(private.path("new").exists() && private.path("other").exists(), is_followed, "{name}");
        }
    }

    #[test]
    fn files_of_others_are_not_written_where_others_can_make_them() {
        let folder = Folder::new("files", 0o1777);
        fs::write(folder.path("file"), "old").unwrap();
        mkfifoat(CWD, folder.path("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["file", "fifo"] {
            if !give_away(&folder.path(name)) {
                return;
            }
            let error = write(&folder.path(name)).unwrap_err().to_string();
            assert!(error.contains(&format!("{name} is a file of user 65534")), "{error}");
        }
        assert_eq!(fs::read(folder.path("file")).unwrap(), b"old");
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
        write(&folder.path("file")).unwrap();
    }

    #[test]
    fn devices_and_open_files_are_written_as_they_are() {
        write(Path::new("/dev/null")).unwrap();
        let folder = Folder::new("open", 0o700);
        let file = File::create(folder.path("file")).unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let place = OutputPath::find(Path::new(&path)).unwrap();
        assert!(place.is_of_proc() && !place.is_replaceable().unwrap());
        write(Path::new(&path)).unwrap();
        assert_eq!(fs::read(folder.path("file")).unwrap(), b"text");
    }

    #[test]
    fn folders_are_created_as_far_as_they_are_missing() {
        let folder = Folder::new("create", 0o1777);
        create_folders(&folder.path("a/b/c")).unwrap();
        create_folders(&folder.path("a/b/c")).unwrap();
        assert!(folder.path("a/b/c").is_dir());
        fs::write(folder.path("file"), "").unwrap();
        assert!(
            create_folders(&folder.path("file")).is_err() && create_folders(&folder.path("file/x")).is_err()
        );
        symlink(folder.path("a"), folder.path("link")).unwrap();
        if give_away(&folder.path("link")) {
            assert!(create_folders(&folder.path("link/new")).is_err());
            assert!(!folder.path("a/new").exists());
        }
        assert_eq!(fs::metadata(folder.path("a")).unwrap().uid(), geteuid().as_raw());
    }
}
