//! Events on pipes.

use perf_abi::Attr;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::{Call, Error, Result};
use crate::event::Event;

/// Returns an event whose descriptor is the reading end of a pipe, and the other end: the event is
/// readable while the pipe holds bytes, and hangs up with it. Its ioctls fail.
///
/// # Errors
///
/// [`Error::System`] if no descriptor is left.
pub fn event_on_pipe(attr: Attr) -> Result<(Event, OwnedFd)> {
    let (reads, writes) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::of(Call::Pipe))?;
    Ok((Event::new(reads, attr), writes))
}

/// Returns an event whose descriptor is never readable and never hangs up. Its ioctls fail.
///
/// # Errors
///
/// [`Error::System`] if no descriptor is left.
pub fn quiet_event(attr: Attr) -> Result<Event> {
    let fd = eventfd(0, EventfdFlags::CLOEXEC).map_err(Error::of(Call::Eventfd))?;
    Ok(Event::new(fd, attr))
}
