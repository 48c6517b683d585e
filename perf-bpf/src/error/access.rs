use perf_events::{FileError, SetError};
use perf_sys::Errno;
use perf_sys::abi::bpf::BpfCmd;

use super::Error;
use crate::{BpfPrivileges, ObjectName};

impl Error {
    /// Returns the errno if a system call failed.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Bpf { errno, .. }
            | Self::Load { errno, .. }
            | Self::Pin { errno, .. }
            | Self::Path { errno, .. }
            | Self::Descriptor { errno } => Some(*errno),
            Self::Event(error) => error.errno(),
            Self::Set(error) => error.event().and_then(|event| event.error.errno()),
            Self::Attach { error, .. } => error.errno(),
            Self::File(error) => error.io_error()?.raw_os_error().map(Errno::from_raw_os_error),
            _ => None,
        }
    }

    /// Returns the number of the errno if a system call failed, as
    /// [`std::io::Error::raw_os_error`] does.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.errno().map(Errno::raw_os_error)
    }

    /// Returns the command of `bpf(2)` that failed, if one did.
    pub fn command(&self) -> Option<BpfCmd> {
        match self {
            Self::Bpf { command, .. } | Self::Pin { command, .. } => Some(*command),
            Self::Load { .. } => Some(BpfCmd::PROG_LOAD),
            Self::Attach { error, .. } => error.command(),
            _ => None,
        }
    }

    /// Returns the error of a failed duplication.
    #[cold]
    pub(crate) fn descriptor(error: &std::io::Error) -> Self {
        // A failed call always sets errno; the fallback is for the type only.
        Self::Descriptor { errno: error.raw_os_error().map_or(Errno::EIO, Errno::from_raw_os_error) }
    }

    /// Returns the error of a failed command.
    #[cold]
    pub(crate) fn bpf(command: BpfCmd, object: ObjectName, errno: Errno) -> Self {
        Self::Bpf { command, object, errno, privilege: BpfPrivileges::of_errno(errno) }
    }

    /// Returns a closure for `map_err` after `command`.
    pub(crate) fn of(command: BpfCmd, object: ObjectName) -> impl Fn(Errno) -> Self {
        move |errno| Self::bpf(command, object, errno)
    }
}

impl From<perf_sys::decode::Error> for Error {
    fn from(error: perf_sys::decode::Error) -> Self {
        Self::Decode(error)
    }
}

impl From<perf_sys::Error> for Error {
    fn from(error: perf_sys::Error) -> Self {
        Self::Event(error)
    }
}

impl From<SetError> for Error {
    fn from(error: SetError) -> Self {
        Self::Set(Box::new(error))
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
