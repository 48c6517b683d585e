//! The error of this crate, and how it is found in others.

use core::fmt;
use std::io;

use perf_decode::Error as Framing;
use perf_sys::{Call, Errno};

mod refused;
mod report;

use crate::hint::hint;
pub use refused::Refused;
pub use report::Report;
use report::chain;

/// An error of a call of this crate: of a system call, of a decoder, or of the use of a ring or a
/// count.
///
/// `Display` prints an error of a system call with its [usual cause](Self::hint);
/// `perf_session::explain` finds the one of this event and machine. `Debug` prints the fields; a
/// `main` that returns [`Report`](crate::Report) prints the text. [`source`] is always `None`, so
/// that a chain of errors prints each text once.
///
/// The functions of [`Event`](crate::Event) return [`sys::Error`](crate::sys::Error), which has no
/// cause. `?` converts it in a function that returns this crate's [`Result`]. It can be compared
/// with this one:
///
/// ```
/// use perf_ring::{Attr, Errno, Event, Software, Target, sys};
///
/// fn open() -> perf_ring::Result<Event> {
///     Ok(Event::open(&Attr::software(Software::DUMMY), Target::thread(0))?)
/// }
///
/// assert_eq!(open().unwrap_err(), sys::Error::ThreadId { found: 0 });
/// ```
///
/// `?` converts it into a [`std::io::Error`] with the kind of the errno and the same text. The
/// value is inside, and the second statement below returns the errno of such an error:
///
/// ```
/// use std::io;
///
/// use perf_ring::{Call, Errno, Error, sys};
///
/// fn map() -> io::Result<()> {
///     Err(Error::Sys(sys::Error::System { call: Call::Mmap, errno: Errno::EPERM }))?
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
/// [`Result`]: crate::Result
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed, or `perf-sys` refused its arguments or its mapping.
    Sys(perf_sys::Error),
    /// A record could not be framed, in [`Ring::next_record`](crate::Ring::next_record), or
    /// decoded: `?` makes it of an error of the decoder.
    Decode(Framing),
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
    /// [`read_values`](crate::read_values) and [`Group`](crate::Group).
    GroupFormat,
    /// The set already has a ring under this key.
    KeyInUse,
    /// The set has no ring under this key.
    NoSuchKey,
    /// The events that share a ring have layouts that cannot be found by the ids of their records.
    Layouts(Framing),
}

/// The result of a call of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// Returns the error of `perf-sys`, if it is one.
    const fn sys(&self) -> Option<&perf_sys::Error> {
        match self {
            Self::Sys(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the errno if a system call failed.
    pub const fn errno(&self) -> Option<Errno> {
        match self.sys() {
            Some(error) => error.errno(),
            None => None,
        }
    }

    /// Returns the number of the errno if a system call failed, as
    /// [`std::io::Error::raw_os_error`] does.
    pub const fn raw_os_error(&self) -> Option<i32> {
        match self.sys() {
            Some(error) => error.raw_os_error(),
            None => None,
        }
    }

    /// Returns the system call or ioctl request that failed, if one did.
    pub const fn call(&self) -> Option<Call> {
        match self.sys() {
            Some(error) => error.call(),
            None => None,
        }
    }

    /// Returns the usual cause of the errno from this call, most likely first, if a system call
    /// failed.
    pub fn hint(&self) -> Option<&'static str> {
        self.sys().and_then(hint)
    }

    /// Returns the error of this crate, of `perf-sys` or of the decoder in `error` or its sources,
    /// as `?` converts it.
    ///
    /// This is the handler's side of `?` into `Box<dyn Error>`, which keeps the type of each call:
    /// [`Refused`], the errors of [`sys`](crate::sys) and [`decode`](crate::decode), this one, or
    /// any of these inside a [`std::io::Error`].
    ///
    /// ```
    /// use perf_ring::{Attr, Errno, Error, Event, Ring, Software, Target};
    ///
    /// fn map(data_pages: usize) -> Result<Ring, Box<dyn std::error::Error>> {
    ///     let event = Event::open(&Attr::software(Software::DUMMY), Target::calling_thread())?; // a sys::Error
    ///     Ok(Ring::map(event, data_pages)?) // a Refused<Arc<Event>>
    /// }
    ///
    /// if let Err(error) = map(1 << 20) {
    ///     match Error::find(&*error).and_then(|error| error.errno()) {
    ///         Some(Errno::EPERM | Errno::ENOMEM) => println!("use fewer pages"),
    ///         _ => println!("{error}"),
    ///     }
    /// }
    /// ```
    pub fn find(error: &(dyn core::error::Error + 'static)) -> Option<Self> {
        chain(error).find_map(|error| {
            // The sources of such an error do not have the error that it was made of.
            if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                return Self::find(inner);
            }
            let this = error.downcast_ref().copied();
            let of_sys = || error.downcast_ref().copied().map(Self::Sys);
            let of_decoder = || error.downcast_ref().copied().map(Self::Decode);
            this.or_else(of_sys).or_else(of_decoder)
        })
    }

    /// Returns a closure for `map_err` after a rustix function that makes `call`.
    pub(crate) fn of(call: Call) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::Sys(perf_sys::Error::System { call, errno: errno.into() })
    }

    /// Returns std's kind of the errno, or a fitting one for an error without an errno.
    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Sys(error) => io::Error::from(*error).kind(),
            Self::Decode(_) | Self::ReadLength { .. } => io::ErrorKind::InvalidData,
            Self::PinnedFailed => io::ErrorKind::ResourceBusy,
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sys(error) => {
                fmt::Display::fmt(error, f)?;
                self.hint().map_or(Ok(()), |hint| write!(f, ": {hint}"))
            }
            Self::Decode(error) => fmt::Display::fmt(error, f),
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
            Self::KeyInUse => {
                f.write_str("ring set: expected an unused key, found one in use; remove its ring first")
            }
            Self::NoSuchKey => f.write_str("ring set: expected the key of a ring in the set, found another"),
            Self::Layouts(error) => {
                write!(f, "events of one ring: {error}; set IDENTIFIER and SAMPLE_ID_ALL on each of them")
            }
        }
    }
}

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for Error {}

impl From<perf_sys::Error> for Error {
    fn from(error: perf_sys::Error) -> Self {
        Self::Sys(error)
    }
}

impl From<Framing> for Error {
    fn from(error: Framing) -> Self {
        Self::Decode(error)
    }
}

impl PartialEq<perf_sys::Error> for Error {
    fn eq(&self, other: &perf_sys::Error) -> bool {
        self.sys() == Some(other)
    }
}

/// Keeps the kind of the errno, the whole text, and the [`Error`] itself, which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](Error::to_os_error) keeps the number instead of the text.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}

#[cfg(test)]
mod tests;
