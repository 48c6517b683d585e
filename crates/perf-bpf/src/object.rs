//! Kinds, ids and names of BPF objects.

use core::fmt;
use core::str::FromStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use perf_ring::Errno;
use perf_session::System;

use crate::error::Error;
use crate::link::Link;
use crate::program::ProgramFd;
use crate::syscall::MapFd;
use crate::syscall::{fd_by_id, fd_by_id_command, next_id, next_id_command};

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
        let path = own_descriptor(fd);
        let target = rustix::fs::readlink(&path, Vec::new()).map_err(Error::path("readlink", &path))?;
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

/// Returns the link to an open file of this process.
pub(crate) fn own_descriptor(fd: impl AsFd) -> PathBuf {
    System::new().this_thread().path(&format!("fd/{}", fd.as_fd().as_raw_fd()))
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

/// The name of a map or program: at most 15 bytes. Empty if it has no name.
///
/// Names are labels: several objects may have the same. New names have letters, digits, `_` and `.`
/// (`.` since Linux 5.3). Since Linux 4.15.
///
/// ```
/// use perf_bpf::ObjectName;
///
/// let name: ObjectName = "events".parse()?;
/// assert_eq!(name.to_string(), "events");
/// assert!("a_name_of_17_byte".parse::<ObjectName>().is_err());
/// # Ok::<(), perf_bpf::Error>(())
/// ```
#[doc(alias = "BPF_OBJ_NAME_LEN")]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ObjectName([u8; 16]);

impl ObjectName {
    /// No name.
    pub const EMPTY: Self = Self([0; 16]);

    /// Returns the name in a NUL-terminated field of the kernel.
    pub(crate) const fn from_raw(raw: [u8; 16]) -> Self {
        Self(raw)
    }

    /// Returns the field for the kernel.
    pub(crate) const fn to_raw(self) -> [u8; 16] {
        self.0
    }

    /// Returns the bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// Returns `true` if there is no name.
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }
}

impl FromStr for ObjectName {
    type Err = Error;

    /// Returns the name, or an error if it is too long or has a character that the kernel refuses.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut raw = [0; 16];
        let is_allowed = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
        match raw.get_mut(..text.len()) {
            Some(bytes) if is_allowed && text.len() < 16 => bytes.copy_from_slice(text.as_bytes()),
            _ => return Err(Error::Name { found: text.into() }),
        }
        Ok(Self(raw))
    }
}

/// The name. Bytes that are not UTF-8 are replaced.
impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

/// The ids of all objects of a kind on the system, ascending. It ends after an error.
///
/// Objects that are created or deleted meanwhile may be missing or listed. It needs
/// `CAP_SYS_ADMIN`.
#[derive(Clone, Debug)]
pub struct Ids {
    kind: ObjectKind,
    /// The last id, or `None` at the end.
    last: Option<u32>,
}

impl Ids {
    /// `bpf(BPF_*_GET_NEXT_ID)`—Returns the ids of a kind. For maps and programs since Linux 4.13,
    /// for links since 5.8.
    #[doc(alias = "BPF_MAP_GET_NEXT_ID")]
    #[doc(alias = "BPF_PROG_GET_NEXT_ID")]
    #[doc(alias = "BPF_LINK_GET_NEXT_ID")]
    pub fn new(kind: ObjectKind) -> Self {
        Self::after(kind, 0)
    }

    /// Returns the ids that are larger than `id`.
    pub fn after(kind: ObjectKind, id: u32) -> Self {
        Self { kind, last: Some(id) }
    }
}

impl Iterator for Ids {
    type Item = Result<u32, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = next_id(self.kind, self.last?);
        self.last = found.ok().flatten();
        found.map_err(Error::of(next_id_command(self.kind), ObjectName::EMPTY)).transpose()
    }
}

/// Opens an object, or returns `None` if there is no object with this id.
pub(crate) fn open_id(kind: ObjectKind, id: u32) -> Result<Option<OwnedFd>, Error> {
    match fd_by_id(kind, id) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(Error::bpf(fd_by_id_command(kind), ObjectName::EMPTY, errno)),
    }
}

/// Ids.
impl MapFd {
    /// `bpf(BPF_MAP_GET_FD_BY_ID)`—Opens the map with this id, or returns `None` if there is no
    /// such map: it may have been deleted since its id was listed. Since Linux 4.13; needs
    /// `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_MAP_GET_FD_BY_ID")]
    pub fn open_id(id: u32) -> Result<Option<Self>, Error> {
        open_id(ObjectKind::Map, id)?.map(|fd| Ok(Self::with_info(fd)?)).transpose()
    }
}

/// Ids.
impl ProgramFd {
    /// `bpf(BPF_PROG_GET_FD_BY_ID)`—Opens the program with this id, or returns `None` if there is
    /// no such program. Since Linux 4.13; needs `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_PROG_GET_FD_BY_ID")]
    pub fn open_id(id: u32) -> Result<Option<Self>, Error> {
        Ok(open_id(ObjectKind::Program, id)?.map(Self::from_owned))
    }
}

/// Ids.
impl Link {
    /// `bpf(BPF_LINK_GET_FD_BY_ID)`—Opens the link with this id, or returns `None` if there is no
    /// such link. Since Linux 5.8; needs `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_LINK_GET_FD_BY_ID")]
    pub fn open_id(id: u32) -> Result<Option<Self>, Error> {
        open_id(ObjectKind::Link, id)?.map(Self::from_fd).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_at_most_15_bytes() {
        assert_eq!("a23456789012345".parse::<ObjectName>().unwrap().to_string(), "a23456789012345");
        assert!("a234567890123456".parse::<ObjectName>().is_err());
        assert!("".parse::<ObjectName>().unwrap().is_empty());
    }

    #[test]
    fn a_character_that_the_kernel_refuses_is_an_error() {
        for text in ["a b", "a/b", "a\0b", "ä", "a-b"] {
            let error = text.parse::<ObjectName>().unwrap_err().to_string();
            assert!(error.contains("letters, digits"), "{error}");
        }
        assert!("a_b.C9".parse::<ObjectName>().is_ok());
    }

    #[test]
    fn bytes_after_the_first_nul_are_ignored() {
        assert_eq!(ObjectName::from_raw(*b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0").as_bytes(), b"ab");
        assert_eq!(ObjectName::from_raw([b'x'; 16]).as_bytes(), [b'x'; 16]);
    }
}
