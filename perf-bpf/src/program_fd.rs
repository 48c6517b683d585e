use core::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use perf_sys::abi::bpf::{BpfAttachType, BpfCmd, BpfInsn, BpfProgType};

use crate::syscall::{self, LoadFailure};
use crate::{BpfPrivileges, Error, ObjectKind, ObjectName, Refused};

/// The descriptor of a loaded program.
///
/// Closing the last descriptor of a program that is neither pinned nor attached unloads it.
#[derive(Debug)]
pub struct ProgramFd(OwnedFd);

impl ProgramFd {
    /// `bpf(BPF_PROG_LOAD)`—Loads a program from its instructions. Since Linux 3.18.
    ///
    /// It is for programs of a few instructions. Others are compiled and loaded by a library, and
    /// [`from_fd`](Self::from_fd) takes their descriptors. Kprobe programs need Linux 5.0 here.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] with the verifier's log.
    #[doc(alias = "BPF_PROG_LOAD")]
    pub fn load(
        prog_type: BpfProgType,
        code: &[BpfInsn],
        license: &CStr,
        name: ObjectName,
    ) -> Result<Self, Error> {
        Self::load_for(prog_type, BpfAttachType::default(), code, license, name)
    }

    /// As [`load`](Self::load), with the attachment that some program types need to be loaded.
    pub(crate) fn load_for(
        prog_type: BpfProgType,
        attach_type: BpfAttachType,
        code: &[BpfInsn],
        license: &CStr,
        name: ObjectName,
    ) -> Result<Self, Error> {
        let loaded = syscall::prog_load(prog_type, code, license, name.to_raw(), attach_type);
        loaded.map(Self).map_err(|LoadFailure { errno, log }| Error::Load {
            program: name,
            errno,
            privilege: BpfPrivileges::of_errno(errno).filter(|_| log.is_empty()),
            log: log.into(),
        })
    }

    /// Takes the descriptor of a program of another library, after a check that it is one.
    ///
    /// # Errors
    ///
    /// The descriptor, with [`Error::Kind`] if it is not that of a program.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Refused<OwnedFd>> {
        let fd = fd.into();
        match ObjectKind::Program.check(&fd) {
            Ok(()) => Ok(Self(fd)),
            Err(error) => Err(Refused { error, value: fd }),
        }
    }

    /// Takes a descriptor that is known to be that of a program.
    pub(crate) fn from_owned(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// `bpf(BPF_PROG_TEST_RUN)`—Runs the program once with this context, and returns its return
    /// value. With a CPU, on that one (since Linux 5.10).
    ///
    /// Raw tracepoint programs can be run so since Linux 5.10; perf event, tracepoint and kprobe
    /// programs cannot (errno 524).
    #[doc(alias = "BPF_PROG_TEST_RUN")]
    pub fn test_run(&self, context: &[u8], cpu: Option<u32>) -> Result<u32, Error> {
        let run = syscall::prog_test_run(self.as_fd(), context, cpu);
        run.map(|run| run.retval).map_err(Error::of(BpfCmd::PROG_TEST_RUN, ObjectName::EMPTY))
    }

    /// Returns the descriptor.
    pub fn into_fd(self) -> OwnedFd {
        self.0
    }
}

impl AsFd for ProgramFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
