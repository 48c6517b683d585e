use core::fmt;
use std::io;

use perf_decode::Error as Framing;

mod call;
mod errno;
mod hint;
mod refused;

pub use call::Call;
pub use errno::Errno;
pub(crate) use hint::hint;
pub use refused::Refused;

/// An error of a call of this crate.
///
/// One flat `Copy` enum. [`System`](Self::System) and [`AttrSize`](Self::AttrSize) are failed system calls;
/// the others are found by checks of this crate. `Display` prints the call, the errno and its
/// [usual cause](Self::hint); `perf_session::explain` finds the one of this event and machine. `Debug` prints the same
/// text, so that an error that `main` returns is readable. [`source`] is always `None`, so that a
/// chain of errors prints each text once.
///
/// `?` converts it into a [`std::io::Error`] with the kind of the errno and the same text. The value
/// is inside, and the second statement below returns the errno of such an error:
///
/// ```
/// use std::io;
///
/// use perf_sys::{Call, Error};
///
/// fn map() -> io::Result<()> {
///     # let errno = perf_sys::Errno::EPERM;
///     Err(Error::System { call: Call::Mmap, errno })?
/// }
///
/// let error = map().unwrap_err();
/// let errno = error.get_ref().and_then(|inner| inner.downcast_ref()).and_then(Error::raw_os_error);
/// assert_eq!(errno, Some(1));
/// assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
/// assert!(error.to_string().starts_with("mmap: Operation not permitted"));
/// ```
///
/// Code that looks at [`raw_os_error`](std::io::Error::raw_os_error) of a `std::io::Error` needs
/// [`to_os_error`](Self::to_os_error): std keeps a number or a text, not both.
///
/// [`source`]: core::error::Error::source
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    System {
        /// The call, for an ioctl or a prctl the request.
        call: Call,
        /// The error number that the kernel returned.
        errno: Errno,
    },
    /// The attr has a nonzero field that this kernel does not have, or a size that no kernel
    /// accepts. The kernel returned `E2BIG` and wrote its own size into the attr.
    ///
    /// Other causes of `E2BIG`, such as a group whose read is longer than 16 KiB, are not this
    /// variant.
    AttrSize {
        /// Size of the kernel's `perf_event_attr` in bytes; all bytes after it must be 0.
        kernel: u32,
        /// The call that failed.
        call: Call,
    },
    /// `perf_event_open` failed with `EINVAL`, because no CPU has the number of the target. An event that
    /// fits every CPU failed in the same way.
    NoSuchCpu {
        /// The number of the CPU.
        cpu: u32,
    },
    /// `perf_event_open` failed with `ENOENT`, because the cgroup of the target was removed after its
    /// directory was opened, or its hierarchy has no `perf_event` controller. An event that every kernel
    /// has failed in the same way.
    NoSuchCgroup,
    /// The number of data pages is not a power of two, or more than the address space can hold.
    PageCount {
        /// The requested number.
        found: usize,
    },
    /// The event has [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD), which
    /// [`Ring::map`](crate::Ring::map) cannot read.
    WriteBackward,
    /// The control page places the data area outside the mapping, or its size is not that of a
    /// ring.
    DataArea {
        /// `data_offset` of the page, in bytes from the start of the mapping.
        offset: u64,
        /// `data_size` of the page, in bytes.
        size: u64,
        /// Size of the mapping in bytes, control page included.
        mapped: usize,
    },
    /// `data_head` and `data_tail` of the control page contradict each other. The ring can no
    /// longer be read.
    Positions(Framing),
    /// A pinned event could not be scheduled on its PMU and no longer counts, so read returned 0
    /// bytes. Enabling the event retries.
    PinnedFailed,
    /// A read returned another length than the event's read format has.
    ReadLength {
        /// Length of the read format in bytes.
        needed: u64,
        /// Bytes that read returned.
        found: u64,
    },
    /// A single count was read from an event whose read format has
    /// [`GROUP`](perf_abi::ReadFormat::GROUP); see
    /// [`Event::read_values`](crate::Event::read_values) and [`Group`](crate::Group).
    GroupFormat,
    /// A [`RdpmcCounter`](crate::RdpmcCounter) was mapped for an event that does not count the
    /// calling thread alone: an event of another thread, a CPU or a cgroup, an
    /// [inherited](perf_abi::AttrFlags::INHERIT) one, or one whose target is unknown
    /// ([`Event::from_owned_fd`](crate::Event::from_owned_fd)).
    NotSelfMonitoring,
    /// The event lacks [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD), which
    /// [`SnapshotRing::map`](crate::SnapshotRing::map) needs.
    WriteForward,
    /// The event already has a ring in this process. A second reader would release the first one's records.
    RingInUse,
    /// The set already has a ring under this key.
    KeyInUse,
    /// The set has no ring under this key.
    NoSuchKey,
    /// The events that share a ring have layouts that cannot be found by the ids of their records.
    Layouts(Framing),
    /// The ring already has an AUX area.
    AuxInUse,
    /// The requested bytes are not all in the unread part of the AUX area.
    AuxRange {
        /// Start of the requested bytes, a free-running position.
        offset: u64,
        /// Length of the requested bytes.
        size: u64,
        /// `aux_tail`, the start of the unread part.
        tail: u64,
        /// `aux_head`, the end of the unread part.
        head: u64,
    },
    /// A ring, AUX area or counter page was used in a child of `fork`. The kernel does not copy
    /// these mappings to a child (a child that shares the address space, as of `vfork`, has them).
    /// The value's methods return this error or find nothing, and dropping it does not unmap memory
    /// of the child.
    ///
    /// Records, slices and iterators borrowed before the fork cannot be checked. Using them in the
    /// child is undefined behaviour, one of the reasons why `fork` is `unsafe`. Dropping a
    /// [`Batch`](crate::Batch) is safe and releases nothing.
    ///
    /// The descriptor of the event is inherited. It is the parent's event, also for its ioctls.
    /// Mapping or redirecting it in the child returns this error too, because the parent may map it
    /// as well.
    Forked,
    /// [`Target::from_raw`](crate::Target::from_raw) was called with a pair of numbers that is not
    /// a target of `perf_event_open`.
    Target {
        /// The process or thread id.
        pid: i32,
        /// Number of the CPU, from 0.
        cpu: i32,
    },
    /// A software event of this process that is open samples another number of registers
    /// ([`sample_regs_user`](perf_abi::Attr::sample_regs_user) or `sample_regs_intr`) than the event to
    /// open, which is of the same kind. The kernel would overwrite unread records in the rings of both. No
    /// system call was made.
    ///
    /// The clocks (`CPU_CLOCK`, `TASK_CLOCK`), events that do not sample, and those of other types may
    /// sample any registers.
    Registers {
        /// The kind of both events.
        kind: perf_abi::Software,
        /// The number of registers that the open event samples.
        expected: u32,
        /// The number of registers in the attr.
        found: u32,
    },
    /// An event was opened for a thread whose id is 0 or above `i32::MAX`. No system call was made.
    ThreadId {
        /// The argument of [`Target::thread`](crate::Target::thread).
        found: u32,
    },
}

