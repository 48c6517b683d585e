//! Pins: paths that keep objects alive.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use perf_ring::Errno;
use perf_ring::abi::bpf::{BpfCmd, BpfMapFlags};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

use crate::bpf_fs::BpfFs;
use crate::error::Error;
use crate::link::Link;
use crate::object::{ObjectKind, own_descriptor};
use crate::privileges::BpfPrivileges;
use crate::program::ProgramFd;
use crate::syscall::{MapFd, obj_get, obj_pin};

/// `bpf(BPF_OBJ_PIN)`—Pins an object to a path.
pub(crate) fn pin(fd: BorrowedFd<'_>, path: &Path) -> Result<(), Error> {
    pin_at(fd, &c_path(path)?, path)
}

/// Pins an object by the path `at`, which errors show as `path`.
fn pin_at(fd: BorrowedFd<'_>, at: &CStr, path: &Path) -> Result<(), Error> {
    match obj_pin(fd, at) {
        Ok(()) => Ok(()),
        Err(errno) => {
            // The kernel's errno for a path on another file system is EPERM or EINVAL.
            if errno != Errno::EEXIST {
                BpfFs::at(parent(path)).check()?;
            }
            Err(failed(BpfCmd::OBJ_PIN, path, errno))
        }
    }
}

/// `bpf(BPF_OBJ_GET)`—Opens the object of this kind that is pinned to a path, or returns `None` if
/// there is no such path.
pub(crate) fn open_if_pinned(
    kind: ObjectKind,
    path: &Path,
    access: BpfMapFlags,
) -> Result<Option<OwnedFd>, Error> {
    open_at(kind, &c_path(path)?, path, access)
}

/// Opens an object by the path `at`, which errors show as `path`.
fn open_at(kind: ObjectKind, at: &CStr, path: &Path, access: BpfMapFlags) -> Result<Option<OwnedFd>, Error> {
    match obj_get(at, access.bits()) {
        Ok(fd) => kind.check_opened(&fd, Some(path)).map(|()| Some(fd)),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(failed(BpfCmd::OBJ_GET, path, errno)),
    }
}

/// Opens the object of this kind that is pinned to a path.
pub(crate) fn open_pinned(kind: ObjectKind, path: &Path, access: BpfMapFlags) -> Result<OwnedFd, Error> {
    open_if_pinned(kind, path, access)?.ok_or_else(|| failed(BpfCmd::OBJ_GET, path, Errno::ENOENT))
}

/// Removes a pin, and returns `false` if there is no such path. The object lives on as long as it
/// is used.
///
/// # Errors
///
/// [`Error::NotBpfFs`] if the path is on another file system: no ordinary file is removed.
pub fn unpin(path: impl AsRef<Path>) -> Result<bool, Error> {
    match PinPath::open(path.as_ref()) {
        Ok(path) => path.unlink(),
        Err(error) if error.errno() == Some(Errno::ENOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the directory of a path.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn failed(command: BpfCmd, path: &Path, errno: Errno) -> Error {
    // The kernel refuses such names with EPERM, whatever the capabilities.
    let has_dot = path.file_name().is_some_and(|name| name.as_bytes().contains(&b'.'));
    if errno == Errno::EPERM && has_dot {
        return Error::PinPath {
            path: path.into(),
            expected: "a name without '.', which the kernel reserves",
        };
    }
    Error::Pin { command, path: path.into(), errno, privilege: BpfPrivileges::of_errno(errno) }
}

fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::PinPath { path: path.into(), expected: "no NUL byte" })
}

/// Pins.
impl MapFd {
    /// `bpf(BPF_OBJ_PIN)`—Pins the map to a new path on a bpf file system. Since Linux 4.4.
    #[doc(alias = "BPF_OBJ_PIN")]
    pub fn pin(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        pin(self.as_fd(), path.as_ref())
    }

    /// `bpf(BPF_OBJ_GET)`—Opens the map that is pinned to a path. Since Linux 4.4.
    #[doc(alias = "BPF_OBJ_GET")]
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_pinned_with(path, BpfMapFlags::empty())
    }

    /// Opens a pinned map with [`READ_ONLY`](BpfMapFlags::READ_ONLY) or
    /// [`WRITE_ONLY`](BpfMapFlags::WRITE_ONLY) access of this descriptor. Since Linux 4.15.
    pub fn open_pinned_with(path: impl AsRef<Path>, access: BpfMapFlags) -> Result<Self, Error> {
        Ok(Self::with_info(open_pinned(ObjectKind::Map, path.as_ref(), access)?)?)
    }
}

