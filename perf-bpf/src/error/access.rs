use perf_session::{EventSetError, FileError};
use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfMapCreate};

use super::Error;
use crate::{BpfPrivileges, ObjectName};

impl Error {
    /// Returns the errno if a system call failed.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Bpf { errno, .. }
            | Self::Create { errno, .. }
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
            Self::Create { .. } => Some(BpfCmd::MAP_CREATE),
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
        let privilege = BpfPrivileges::of_errno(errno).filter(|found| {
            // A command on a descriptor needs only the access of the descriptor since Linux 5.19, and a
            // capability before.
            !is_on_descriptor(command) || !found.may_use_maps()
        });
        Self::Bpf { command, object, errno, privilege }
    }

    /// Returns the error of a failed `BPF_MAP_CREATE`.
    #[cold]
    pub(crate) fn create(attr: &BpfMapCreate, errno: Errno) -> Self {
        let BpfMapCreate { map_type, key_size, value_size, max_entries, map_flags: flags, .. } = *attr;
        let (map, privilege) = (ObjectName::from_raw(attr.map_name), BpfPrivileges::of_errno(errno));
        Self::Create { map, map_type, key_size, value_size, max_entries, flags, errno, privilege }
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

impl From<EventSetError> for Error {
    fn from(error: EventSetError) -> Self {
        Self::Set(Box::new(error))
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Returns whether a command is about a map that was opened before.
fn is_on_descriptor(command: BpfCmd) -> bool {
    matches!(
        command,
        BpfCmd::MAP_LOOKUP_ELEM
            | BpfCmd::MAP_UPDATE_ELEM
            | BpfCmd::MAP_DELETE_ELEM
            | BpfCmd::MAP_GET_NEXT_KEY
            | BpfCmd::MAP_LOOKUP_AND_DELETE_ELEM
            | BpfCmd::MAP_FREEZE
            | BpfCmd::MAP_LOOKUP_BATCH
            | BpfCmd::MAP_LOOKUP_AND_DELETE_BATCH
            | BpfCmd::MAP_UPDATE_BATCH
            | BpfCmd::MAP_DELETE_BATCH
    )
}
