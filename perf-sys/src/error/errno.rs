//! Error numbers with their names.

use core::fmt;

/// Error number of a system call.
///
/// Any number is possible. The constants are those that the calls of this crate are known to
/// return; `Debug` prints their names, `Display` the name and the number, or with the feature `std`
/// the text of the C library.
///
/// ```
/// use perf_sys::Errno;
///
/// let errno = Errno::from_raw_os_error(13);
/// assert_eq!(errno, Errno::EACCES);
/// assert_eq!(format!("{errno:?}"), "EACCES");
/// assert!(errno.to_string().ends_with("(os error 13)"));
/// ```
///
/// # References
///
/// `errno(3)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(i32);

impl Errno {
    /// Returns the errno with number `raw`, as `std::io::Error::raw_os_error` has it.
    pub const fn from_raw_os_error(raw: i32) -> Self {
        Self(raw)
    }

    /// Returns the number.
    pub const fn raw_os_error(self) -> i32 {
        self.0
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(errno: rustix::io::Errno) -> Self {
        Self(errno.raw_os_error())
    }
}

/// For a program that passes its errors on as errors of rustix. A number that no system call
/// returns (not 1 to 4095), which rustix cannot hold, becomes `EIO`.
impl From<Errno> for rustix::io::Errno {
    fn from(errno: Errno) -> Self {
        match errno.0 {
            raw @ 1..=4095 => Self::from_raw_os_error(raw),
            _ => Self::IO,
        }
    }
}

/// Defines the constants and their names.
macro_rules! errnos {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        impl Errno {
            $($(#[$doc])* pub const $name: Self = Self(libc::$name);)*

            const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}
errnos! {
    /// The argument list is too long: see [`Error::AttrSize`](crate::Error::AttrSize).
    E2BIG,
    /// Permission denied.
    EACCES,
    /// The resource is temporarily unavailable.
    EAGAIN,
    /// Bad file descriptor.
    EBADF,
    /// The device or resource is busy.
    EBUSY,
    /// No child processes: inherited copies do not match the group.
    ECHILD,
    /// A file exists already.
    EEXIST,
    /// Bad address.
    EFAULT,
    /// Interrupted by a signal.
    EINTR,
    /// Invalid argument.
    EINVAL,
    /// Input or output error.
    EIO,
    /// Too many open files in the process.
    EMFILE,
    /// Too many open files in the system.
    ENFILE,
    /// No such device: the CPU is offline, or the PMU is absent.
    ENODEV,
    /// No such file: no PMU offers the event.
    ENOENT,
    /// Out of memory.
    ENOMEM,
    /// No space left.
    ENOSPC,
    /// The function is not implemented.
    ENOSYS,
    /// The request is unknown to the kernel.
    ENOTTY,
    /// No such device or address.
    ENXIO,
    /// The operation is not supported.
    EOPNOTSUPP,
    /// The value is too large.
    EOVERFLOW,
    /// The operation is not permitted.
    EPERM,
    /// No such thread.
    ESRCH,
}

/// The name, such as `EACCES`; `Errno(1234)` for a number without a constant.
impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Errno({})", self.0),
        }
    }
}

/// `Permission denied (os error 13)` with the feature `std`, without it `EACCES (os error 13)`.
impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "std")]
        return std::io::Error::from(*self).fmt(f);
        #[cfg(not(feature = "std"))]
        write!(f, "{} (os error {})", self.name().unwrap_or("failed"), self.0)
    }
}

impl core::error::Error for Errno {}

#[cfg(feature = "std")]
impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unnamed_errno_prints_its_number() {
        let errno = Errno::from_raw_os_error(1234);
        assert_eq!(format!("{errno:?}"), "Errno(1234)");
        assert!(errno.to_string().contains("os error 1234"), "{errno}");
    }

    #[test]
    fn every_errno_of_the_kernel_survives_the_way_to_rustix_and_back() {
        for raw in 1..=4095 {
            let errno = Errno::from_raw_os_error(raw);
            assert_eq!(Errno::from(rustix::io::Errno::from(errno)), errno);
        }
        for raw in [i32::MIN, -1, 0, 4096, i32::MAX] {
            assert_eq!(rustix::io::Errno::from(Errno::from_raw_os_error(raw)), rustix::io::Errno::IO);
        }
    }

    #[test]
    #[cfg(feature = "std")]
    fn an_errno_is_the_same_io_error() {
        let error = std::io::Error::from(Errno::ENOENT);
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        assert_eq!(error.raw_os_error(), Some(Errno::ENOENT.raw_os_error()));
    }
}
