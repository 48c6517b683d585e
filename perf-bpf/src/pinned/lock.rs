use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::pin::parent;
use crate::{BpfFs, Error};

/// A lock of the directory of a pin, released on drop.
#[derive(Debug)]
pub(super) struct PinLock(#[allow(dead_code)] OwnedFd); // closing it releases the lock

impl PinLock {
    /// Waits for the lock of the path's directory, which must be on a bpf file system.
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let directory = parent(path);
        BpfFs::at(directory).check()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(directory, flags, Mode::empty()).map_err(Error::path("open", directory))?;
        loop {
            match rustix::fs::flock(&fd, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Self(fd)),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(Error::path("flock", directory)(errno)),
            }
        }
    }
}
