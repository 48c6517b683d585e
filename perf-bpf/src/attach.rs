use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use perf_sys::abi::Sampling;
use perf_sys::abi::bpf::BpfProgType;
use perf_sys::{Errno, Event};

use crate::syscall::prog_info;
use crate::{Error, Link, Refused};

/// The attachment of a program to a perf event. Dropping it detaches the program, if it is a
/// [link](Self::link).
///
/// A program that was attached by ioctl stays attached until the event is closed, which other clones of
/// the [`Arc`] may prevent: the kernel has no request to detach it.
#[derive(Debug)]
pub struct Attachment {
    // Dropped before the event, so that the program is detached while the event exists.
    link: Option<Link>,
    event: Arc<Event>,
}

impl Attachment {
    /// Attaches a program by a link, or by ioctl on a kernel without links to perf events (before Linux
    /// 5.15).
    ///
    /// An attachment with a cookie is never made by ioctl, because the program would read 0.
    /// [`Link::attach`] describes the programs that events take. It does not enable the event.
    ///
    /// # Errors
    ///
    /// [`Error::NoPeriod`] if the program would never run; [`Error::Bpf`] as of [`Link::attach`] if there
    /// is a cookie, and else [`Error::Event`] as of [`Event::set_bpf`].
    pub fn new(
        event: impl Into<Arc<Event>>,
        program: impl AsFd,
        cookie: u64,
    ) -> Result<Self, Refused<Arc<Event>>> {
        let (event, program) = (event.into(), program.as_fd());
        let attached = check_period(&event, program).and_then(|()| Link::attach(&*event, program, cookie));
        match attached {
            Ok(link) => Ok(Self { link: Some(link), event }),
            // An old kernel and a wrong program have the same errno. For the latter the ioctl fails too.
            Err(error) if cookie == 0 && is_unsupported(&error) => Self::by_ioctl(event, program),
            Err(error) => Err(Refused { error, value: event }),
        }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)`—Attaches a program until the event is closed. Since
    /// Linux 4.1.
    ///
    /// It does not enable the event. A program of type perf event does not run while the event is
    /// disabled, as it is after an open with [`AttrFlags::DISABLED`](perf_sys::AttrFlags::DISABLED): call
    /// [`Event::enable`]. Programs on tracepoints and probes run in any case.
    ///
    /// # Errors
    ///
    /// [`Error::NoPeriod`] if the program would never run, and [`Error::Event`] as of [`Event::set_bpf`].
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

    /// Closes the link and returns the event. A program that was attached by ioctl stays attached until
    /// the event is closed.
    pub fn detach(self) -> Arc<Event> {
        self.event
    }
}

/// The descriptor of the event.
impl AsFd for Attachment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// Returns whether the kernel may not have the command or its attach type. `E2BIG` is another cause:
/// without a cookie the argument is not longer than that of the oldest kernel, and the tracepoint has its
/// most programs.
fn is_unsupported(error: &Error) -> bool {
    matches!(error.errno(), Some(Errno::EINVAL | Errno::EOPNOTSUPP))
}

/// Returns [`Error::NoPeriod`] for a program that runs for overflows only, on an event that has none.
fn check_period(event: &Event, program: BorrowedFd<'_>) -> Result<(), Error> {
    if event.attr().sampling() != Sampling::None {
        return Ok(());
    }
    match prog_info(program, &mut []) {
        Ok(info) if info.kind == BpfProgType::PERF_EVENT => {
            Err(Error::NoPeriod { event: event.to_string().into() })
        }
        // Programs of other types run for hits. What is no program is refused by the kernel.
        _ => Ok(()),
    }
}
