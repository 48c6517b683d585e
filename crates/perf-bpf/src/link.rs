//! Links and attachments of programs to events.

use core::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use perf_ring::abi::Sampling;
use perf_ring::abi::bpf::{BpfCmd, BpfLinkInfo, BpfProgType};
use perf_ring::sys::BorrowedEvent;
use perf_ring::{Errno, Event};

use crate::error::{Error, Refused};
use crate::object::{ObjectKind, ObjectName};
use crate::syscall::{info, link_create, prog_info, raw_tracepoint_open};

/// A link, which holds the attachment of a program. Closing its last descriptor detaches the
/// program.
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
    /// Programs of type tracepoint and kprobe are attached to the tracepoint or probe itself, and
    /// run for its hits on all CPUs and in all tasks, regardless of what the event counts. If one
    /// returns 0, no event of that tracepoint counts or samples the hit.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the program's type does not fit the event, or before Linux 5.15; `EEXIST` if the
    /// event already has a program, or the tracepoint has this one; `E2BIG` if the tracepoint has
    /// 64. A program of type perf event on an event without a period is accepted and never runs;
    /// [`Attachment`] refuses it.
    ///
    /// [`Attachment`]: crate::Attachment
    #[doc(alias = "bpf_program__attach_perf_event_opts")]
    pub fn attach<'fd>(
        event: impl Into<BorrowedEvent<'fd>>,
        program: impl AsFd,
        cookie: u64,
    ) -> Result<Self, Error> {
        let link = link_create(program.as_fd(), event.into(), cookie);
        link.map(Self).map_err(Error::of(BpfCmd::LINK_CREATE, ObjectName::EMPTY))
    }

    /// `bpf(BPF_RAW_TRACEPOINT_OPEN)`—Attaches a program to a raw tracepoint, by its name without
    /// the subsystem, such as `sched_switch`. It runs for all hits. Since Linux 4.17.
    ///
    /// A `cookie` other than 0 needs Linux 6.10. The type of the program must be raw tracepoint.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the tracepoint does not exist, `EINVAL` for a program of another type or a
    /// cookie on an older kernel.
    #[doc(alias = "BPF_RAW_TRACEPOINT_OPEN")]
    #[doc(alias = "bpf_program__attach_raw_tracepoint")]
    pub fn raw_tracepoint(name: &CStr, program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let link = raw_tracepoint_open(Some(name), program.as_fd(), cookie);
        link.map(Self).map_err(Error::of(BpfCmd::RAW_TRACEPOINT_OPEN, ObjectName::EMPTY))
    }

    /// `bpf(BPF_RAW_TRACEPOINT_OPEN)` without a name—Attaches a program of type tracing, such as
    /// one of libbpf's section `tp_btf`, to the tracepoint or function that it was loaded for.
    /// Since Linux 5.5.
    ///
    /// A `cookie` other than 0 is for programs on tracepoints, and needs Linux 6.10.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a program of another type or a cookie on an older kernel.
    #[doc(alias = "BPF_TRACE_RAW_TP")]
    #[doc(alias = "bpf_program__attach_trace")]
    pub fn tracing(program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let link = raw_tracepoint_open(None, program.as_fd(), cookie);
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

    /// Returns the descriptor. The program stays attached while the descriptor or a duplicate is
    /// open.
    pub fn into_fd(self) -> OwnedFd {
        self.0
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The attachment of a program to a perf event. Dropping it detaches the program if it is a
/// [link](Self::link).
///
/// A program that was attached by ioctl stays attached until the event is closed, because the
/// kernel has no request to detach it. Other clones of the [`Arc`] can keep the event open.
#[derive(Debug)]
pub struct Attachment {
    // Dropped before the event, so that the program is detached while the event exists.
    link: Option<Link>,
    event: Arc<Event>,
}

impl Attachment {
    /// Attaches a program by a link, or by ioctl on a kernel without links to perf events (before
    /// Linux 5.15).
    ///
    /// An attachment with a cookie is never made by ioctl, because the program would read 0.
    /// [`Link::attach`] describes the programs that events take. It does not enable the event.
    ///
    /// # Errors
    ///
    /// [`Error::NoPeriod`] if the program would never run; [`Error::Bpf`] as of [`Link::attach`] if
    /// there is a cookie, and else [`Error::Event`] as of [`Event::set_bpf`].
    pub fn new(
        event: impl Into<Arc<Event>>,
        program: impl AsFd,
        cookie: u64,
    ) -> Result<Self, Refused<Arc<Event>>> {
        let (event, program) = (event.into(), program.as_fd());
        let attached = check_period(&event, program).and_then(|()| Link::attach(&*event, program, cookie));
        match attached {
            Ok(link) => Ok(Self { link: Some(link), event }),
            // An old kernel and a wrong program have the same errno. For the latter the ioctl fails
            // too.
            Err(error) if cookie == 0 && is_unsupported(&error) => Self::by_ioctl(event, program),
            Err(error) => Err(Refused { error, value: event }),
        }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)`—Attaches a program until the event is closed.
    /// Since Linux 4.1.
    ///
    /// It does not enable the event. A program of type perf event does not run while the event is
    /// disabled, as it is after an open with
    /// [`AttrFlags::DISABLED`](perf_ring::AttrFlags::DISABLED): call [`Event::enable`]. Programs on
    /// tracepoints and probes run in any case.
    ///
    /// # Errors
    ///
    /// [`Error::NoPeriod`] if the program would never run, and [`Error::Event`] as of
    /// [`Event::set_bpf`].
    #[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
    pub fn by_ioctl(event: impl Into<Arc<Event>>, program: impl AsFd) -> Result<Self, Refused<Arc<Event>>> {
        let (event, program) = (event.into(), program.as_fd());
        let attached = check_period(&event, program).and_then(|()| Ok(event.set_bpf(program)?));
        match attached {
            Ok(()) => Ok(Self { link: None, event }),
            Err(error) => Err(Refused { error, value: event }),
        }
    }

    /// Returns the link, or `None` if the program was attached by ioctl.
    pub const fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// Returns the link, which keeps the event alive and the program attached.
    ///
    /// # Errors
    ///
    /// The attachment itself, if the program was attached by ioctl.
    pub fn into_link(self) -> Result<Link, Self> {
        let Self { link, event } = self;
        link.ok_or(Self { link: None, event })
    }

    /// Returns the event.
    pub const fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Closes the link and returns the event. A program that was attached by ioctl stays attached
    /// until the event is closed.
    pub fn detach(self) -> Arc<Event> {
        self.event
    }
}

/// Returns whether the kernel may lack the command or its attach type. `E2BIG` has another cause:
/// without a cookie the argument is as short as on the oldest kernel, so the tracepoint has the
/// maximum number of programs.
fn is_unsupported(error: &Error) -> bool {
    matches!(error.errno(), Some(Errno::EINVAL | Errno::EOPNOTSUPP))
}

/// Returns [`Error::NoPeriod`] if the program runs only on overflows and the event has no period.
fn check_period(event: &Event, program: BorrowedFd<'_>) -> Result<(), Error> {
    if event.attr().sampling() != Sampling::None {
        return Ok(());
    }
    match prog_info(program, &mut []) {
        Ok(info) if info.kind == BpfProgType::PERF_EVENT => {
            Err(Error::NoPeriod { event: event.to_string().into() })
        }
        // Programs of other types run for hits. The kernel refuses descriptors of other kinds.
        _ => Ok(()),
    }
}
