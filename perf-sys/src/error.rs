use core::fmt;

use perf_decode::Error as Framing;
use rustix::io::Errno;

use crate::hint::hint;

/// Why a call of this crate failed.
///
/// One flat `Copy` enum: nearly always [`System`](Self::System), a system call and what the kernel
/// answered; the others are what this crate finds out by itself. The text names the usual causes from
/// what the call and the number alone can tell; no file is read for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    System {
        /// The call as the manual pages name it, for an ioctl the request: `PERF_EVENT_IOC_ID`.
        call: &'static str,
        /// What the kernel answered.
        errno: Errno,
    },
    /// The attr uses fields that this kernel does not have, or a size that no kernel knows: `E2BIG`,
    /// and the kernel wrote its own size back.
    ///
    /// `E2BIG` without this, as [`System`](Self::System), has another meaning: one read of the group
    /// would be longer than 16 KiB.
    AttrSize {
        /// The size of the kernel's `perf_event_attr`, in bytes: what lies behind it must be zero.
        kernel: u32,
        /// The call that refused the attr.
        call: &'static str,
    },
    /// A ring was asked for with a number of data pages that is not a power of two, or that is more
    /// than an address space can hold.
    PageCount {
        /// The number that was asked for.
        found: usize,
    },
    /// A ring was asked for on an event with
    /// [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD): see [`Ring::map`](crate::Ring::map).
    WriteBackward,
    /// The control page says that the data lie where nothing is mapped, or in an area that cannot be a
    /// ring.
    DataArea {
        /// `data_offset` of the page, in bytes from the start of the mapping.
        offset: u64,
        /// `data_size` of the page, in bytes.
        size: u64,
        /// Bytes that are mapped, the control page among them.
        mapped: usize,
    },
    /// The control page's positions cannot be a reader's and a writer's of one ring. The ring cannot be
    /// read any further.
    Positions(Framing),
    /// A pinned event could not be placed on its PMU and counts no more: read gave 0 bytes. Enabling it
    /// tries again.
    PinnedFailed,
    /// A count had not the length of its read format.
    ReadLength {
        /// Bytes that the format needs.
        needed: u64,
        /// Bytes that read gave.
        found: u64,
    },
    /// One count was asked of an event whose read format has [`GROUP`](perf_abi::ReadFormat::GROUP): see
    /// [`Event::read_values`](crate::Event::read_values) and [`Group`](crate::Group).
    GroupFormat,
    /// A ring that is overwritten was asked for on an event without
    /// [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD): see
    /// [`SnapshotRing::map`](crate::SnapshotRing::map).
    WriteForward,
    /// The event has a ring already: a second reader would release the first one's records.
    RingInUse,
    /// An AUX area was asked for while the ring has one.
    AuxInUse,
    /// The AUX area does not hold these bytes: its unread part is another.
    AuxRange {
        /// Where the bytes should begin, as a free-running position.
        offset: u64,
        /// How many there should be.
        size: u64,
        /// `aux_tail`: what is before it was given back.
        tail: u64,
        /// `aux_head`: what is behind it was not written yet.
        head: u64,
    },
    /// A ring, AUX area or counter page was used in a child of `fork`. The kernel does not copy these
    /// mappings to a child (a child that shares the address space, as of `vfork`, has them). The value's
    /// methods return this error or find nothing, and dropping it leaves the child's memory alone.
    ///
    /// Records, slices and iterators borrowed before the fork cannot be checked: using them in the child
    /// is undefined behaviour, one of the reasons why `fork` is `unsafe`. Dropping a
    /// [`Batch`](crate::Batch) is safe and releases nothing.
    ///
    /// The descriptor of the event is inherited: it is the parent's event, also for its ioctls. Mapping
    /// and redirecting it in the child is this error too, because the parent may map it as well.
    Forked,
}

/// What the calls of this crate answer.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// The errno, if it was a system call that failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::System { errno, .. } => Some(*errno),
            Self::AttrSize { .. } => Some(Errno::TOOBIG),
            _ => None,
        }
    }

    /// The system call or ioctl request that failed, if one did.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::System { call, .. } | Self::AttrSize { call, .. } => Some(*call),
            _ => None,
        }
    }

    /// For `map_err`: the errno of `call`.
    pub(crate) const fn of(call: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self::System { call, errno }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::System { call, errno } => {
                write!(f, "{call}: {errno}")?;
                match hint(call, errno) {
                    Some(causes) => write!(f, ": {causes}"),
                    None => Ok(()),
                }
            }
            Self::AttrSize { kernel, call } => write!(
                f,
                "{call}: this kernel's perf_event_attr has {kernel} bytes, \
                 and a field behind them is set (or the size is below 64)"
            ),
            Self::PageCount { found } => {
                write!(
                    f,
                    "a ring of {found} data pages: the number must be a power of two that fits in memory"
                )
            }
            Self::WriteBackward => f.write_str(
                "a write_backward event is overwritten while it is read: it cannot have this kind of ring",
            ),
            Self::DataArea { offset, size, mapped } => write!(
                f,
                "the control page puts the data at {offset} with {size} bytes, in a mapping of {mapped} bytes"
            ),
            Self::Positions(error) => write!(f, "the control page's positions make no sense: {error}"),
            Self::PinnedFailed => f.write_str(
                "read gave nothing: the pinned event could not be placed on its PMU and counts no more; \
                 enable it to try again, or open it without pinned",
            ),
            Self::ReadLength { needed, found } => {
                write!(f, "read gave {found} bytes, but the event's read format has {needed}")
            }
            Self::WriteForward => f.write_str(
                "no record can be found in a ring that is overwritten forward: set write_backward",
            ),
            Self::RingInUse => f.write_str("ring: expected an event without one; the event's ring is mapped"),
            Self::AuxInUse => f.write_str("the ring has an AUX area already"),
            Self::AuxRange { offset, size, tail, head } => {
                write!(f, "AUX data at {offset} with {size} bytes: unread are those from {tail} to {head}")
            }
            Self::Forked => f.write_str(
                "mapping: expected one of this process, found one of a parent, which fork does not copy: \
                 open and map an event in this process",
            ),
            Self::GroupFormat => f.write_str(
                "the event reads its whole group: use a Group, or open it without PERF_FORMAT_GROUP",
            ),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::System { errno, .. } => Some(errno),
            Self::Positions(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_refused_open_names_call_errno_and_causes() {
        let error = Error::of("perf_event_open")(Errno::ACCESS);
        let text = error.to_string();
        assert!(text.starts_with("perf_event_open: Permission denied"), "{text}");
        assert!(text.contains("perf_event_paranoid"), "{text}");
        assert_eq!(error.source().unwrap().to_string(), Errno::ACCESS.to_string());
    }

    #[test]
    fn an_errno_without_a_hint_still_prints() {
        let text = Error::of("poll")(Errno::NOMEM).to_string();
        assert!(text.starts_with("poll: Cannot allocate memory"), "{text}");
    }

    #[test]
    fn both_meanings_of_e2big_have_the_errno() {
        let size = Error::AttrSize { kernel: 136, call: "perf_event_open" };
        assert_eq!(size.errno(), Error::of("perf_event_open")(Errno::TOOBIG).errno());
        assert!(size.to_string().contains("136 bytes"));
    }
}
