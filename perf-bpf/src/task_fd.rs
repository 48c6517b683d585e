use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfTaskFdType};
use std::os::fd::{AsFd, AsRawFd};

use crate::syscall::task_fd_query;
use crate::{Error, ObjectName};

/// The program that a task has attached by a descriptor, and what it is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFd {
    /// Id of the program.
    pub program: u32,
    /// Kind of the attachment.
    pub kind: BpfTaskFdType,
    /// The tracepoint, the function of a kprobe or the file of a uprobe, without a NUL. Empty if a kprobe
    /// has an address.
    pub name: Vec<u8>,
    /// Offset of a probe in bytes from the function, or in the file.
    pub offset: u64,
    /// Address of a kprobe.
    pub address: u64,
}

impl TaskFd {
    /// `bpf(BPF_TASK_FD_QUERY)`—Returns the program that this process has attached by a descriptor of a
    /// perf event or raw tracepoint. Since Linux 4.18.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the event has no program, `EOPNOTSUPP` for events other than tracepoints and probes,
    /// `EPERM` without `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_TASK_FD_QUERY")]
    pub fn query(fd: impl AsFd) -> Result<Self, Error> {
        // Never negative: a `BorrowedFd` is open.
        Self::query_task(std::process::id(), fd.as_fd().as_raw_fd().unsigned_abs())
    }

    /// As [`query`](Self::query), for descriptor number `fd` of the process `pid`.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query), `ENOENT` if there is no such process, and `EBADF`.
    pub fn query_task(pid: u32, fd: u32) -> Result<Self, Error> {
        let mut name = vec![0; 256];
        loop {
            match task_fd_query(pid, fd, &mut name) {
                Ok(found) => {
                    name.truncate(found.name_len as usize);
                    let (program, kind) = (found.prog_id, found.fd_type);
                    let (offset, address) = (found.probe_offset, found.probe_addr);
                    return Ok(Self { program, kind, name, offset, address });
                }
                // Longer than a path: PATH_MAX is 4096.
                Err(Errno::ENOSPC) if name.len() < 8192 => name.resize(8192, 0),
                Err(errno) => return Err(Error::bpf(BpfCmd::TASK_FD_QUERY, ObjectName::EMPTY, errno)),
            }
        }
    }
}
