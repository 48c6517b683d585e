//! The error of this crate.

use core::fmt;

mod call;
mod errno;

pub use call::Call;
pub use errno::Errno;

/// An error of a call of this crate.
///
/// One flat `Copy` enum. [`System`](Self::System) and [`AttrSize`](Self::AttrSize) are failed
/// system calls; the others are found by checks of this crate. `Display` prints the call and the
/// errno; the crate `perf-ring` adds the usual cause. [`source`] is always `None`, because
/// `Display` already has the whole text.
///
/// With the feature `std`, `?` converts it into a `std::io::Error` with the kind of the errno and
/// the same text, which has the value inside.
///
/// [`source`]: core::error::Error::source
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// `perf_event_open` failed with `EINVAL`, because no CPU has the number of the target. An
    /// event that fits every CPU failed in the same way.
    NoSuchCpu {
        /// The number of the CPU.
        cpu: u32,
    },
    /// `perf_event_open` failed with `ENOENT`, because the cgroup of the target was removed after
    /// its directory was opened, or its hierarchy has no `perf_event` controller. An event that
    /// every kernel has failed in the same way.
    NoSuchCgroup,
    /// The number of data pages is not a power of two, or their bytes exceed a `usize`. A lack of
    /// memory for fewer pages is `ENOMEM`.
    PageCount {
        /// The requested number of pages.
        found: usize,
    },
    /// The event has [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD), which
    /// a [`DataRing`](crate::DataRing) cannot be read with.
    WriteBackward,
    /// The control page places the data area outside the mapping, or its size is impossible for a
    /// ring.
    DataArea {
        /// `data_offset` of the page, in bytes from the start of the mapping.
        offset: u64,
        /// `data_size` of the page, in bytes.
        size: u64,
        /// Size of the mapping in bytes, control page included.
        mapped: usize,
    },
    /// `data_head` and `data_tail` of the control page contradict each other, or are not multiples
    /// of 8. The ring can no longer be read.
    Positions {
        /// `data_tail`, the start of the unread bytes.
        tail: u64,
        /// `data_head`, the end of the unread bytes.
        head: u64,
        /// Length of the data area in bytes.
        size: usize,
    },
    /// A [`CounterPage`](crate::CounterPage) was mapped for an event that does not count the
    /// calling thread alone: an event of another thread, a CPU or a cgroup, an
    /// [inherited](perf_abi::AttrFlags::INHERIT) one, or one whose target is unknown
    /// ([`Event::from_fd`](crate::Event::from_fd)).
    NotSelfMonitoring,
    /// The event lacks [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD), which
    /// an [`OverwrittenRing`](crate::OverwrittenRing) needs.
    WriteForward,
    /// The event already has a ring in this process. A second reader would release records that the
    /// first one still reads.
    RingInUse,
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
    /// Slices borrowed before the fork cannot be checked. Using them in the child is undefined
    /// behaviour, one of the reasons why `fork` is `unsafe`.
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
    /// The records of a software event that samples registers were to be redirected into a ring
    /// that lends its records, in which the kernel may overwrite unread ones. No system call was
    /// made.
    ///
    /// See [`DataRing::copy_only`](crate::DataRing::copy_only), which allows it.
    NotCopied,
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
    /// `std::io::Error::raw_os_error` does.
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

    /// Returns a closure for `map_err` after a rustix function that makes `call`.
    pub(crate) fn of(call: Call) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::System { call, errno: errno.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::System { call, errno } => write!(f, "{call}: {errno}"),
            Self::NoSuchCpu { cpu } => {
                write!(f, "{} on CPU {cpu}: {}", Call::PerfEventOpen, Errno::EINVAL)
            }
            Self::NoSuchCgroup => write!(f, "{}: {}", Call::PerfEventOpen, Errno::ENOENT),
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
                "ring: expected an event without write_backward, found one with it; map it as an overwritten ring",
            ),
            Self::DataArea { offset, size, mapped } => write!(
                f,
                "control page: expected a data area inside the {mapped} mapped bytes, \
                 found {size} bytes at offset {offset}"
            ),
            Self::Positions { tail, head, size } => write!(
                f,
                "control page: expected multiples of 8 at most {size} bytes apart, found data_tail {tail} and \
                 data_head {head}"
            ),
            Self::WriteForward => f.write_str(
                "overwritten ring: expected an event with write_backward, found one without it; \
                 set the flag, or map it as a data ring",
            ),
            Self::RingInUse => {
                f.write_str("ring: expected an event without one, found one; drop the other ring first")
            }
            Self::NotSelfMonitoring => f.write_str(
                "counter page: expected an event opened for the calling thread and not inherited, \
                 found another; read it by read(2)",
            ),
            Self::AuxInUse => {
                f.write_str("AUX area: expected a ring without one, found one; drop the other area first")
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
            Self::NotCopied => f.write_str(
                "redirection: expected a target whose ring is read by copy, because the kernel may overwrite \
                 records of a software event that samples registers, found one that lends its records; call \
                 copy_only on its ring first",
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

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for Error {}

/// Conversions into the errors of std, with the feature `std`.
#[cfg(feature = "std")]
mod std_errors;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_meanings_of_e2big_have_the_errno() {
        let size = Error::AttrSize { kernel: 136, call: Call::PerfEventOpen };
        assert_eq!(size.errno(), Some(Errno::E2BIG));
        assert_eq!(size.call(), Some(Call::PerfEventOpen));
        assert!(size.to_string().contains("136 bytes"));
    }

    #[test]
    fn failed_call_prints_its_name_and_the_errno_once() {
        let errno = rustix::io::Errno::from_raw_os_error(libc::ENOMEM);
        let text = Error::of(Call::Munmap)(errno).to_string();
        assert!(text.starts_with("munmap: ") && text.ends_with("(os error 12)"), "{text}");
    }

    #[test]
    fn debug_prints_the_fields() {
        let error = Error::System { call: Call::Mmap, errno: Errno::EPERM };
        assert_eq!(format!("{error:?}"), "System { call: Mmap, errno: EPERM }");
        assert_eq!(format!("{:?}", Error::PageCount { found: 3 }), "PageCount { found: 3 }");
    }

    #[test]
    fn error_has_at_most_40_bytes() {
        assert!(size_of::<Error>() <= 40, "{}", size_of::<Error>());
    }
}
