use std::fmt;
use std::path::PathBuf;

use perf_sys::decode::tracepoint::FormatError;

use crate::names::known_names::KnownNames;
use crate::names::nearest::nearest;
use crate::std_error::into_std;
use crate::system::excerpt;
use crate::system::{FileError, Mount};

/// The reason why a tracepoint cannot be described.
#[derive(Clone)]
#[non_exhaustive]
pub enum TracefsError {
    /// tracefs is at none of its mount points.
    NotMounted,
    /// The caller may not read tracefs.
    PermissionDenied {
        /// The directory or file.
        path: PathBuf,
    },
    /// There is no such category or tracepoint.
    NotFound {
        /// The name or pattern that was looked up.
        wanted: String,
        /// The names in the place of the one that is missing: the categories, or the tracepoints of the
        /// category.
        has: Vec<String>,
    },
    /// The kernel's description of a tracepoint is malformed.
    Format {
        /// The file.
        path: PathBuf,
        /// The line and the reason.
        error: FormatError,
    },
    /// A file cannot be read or is malformed.
    File(FileError),
}

impl From<FileError> for TracefsError {
    fn from(error: FileError) -> Self {
        if error.is_permission_denied() {
            return Self::PermissionDenied { path: error.path().to_owned() };
        }
        Self::File(error)
    }
}

impl fmt::Display for TracefsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMounted => {
                write!(f, "tracefs is not mounted: {}", Mount::TRACEFS)
            }
            Self::PermissionDenied { path } => write!(
                f,
                "{}: permission denied; run as root, or let users read tracefs: \
                 mount -o remount,mode=755 /sys/kernel/tracing",
                path.display()
            ),
            Self::NotFound { wanted, has } => {
                let text = excerpt(wanted.as_bytes());
                let name = wanted.rsplit(':').next().unwrap_or_default();
                let near = nearest(name, has.iter().map(String::as_str));
                write!(f, "tracepoint {text}: not on this machine, ")?;
                match near.as_slice() {
                    [] => write!(f, "which has {}", KnownNames(has)),
                    [name] => write!(f, "the nearest name is {name}"),
                    names => write!(f, "the nearest names are {}", KnownNames(names)),
                }
            }
            Self::Format { path, error } => write!(f, "{}: {error}", path.display()),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl TracefsError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::PermissionDenied { .. } => Some(perf_sys::Errno::EACCES.raw_os_error()),
            Self::File(error) => error.raw_os_error(),
            Self::NotMounted | Self::NotFound { .. } | Self::Format { .. } => None,
        }
    }
}

impl std::error::Error for TracefsError {}

into_std!(TracefsError, NotFound);
