//! The error of this crate, and values that a failed call returns.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use perf_ring::Errno;
use perf_ring::abi::bpf::{BpfCmd, BpfMapCreate, BpfMapFlags, BpfMapType};
use perf_ring::sys::Error as SysError;
use perf_session::{CpuList, EventSetError, FileError, Scope};

use crate::map_spec::Difference;
use crate::object::{ObjectKind, ObjectName};
use crate::pinned::MoveStats;
use crate::privileges::BpfPrivileges;
use crate::syscall::MapFd;

mod display;
#[cfg(test)]
mod tests;

pub(crate) use display::{ENOTSUPP, write_differences};

/// An error of this crate.
///
/// [`Bpf`](Self::Bpf), [`Create`](Self::Create) and [`Load`](Self::Load) are failed commands of
/// `bpf(2)`, [`Event`](Self::Event) is an error of a perf event; checks of this crate find the
/// others. `Display` prints the expected value, the found value and the usual remedy, `Debug` the
/// fields. A `main` that returns [`Report`](crate::Report) prints the text.
///
/// It converts into [`std::io::Error`] by `From`, with the kind of the errno and the same text:
///
/// ```
/// use std::io;
///
/// use perf_bpf::{Error, PinnedMap};
///
/// let error = PinnedMap::<u32, u64>::open("/nonexistent/map").unwrap_err();
/// assert_eq!(error.to_os_error().raw_os_error(), error.raw_os_error());
/// let error = io::Error::from(error);
/// assert!(error.get_ref().is_some_and(|inner| inner.is::<Error>()));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A command of `bpf(2)` failed.
    Bpf {
        /// The command of `bpf(2)` that failed.
        command: BpfCmd,
        /// The object; empty if it has no name, or if the command is about none.
        object: ObjectName,
        /// The errno that the kernel returned.
        errno: Errno,
        /// The privilege of the process, if the errno may come from a missing one.
        privilege: Option<Box<BpfPrivileges>>,
    },
    /// `BPF_MAP_CREATE` failed.
    Create {
        /// The name of the map.
        map: ObjectName,
        /// The requested type.
        map_type: BpfMapType,
        /// The length of a key in bytes.
        key_size: u32,
        /// The length of a value in bytes.
        value_size: u32,
        /// The maximum number of elements.
        max_entries: u32,
        /// The flags of the map that was to be created.
        flags: BpfMapFlags,
        /// The errno that the kernel returned.
        errno: Errno,
        /// The privilege of the process, if the errno is `EPERM` or `EACCES`.
        privilege: Option<Box<BpfPrivileges>>,
    },
    /// A map of this type cannot be created with 0 elements.
    NoEntries {
        /// The name of the map.
        map: ObjectName,
        /// The requested type.
        map_type: BpfMapType,
    },
    /// This crate has no probe of a type of maps or programs. The kernel returned `EINVAL`, which
    /// it does for a type that it lacks and for a type that needs other properties.
    NoProbe {
        /// `map type` or `program type`.
        kind: &'static str,
        /// The number of the type.
        number: u32,
    },
    /// `BPF_PROG_LOAD` failed.
    Load {
        /// The name of the program.
        program: ObjectName,
        /// The errno that the kernel returned.
        errno: Errno,
        /// The verifier's log; empty if the kernel wrote none.
        log: Box<str>,
        /// The privilege of the process, if the errno is `EPERM` or `EACCES`.
        privilege: Option<Box<BpfPrivileges>>,
    },
    /// A record of a ring is malformed.
    Decode(perf_ring::decode::Error),
    /// A call on a perf event or its ring failed.
    Event(perf_ring::Error),
    /// The events of a set cannot be opened or controlled.
    Set(Box<EventSetError>),
    /// A program cannot be attached to an event of a set.
    Attach {
        /// The CPU or thread of the event.
        scope: Scope,
        /// The error of that step.
        error: Box<Self>,
    },
    /// A program of type perf event would never run, because the event has neither a period nor a
    /// frequency and so does not overflow.
    NoPeriod {
        /// The event as the set names it.
        event: Box<str>,
    },
    /// A file of `/proc` or `/sys` cannot be used.
    File(FileError),
    /// A system call on a path failed.
    Path {
        /// The name of the call.
        call: &'static str,
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The errno that the kernel returned.
        errno: Errno,
    },
    /// A pin cannot be created or opened.
    Pin {
        /// The command of `bpf(2)` that failed.
        command: BpfCmd,
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The errno that the kernel returned.
        errno: Errno,
        /// The privilege of the process, if the errno is `EPERM` or `EACCES`.
        privilege: Option<Box<BpfPrivileges>>,
    },
    /// Other processes created and removed the pin again and again.
    Contended {
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
    },
    /// A file `/proc/PID/fdinfo/FD` lacks a field of a map, or has a malformed one.
    FdInfo {
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The name of the field.
        field: &'static str,
        /// The text of the field, or `None` if it is missing because the descriptor is not a map.
        found: Option<Box<str>>,
    },
    /// The path is not on a bpf file system.
    NotBpfFs {
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The magic number of its file system.
        found: u64,
    },
    /// The descriptor, path or id is of another kind of object.
    Kind {
        /// The path; `None` for a descriptor.
        path: Option<Box<Path>>,
        /// The kind that the caller requires.
        expected: ObjectKind,
        /// The name of the kernel's file.
        found: Box<str>,
    },
    /// The map that is pinned to a path has other properties than the spec, and the caller did not
    /// permit to replace it, or its elements cannot be moved.
    Differs {
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The properties that differ, never empty.
        differences: Box<[Difference]>,
        /// The pinned map, which is unchanged.
        map: Arc<MapFd>,
    },
    /// The elements of the map that is pinned to a path do not all fit into the new map, or were
    /// not all found. It stays pinned, and the new map is gone.
    Unmoved {
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The properties that differ, never empty.
        differences: Box<[Difference]>,
        /// The elements that the new map had.
        stats: MoveStats,
        /// The error of the first element that the new map refused; `None` if it evicted elements,
        /// as an LRU hash does.
        cause: Option<Box<Self>>,
        /// The pinned map, which is unchanged.
        map: Arc<MapFd>,
    },
    /// Another process held the lock of the directory for too long.
    Locked {
        /// The directory of the path.
        directory: Box<Path>,
        /// The time that was waited.
        waited: Duration,
    },
    /// A path cannot be used for a pin.
    PinPath {
        /// The path of the bpf file system, absolute or relative to the current directory.
        path: Box<Path>,
        /// The property that it lacks.
        expected: &'static str,
    },
    /// The map is of another type than the value that takes it.
    MapType {
        /// The name of the map.
        map: ObjectName,
        /// The type that is needed.
        expected: BpfMapType,
        /// The type of the map.
        found: BpfMapType,
    },
    /// A perf event array does not have this slot, which is by convention the number of the CPU.
    Slot {
        /// The name of the map.
        map: ObjectName,
        /// The number of slots.
        slots: u32,
        /// The requested slot.
        found: u32,
    },
    /// Slots of a perf event array no longer hold the events of a
    /// [`PerfBuffer`](crate::PerfBuffer), because another reader of the map has replaced or cleared
    /// them. Output of programs on these CPUs does not arrive.
    SlotsLost {
        /// The CPUs of the slots.
        cpus: CpuList,
    },
    /// The descriptor for a [`RingBuf`](crate::RingBuf) is not a ring buffer map, or the kernel
    /// overwrites unread records of the map (`BPF_F_RB_OVERWRITE`).
    NotRingBuf {
        /// The type of the map.
        map_type: BpfMapType,
        /// The flags of the map.
        flags: BpfMapFlags,
    },
    /// This process already reads the ring buffer map. A second reader would release records that
    /// the first one still reads.
    RingBufInUse,
    /// The reader position of a [`RingBuf`](crate::RingBuf) differs from the one that it released,
    /// so another reader, such as another process, has the map, too. Records since the last batch
    /// may be missing, delivered twice or malformed. The next batch starts at the found position.
    RingBufShared {
        /// The released position in bytes, free-running.
        expected: u64,
        /// The position of the other reader.
        found: u64,
    },
    /// A record of a [`RingBuf`](crate::RingBuf) is longer than the unread bytes. All of them are
    /// skipped.
    RingBufRecord {
        /// Position of the record in bytes, free-running.
        at: u64,
        /// Length in the record's header, in bytes.
        len: u32,
        /// Unread bytes from the record's header on.
        available: u64,
    },
    /// No CPU of those that were asked for is online, or none was asked for.
    NoCpu {
        /// The CPUs; empty if none was asked for.
        offline: CpuList,
    },
    /// A key, value or buffer has another length than the map's.
    Size {
        /// The name of the map.
        map: ObjectName,
        /// The part: `key`, `value`, `element`.
        part: &'static str,
        /// The length for this map in bytes.
        expected: usize,
        /// The length that was passed in bytes.
        found: usize,
    },
    /// The map is of a type that this crate does not know, so the length of its elements is
    /// unknown.
    UnknownMapType {
        /// The name of the map.
        map: ObjectName,
        /// The type of the map.
        found: BpfMapType,
    },
    /// The type of the values has one value per element and the map has one for each CPU, or the
    /// other way round.
    PerCpu {
        /// The name of the map.
        map: ObjectName,
        /// The type of the map.
        found: BpfMapType,
    },
    /// `/sys/devices/system/cpu/possible` lists more or fewer CPUs than the kernel has values for
    /// in an element of a per-CPU map, as where a container or a mount covers the file. A value
    /// could not be assigned to its CPU.
    PossibleCpus {
        /// The CPUs of the file.
        listed: CpuList,
        /// The number of values of the kernel.
        values: usize,
    },
    /// The kernel's set of CPUs, which limits the length of an element of a per-CPU map, cannot be
    /// read.
    CpuCount {
        /// The errno that the kernel returned.
        errno: Errno,
    },
    /// A descriptor cannot be duplicated.
    Descriptor {
        /// The errno that the kernel returned.
        errno: Errno,
    },
    /// The name of an object is longer than 15 bytes, or has a character that the kernel refuses.
    Name {
        /// The name that was passed.
        found: Box<str>,
    },
}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}

