use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfMapFlags};

use crate::syscall::{obj_get, obj_pin};
use crate::{BpfFs, BpfPrivileges, Error, Link, MapFd, ObjectKind, ProgramFd};

mod directory;

pub(crate) use directory::PinPath;

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
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::PathNul { path: path.into() })
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
    /// `bpf(BPF_OBJ_PIN)`—Pins the link to a new path on a bpf file system, so that the program stays
    /// attached when the process exits. Since Linux 5.7; links to perf events since 5.15.
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