/// The result of a call of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// Returns the errno if a system call failed.
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::System { errno, .. } => Some(*errno),
            Self::AttrSize { .. } => Some(Errno::E2BIG),
            Self::NoSuchCpu { .. } => Some(Errno::EINVAL),
            Self::NoSuchCgroup => Some(Errno::ENOENT),
            _ => None,
        }
    }

    /// Returns the number of the errno if a system call failed, as
    /// [`std::io::Error::raw_os_error`] does.
    pub const fn raw_os_error(&self) -> Option<i32> {
        match self.errno() {
            Some(errno) => Some(errno.raw_os_error()),
            None => None,
        }
    }

    /// Returns the system call or ioctl request that failed, if one did.
    pub const fn call(&self) -> Option<Call> {
        match self {
            Self::System { call, .. } | Self::AttrSize { call, .. } => Some(*call),
            Self::NoSuchCpu { .. } | Self::NoSuchCgroup => Some(Call::PerfEventOpen),
            _ => None,
        }
    }

    /// Returns the usual cause of the errno from this call, most likely first, if a system call failed.
    pub fn hint(&self) -> Option<&'static str> {
        match *self {
            Self::System { call, errno } => hint(call, errno),
            Self::NoSuchCpu { .. } => {
                Some("no CPU has this number; /sys/devices/system/cpu/possible lists those that exist")
            }
            Self::NoSuchCgroup => Some(
                "the cgroup was removed after its directory was opened, or its hierarchy has no perf_event \
                 controller",
            ),
            _ => None,
        }
    }

    /// Returns a closure for `map_err` after a rustix function that makes `call`.
    pub(crate) const fn of(call: Call) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::System { call, errno: Errno::from_rustix(errno) }
    }

    /// Returns std's kind of the errno, or a fitting one for an error without an errno.
    fn kind(&self) -> io::ErrorKind {
        if let Some(raw) = self.raw_os_error() {
            return io::Error::from_raw_os_error(raw).kind();
        }
        match self {
            Self::DataArea { .. } | Self::Positions(_) | Self::ReadLength { .. } => {
                io::ErrorKind::InvalidData
            }
            Self::PinnedFailed | Self::AuxInUse | Self::RingInUse => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::InvalidInput,
        }
    }

    /// Returns std's error of the errno, for code that looks at
    /// [`raw_os_error`](io::Error::raw_os_error). The text of this error is lost.
    ///
    /// An error without an errno is converted as by `From`.
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.raw_os_error().map_or_else(|| (*self).into(), io::Error::from_raw_os_error)
    }
}