/// The result of a call of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The reason why a call failed, with the value that the call took.
pub type Refused<T> = perf_ring::Refused<T, Error>;

impl Error {
    /// Returns the errno if a system call failed.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Bpf { errno, .. }
            | Self::Create { errno, .. }
            | Self::Load { errno, .. }
            | Self::Pin { errno, .. }
            | Self::Path { errno, .. }
            | Self::CpuCount { errno }
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
    pub(crate) fn descriptor(error: &io::Error) -> Self {
        // A failed call always sets errno; the fallback is for the type only.
        Self::Descriptor { errno: error.raw_os_error().map_or(Errno::EIO, Errno::from_raw_os_error) }
    }

    /// Returns the error of a failed command.
    #[cold]
    pub(crate) fn bpf(command: BpfCmd, object: ObjectName, errno: Errno) -> Self {
        let privilege = BpfPrivileges::of_errno(errno).filter(|found| {
            // A command on a descriptor needs only the access of the descriptor since Linux 5.19,
            // and a capability before.
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

impl From<perf_ring::decode::Error> for Error {
    fn from(error: perf_ring::decode::Error) -> Self {
        Self::Decode(error)
    }
}

impl From<perf_ring::Error> for Error {
    fn from(error: perf_ring::Error) -> Self {
        Self::Event(error)
    }
}

impl From<SysError> for Error {
    fn from(error: SysError) -> Self {
        Self::Event(error.into())
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

impl Error {
    /// Returns an error of std with the errno, for code that looks at
    /// [`raw_os_error`](io::Error::raw_os_error). An error without an errno is converted as by
    /// `From`.
    pub fn to_os_error(&self) -> io::Error {
        self.raw_os_error().map_or_else(|| self.clone().into(), io::Error::from_raw_os_error)
    }

    /// Returns std's kind of the errno, or a fitting one for an error without an errno.
    fn kind(&self) -> io::ErrorKind {
        if let Some(raw) = self.raw_os_error() {
            return io::Error::from_raw_os_error(raw).kind();
        }
        match self {
            Self::Event(error) => io::Error::from(*error).kind(),
            Self::Attach { error, .. } => error.kind(),
            Self::File(error) if error.io_error().is_some() => {
                error.io_error().map_or(io::ErrorKind::Other, io::Error::kind)
            }
            Self::Decode(_)
            | Self::File(_)
            | Self::FdInfo { .. }
            | Self::RingBufRecord { .. }
            | Self::PossibleCpus { .. } => io::ErrorKind::InvalidData,
            Self::Set(_) => io::ErrorKind::Other,
            Self::Contended { .. }
            | Self::RingBufInUse
            | Self::RingBufShared { .. }
            | Self::SlotsLost { .. } => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

/// Keeps the kind of the errno and the whole text.
///
/// [`get_ref`](io::Error::get_ref) returns the [`Error`]; [`raw_os_error`](io::Error::raw_os_error)
/// of the result is `None`, because std keeps a number or a text, not both.
/// [`Error::to_os_error`] keeps the number.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