/// Pins.
impl ProgramFd {
    /// `bpf(BPF_OBJ_PIN)`—Pins the program to a new path on a bpf file system. Since Linux 4.4.
    #[doc(alias = "BPF_OBJ_PIN")]
    pub fn pin(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        pin(self.as_fd(), path.as_ref())
    }

    /// `bpf(BPF_OBJ_GET)`—Opens the program that is pinned to a path. Since Linux 4.4.
    #[doc(alias = "BPF_OBJ_GET")]
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        open_pinned(ObjectKind::Program, path.as_ref(), BpfMapFlags::empty()).map(Self::from_owned)
    }
}

/// Pins.
impl Link {
    /// `bpf(BPF_OBJ_PIN)`—Pins the link to a new path on a bpf file system, so that the program
    /// stays attached when the process exits. Since Linux 5.7; links to perf events since 5.15.
    #[doc(alias = "BPF_OBJ_PIN")]
    pub fn pin(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        pin(self.as_fd(), path.as_ref())
    }

    /// `bpf(BPF_OBJ_GET)`—Opens the link that is pinned to a path. Since Linux 5.7.
    #[doc(alias = "BPF_OBJ_GET")]
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_fd(open_pinned(ObjectKind::Link, path.as_ref(), BpfMapFlags::empty())?)
    }
}

/// The time after which a lock is given up. Any user who may read the directory can hold it.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// The pause between two attempts at a lock, which `flock(2)` cannot limit in time.
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// The path of a pin: an open directory, which was found to be on a bpf file system, and a name in
/// it. Its calls go by the descriptor, so all are about one directory, also if another process
/// renames it or puts a link into its place.
#[derive(Debug)]
pub(crate) struct PinPath<'p> {
    path: &'p Path,
    name: &'p OsStr,
    directory: OwnedFd,
}

impl<'p> PinPath<'p> {
    /// Opens the directory of a path.
    pub(crate) fn open(path: &'p Path) -> Result<Self, Error> {
        Self::open_with(path, OFlags::PATH)
    }

