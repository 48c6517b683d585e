use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use perf_sys::{Errno, Event};

use crate::{Error, Link};

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
    /// [`Link::attach`] describes the programs that events take.
    ///
    /// # Errors
    ///
    /// Those of [`Link::attach`] if it has a cookie, and else those of [`Event::set_bpf`].
    pub fn new(event: impl Into<Arc<Event>>, program: impl AsFd, cookie: u64) -> Result<Self, Error> {
        let (event, program) = (event.into(), program.as_fd());
        match Link::attach(&*event, program, cookie) {
            Ok(link) => Ok(Self { link: Some(link), event }),
            // An old kernel and a wrong program have the same errno. For the latter the ioctl fails too.
            Err(error) if cookie == 0 && is_unsupported(&error) => Self::by_ioctl(event, program),
            Err(error) => Err(error),
        }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)`—Attaches a program until the event is closed. Since
    /// Linux 4.1.
    ///
    /// # Errors
    ///
    /// Those of [`Event::set_bpf`].
    #[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
    pub fn by_ioctl(event: impl Into<Arc<Event>>, program: impl AsFd) -> Result<Self, Error> {
        let event = event.into();
        event.set_bpf(program.as_fd())?;
        Ok(Self { link: None, event })
    }

    /// Returns the link, or `None` if the program was attached by ioctl.
    pub const fn link(&self) -> Option<&Link> {
        self.link.as_ref()
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

/// Returns whether the kernel may not have the command or its attach type.
fn is_unsupported(error: &Error) -> bool {
    matches!(error.errno(), Some(Errno::EINVAL | Errno::E2BIG | Errno::EOPNOTSUPP))
}
