use core::fmt;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use perf_sys::Errno;

use crate::Error;

/// A kind of BPF object that has descriptors and ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// A BPF map.
    Map,
    /// A loaded BPF program.
    Program,
    /// A link, which holds the attachment of a program.
    Link,
}

impl ObjectKind {
    /// Checks by `/proc/thread-self/fd` that a descriptor of another library is of this kind.
    pub(crate) fn check(self, fd: impl AsFd) -> Result<(), Error> {
        self.check_opened(fd, None)
    }

    /// Checks that the descriptor of an object that was pinned to `pin` is of this kind.
    pub(crate) fn check_opened(self, fd: impl AsFd, pin: Option<&Path>) -> Result<(), Error> {
        let path = format!("/proc/thread-self/fd/{}", fd.as_fd().as_raw_fd());
        let target = rustix::fs::readlink(path.as_str(), Vec::new()).map_err(|errno| Error::Path {
            call: "readlink",
            path: PathBuf::from(path).into(),
            errno: Errno::from_raw_os_error(errno.raw_os_error()),
        })?;
        let target = target.to_string_lossy();
        if self.targets().contains(&&*target) {
            return Ok(());
        }
        Err(Error::Kind { path: pin.map(Into::into), expected: self, found: target.into() })
    }

    /// Returns the names of the kernel's files, of all versions.
    const fn targets(self) -> &'static [&'static str] {
        match self {
            Self::Map => &["anon_inode:bpf-map"],
            Self::Program => &["anon_inode:bpf-prog"],
            Self::Link => &["anon_inode:bpf_link", "anon_inode:bpf-link"],
        }
    }
}

/// `map`, `program` or `link`.
impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Map => "map",
            Self::Program => "program",
            Self::Link => "link",
        })
    }
}