impl Error {
    /// Prints a failed call: the errno and its usual cause.
    fn fmt_call(&self, f: &mut fmt::Formatter<'_>, call: fmt::Arguments<'_>, errno: Errno) -> fmt::Result {
        write!(f, "{call}: {errno}")?;
        self.hint().map_or(Ok(()), |hint| write!(f, ": {hint}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::System { call, errno } => self.fmt_call(f, format_args!("{call}"), errno),
            Self::NoSuchCpu { cpu } => {
                self.fmt_call(f, format_args!("{} on CPU {cpu}", Call::PerfEventOpen), Errno::EINVAL)
            }
            Self::NoSuchCgroup => self.fmt_call(f, format_args!("{}", Call::PerfEventOpen), Errno::ENOENT),
            Self::AttrSize { kernel, call } => write!(
                f,
                "{call}: expected an attr of 64 to {kernel} bytes, the size on this kernel, found another \
                 size or a nonzero field after {kernel} bytes; clear the newer field"
            ),
            Self::PageCount { found } => write!(
                f,
                "data pages of a ring: expected a power of two that fits into memory, found {found}"
            ),
            Self::WriteBackward => f.write_str(
                "ring: expected an event without write_backward, found one with it; use a SnapshotRing",
            ),
            Self::DataArea { offset, size, mapped } => write!(
                f,
                "control page: expected a data area inside the {mapped} mapped bytes, \
                 found {size} bytes at offset {offset}"
            ),
            Self::Positions(error) => write!(f, "control page: {error}"),
            Self::PinnedFailed => f.write_str(
                "read: expected a count, found end of file: the pinned event could not be scheduled on its \
                 PMU and no longer counts; enable it to retry, or open it without pinned",
            ),
            Self::ReadLength { needed, found } => {
                write!(f, "read: expected {needed} bytes for the event's read format, found {found}")
            }
            Self::GroupFormat => f.write_str(
                "read: expected a single count, found an event with PERF_FORMAT_GROUP; use a Group or \
                 read_values",
            ),
            Self::WriteForward => f.write_str(
                "snapshot ring: expected an event with write_backward, found one without it; \
                 set the flag, or use a Ring",
            ),
            Self::RingInUse => {
                f.write_str("ring: expected an event without one, found one; drop the other ring first")
            }
            Self::KeyInUse => {
                f.write_str("ring set: expected an unused key, found one in use; remove its ring first")
            }
            Self::NoSuchKey => f.write_str("ring set: expected the key of a ring in the set, found another"),
            Self::Layouts(error) => {
                write!(f, "events of one ring: {error}; set IDENTIFIER and SAMPLE_ID_ALL on each of them")
            }
            Self::NotSelfMonitoring => f.write_str(
                "user counter: expected an event opened for the calling thread and not inherited, \
                 found another; read it by Event::read",
            ),
            Self::AuxInUse => {
                f.write_str("AUX area: expected a ring without one, found one; drop the other AuxArea first")
            }
            Self::AuxRange { offset, size, tail, head } => write!(
                f,
                "AUX data: expected a part of the unread bytes {tail} to {head}, \
                 found {size} bytes at {offset}"
            ),
            Self::Forked => f.write_str(
                "mapping: expected one of this process, found one of a parent, which fork does not copy; \
                 open and map an event in this process",
            ),
            Self::Target { pid, cpu } => write!(
                f,
                "target: expected pid 0 (calling thread) or a thread id with cpu -1 (any) or a CPU, \
                 or pid -1 with a CPU, found pid {pid} with cpu {cpu}"
            ),
            Self::Registers { kind, expected, found } => write!(
                f,
                "software event {kind}: expected {expected} registers in a sample, as another open event \
                 of this kind has, found {found}; sample the same number, or close the other event first"
            ),
            Self::ThreadId { found } => write!(
                f,
                "thread id: expected 1 to {}, found {found}; use Target::calling_thread or Target::cpu \
                 for the calling thread or all tasks",
                i32::MAX
            ),
        }
    }
}

/// The text of `Display`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for Error {}

/// Keeps the kind of the errno, the whole text, and the [`Error`] itself, which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](Error::to_os_error) keeps the number in place of the text.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}

#[cfg(test)]
mod tests;