    /// Opens the directory of a path and waits for its lock, which is released on drop.
    pub(crate) fn lock(path: &'p Path) -> Result<Self, Error> {
        let this = Self::open_with(path, OFlags::RDONLY)?; // O_PATH does not permit flock
        let start = Instant::now();
        loop {
            match rustix::fs::flock(&this.directory, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    this.remove_abandoned();
                    return Ok(this);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) if start.elapsed() < LOCK_LIMIT => {
                    thread::sleep(LOCK_PAUSE);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(Error::Locked { directory: parent(path).into(), waited: LOCK_LIMIT });
                }
                Err(errno) => return Err(Error::path("flock", parent(path))(errno)),
            }
        }
    }

    /// Removes the pin that a process has left which was killed while it replaced the pin at the
    /// path: it would keep a map in the kernel until the next replacement. Does nothing if another
    /// process has the lock, and so may be replacing the pin now, or if the directory cannot be
    /// written.
    pub(crate) fn clean(path: &'p Path) {
        let Ok(this) = Self::open_with(path, OFlags::RDONLY) else { return };
        let is_there =
            rustix::fs::statat(&this.directory, this.temporary(), AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let lock = FlockOperation::NonBlockingLockExclusive;
        if is_there && rustix::fs::flock(&this.directory, lock).is_ok() {
            this.remove_abandoned();
        }
    }

    /// Removes what another holder of the lock has left. The caller has the lock.
    fn remove_abandoned(&self) {
        let _ = self.unlink_name(&self.temporary()); // `replace` returns the error if it needs the name
    }

    /// Returns the name of an object from its pin to its move to the path, which only the holder of
    /// the lock uses.
    fn temporary(&self) -> OsString {
        let mut name = OsString::from(self.name);
        name.push("_perf_bpf_new");
        name
    }

    fn open_with(path: &'p Path, access: OFlags) -> Result<Self, Error> {
        c_path(path)?; // refuses a NUL byte
        let Some(name) = path.file_name() else {
            return Err(Error::PinPath { path: path.into(), expected: "a name at the end" });
        };
        let at = parent(path);
        let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(at, flags, Mode::empty()).map_err(Error::path("open", at))?;
        BpfFs::check_statfs(rustix::fs::fstatfs(&directory), at)?;
        Ok(Self { path, name, directory })
    }

    /// Opens the map that is pinned to the path, if there is such a path.
    pub(crate) fn existing(&self) -> Result<Option<MapFd>, Error> {
        let path = self.through_descriptor(self.name)?;
        match open_at(ObjectKind::Map, &path, self.path, BpfMapFlags::empty())? {
            Some(fd) => Ok(Some(MapFd::with_info(fd)?)),
            None => self.check_proc().map(|()| None),
        }
    }

    /// Pins an object to the path, at which nothing is pinned.
    pub(crate) fn pin(&self, object: BorrowedFd<'_>) -> Result<(), Error> {
        self.pin_name(object, self.name)
    }

    fn pin_name(&self, object: BorrowedFd<'_>, name: &OsStr) -> Result<(), Error> {
        let pinned = pin_at(object, &self.through_descriptor(name)?, &self.path.with_file_name(name));
        if pinned.as_ref().is_err_and(|error| error.errno() == Some(Errno::ENOENT)) {
            self.check_proc()?;
        }
        pinned
    }

    /// Removes the pin, and returns `false` if there is no such path.
    pub(crate) fn unlink(&self) -> Result<bool, Error> {
        self.unlink_name(self.name).map_err(Error::path("unlink", self.path))
    }

    /// Pins an object to the path in place of one that may be pinned to it. The path is never
    /// without one of them. The caller has the lock.
    pub(crate) fn replace(&self, object: BorrowedFd<'_>) -> Result<(), Error> {
        // A pin cannot be created over another one, but moved over it.
        let temporary = self.temporary();
        self.pin_name(object, &temporary)?;
        let (from, to) = (temporary.as_os_str(), self.name);
        rustix::fs::renameat(&self.directory, from, &self.directory, to).map_err(|errno| {
            let _ = self.unlink_name(&temporary); // the first error is returned
            Error::path("rename", self.path)(errno)
        })
    }

    fn unlink_name(&self, name: &OsStr) -> Result<bool, rustix::io::Errno> {
        match rustix::fs::unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Returns a path of a name in the directory that the kernel resolves by the descriptor.
    /// `BPF_F_PATH_FD` would do the same, but only since Linux 6.5.
    fn through_descriptor(&self, name: &OsStr) -> Result<CString, Error> {
        let path = own_descriptor(&self.directory).join(name);
        CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Error::PinPath { path: self.path.into(), expected: "no NUL byte" })
    }

    /// Checks after an `ENOENT` that it is about the pin, and not about `/proc`.
    fn check_proc(&self) -> Result<(), Error> {
        let path = own_descriptor(&self.directory);
        rustix::fs::readlink(&path, Vec::new()).map(drop).map_err(Error::path("readlink", &path))
    }
}
