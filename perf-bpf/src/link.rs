use core::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use perf_sys::abi::bpf::{BpfCmd, BpfLinkInfo};

use crate::syscall::{info, link_create, raw_tracepoint_open, tracing_open};
use crate::{Error, ObjectKind, ObjectName};

/// A link, which holds the attachment of a program. Closing its last descriptor detaches the program.
///
/// The link keeps the program and the event alive, also after their descriptors are closed.
///
/// # References
///
/// `bpf(2)`, `kernel/bpf/syscall.c`.
#[doc(alias = "bpf_link")]
#[derive(Debug)]
pub struct Link(OwnedFd);

impl Link {
    /// `bpf(BPF_LINK_CREATE, BPF_PERF_EVENT)`—Attaches a program to a perf event. Since Linux 5.15.
    ///
    /// The program reads `cookie` by `bpf_get_attach_cookie`; 0 is the same as no cookie.
    ///
    /// Programs of type tracepoint and kprobe are attached to the tracepoint or probe itself, and run for
    /// its hits on all CPUs and in all tasks, whatever the event counts. If one returns 0, no event of
    /// that tracepoint counts or samples the hit.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the program's type does not fit the event, or before Linux 5.15; `EEXIST` if the event
    /// already has a program, or the tracepoint has this one; `E2BIG` if the tracepoint has 64. A program
    /// of type perf event on an event without a period is accepted and never runs; [`Attachment`] refuses
    /// it.
    ///
    /// [`Attachment`]: crate::Attachment
    #[doc(alias = "bpf_program__attach_perf_event_opts")]
    pub fn attach(event: impl AsFd, program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let link = link_create(program.as_fd(), event.as_fd(), cookie);
        link.map(Self).map_err(Error::of(BpfCmd::LINK_CREATE, ObjectName::EMPTY))
    }

    /// `bpf(BPF_RAW_TRACEPOINT_OPEN)`—Attaches a program to a raw tracepoint, by its name without the
    /// subsystem, such as `sched_switch`. It runs for all hits. Since Linux 4.17.
    ///
    /// A `cookie` other than 0 needs Linux 6.10. The type of the program must be raw tracepoint.
    ///
    /// # Errors
    ///
    /// `ENOENT` if there is no such tracepoint, `EINVAL` for a program of another type or a cookie on an
    /// older kernel.
    #[doc(alias = "BPF_RAW_TRACEPOINT_OPEN")]
    #[doc(alias = "bpf_program__attach_raw_tracepoint")]
    pub fn raw_tracepoint(name: &CStr, program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let link = raw_tracepoint_open(name, program.as_fd(), cookie);
        link.map(Self).map_err(Error::of(BpfCmd::RAW_TRACEPOINT_OPEN, ObjectName::EMPTY))
    }

    /// `bpf(BPF_RAW_TRACEPOINT_OPEN)` without a name—Attaches a program of type tracing, such as one of
    /// libbpf's section `tp_btf`, to the tracepoint or function that it was loaded for. Since Linux 5.5.
    ///
    /// A `cookie` other than 0 is for programs on tracepoints, and needs Linux 6.10.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a program of another type or a cookie on an older kernel.
    #[doc(alias = "BPF_TRACE_RAW_TP")]
    #[doc(alias = "bpf_program__attach_trace")]
    pub fn tracing(program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let link = tracing_open(program.as_fd(), cookie);
        link.map(Self).map_err(Error::of(BpfCmd::RAW_TRACEPOINT_OPEN, ObjectName::EMPTY))
    }

    /// Takes the descriptor of a link of another library, after a check that it is one.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Error> {
        let fd = fd.into();
        ObjectKind::Link.check(&fd)?;
        Ok(Self(fd))
    }

    /// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns the ids of the link and its program, and what they are
    /// attached to. Since Linux 5.8; the details of perf events since 6.6.
    #[doc(alias = "bpf_link_get_info_by_fd")]
    pub fn info(&self) -> Result<BpfLinkInfo, Error> {
        info(self.as_fd()).map_err(Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, ObjectName::EMPTY))
    }

    /// Returns the descriptor. The program is attached as long as it or a duplicate is open.
    pub fn into_fd(self) -> OwnedFd {
        self.0
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
