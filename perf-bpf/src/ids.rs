use std::os::fd::OwnedFd;

use perf_sys::Errno;

use crate::syscall::{fd_by_id, fd_by_id_command, next_id, next_id_command};
use crate::{Error, Link, MapFd, ObjectKind, ObjectName, ProgramFd};

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
    /// `bpf(BPF_LINK_GET_FD_BY_ID)`—Opens the link with this id, or returns `None` if there is no such
    /// link. Since Linux 5.8; needs `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_LINK_GET_FD_BY_ID")]
    pub fn open_id(id: u32) -> Result<Option<Self>, Error> {
        open_id(ObjectKind::Link, id)?.map(Self::from_fd).transpose()
    }
}
