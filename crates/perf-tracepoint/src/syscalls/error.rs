//! Errors of system calls, with the names of their errnos.

use std::{fmt, io};

use super::numbers::errno;

/// Greatest errno that a result can be.
const MAX_ERRNO: i64 = 4095;

/// First of the kernel's internal errors, such as `ERESTARTSYS`, which the C library does not know.
const FIRST_INTERNAL: i32 = 512;

/// The error of a call: an errno, or an internal error of the kernel such as `ERESTARTSYS`, which
/// programs never see.
///
/// ```
/// use perf_tracepoint::SyscallError;
///
/// let error = SyscallError::from_result(-2).unwrap();
/// assert_eq!((error.number(), error.name()), (2, Some("ENOENT")));
/// assert_eq!(error.to_string(), "ENOENT (No such file or directory)");
/// assert_eq!(SyscallError::from_result(3), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallError(i32);

impl SyscallError {
    /// Returns the error of a result; `None` if the result is not from -4095 to -1.
    pub fn from_result(result: i64) -> Option<Self> {
        (-MAX_ERRNO..0).contains(&result).then(|| Self((-result) as i32))
    }

    /// Returns the number, which is positive.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Returns the name, such as `ENOENT`. `None` for an unknown error, and on an
    /// [architecture without names](super::SyscallTable::HAS_NAMES).
    pub fn name(self) -> Option<&'static str> {
        errno(self.0).map(|(name, _)| name)
    }
}

/// Prints the name and the C library's description, as strace does, or the number of an unknown
/// error.
impl fmt::Display for SyscallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match errno(self.0) {
            Some((name, description)) if self.0 >= FIRST_INTERNAL => write!(f, "{name} ({description})"),
            // The descriptions in the kernel's comments are older: "Not a typewriter" for ENOTTY.
            Some((name, _)) => {
                let text = io::Error::from_raw_os_error(self.0).to_string();
                let description = text.rsplit_once(" (os error").map_or(&*text, |(text, _)| text);
                write!(f, "{name} ({description})")
            }
            None => write!(f, "errno {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_below_the_errnos_are_values() {
        assert_eq!(SyscallError::from_result(-4096), None);
        assert_eq!(SyscallError::from_result(i64::MIN), None);
        assert_eq!(SyscallError::from_result(0), None);
        assert_eq!(SyscallError::from_result(-4095).unwrap().to_string(), "errno 4095");
        let internal = SyscallError::from_result(-512).unwrap();
        assert_eq!(internal.name(), Some("ERESTARTSYS"));
        assert!(!internal.to_string().contains("512"), "{internal}");
    }

    #[test]
    fn descriptions_are_those_of_the_c_library() {
        let text = SyscallError::from_result(-25).unwrap().to_string();
        // The second is musl's description.
        let expected = ["ENOTTY (Inappropriate ioctl for device)", "ENOTTY (Not a tty)"];
        assert!(expected.contains(&&*text), "{text}");
    }
}
