//! Requests of other threads to the loop that reads the rings.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};

use perf_record::{ControlCommand, ControlReader};
use perf_session::ring::{self, Waker};

use crate::out::thread;

/// An event outside of the rings.
#[derive(Debug)]
pub(super) enum Request {
    /// Ctrl-C or `SIGTERM`.
    Interrupt,
    /// The command has exited.
    Exit,
    /// `SIGUSR2`: begin the next part of the output.
    Switch,
    Control(ControlCommand),
    /// No further command comes.
    ControlEnd(io::Result<()>),
}

/// The sending half, which wakes the loop.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    sender: Sender<Request>,
    waker: Waker,
}

/// The receiving half of the loop.
#[derive(Debug)]
pub(super) struct Inbox {
    receiver: Receiver<Request>,
    waker: Waker,
}

/// Creates both halves.
pub(super) fn requests() -> ring::Result<(Requests, Inbox)> {
    let waker = Waker::new()?;
    let (sender, receiver) = mpsc::channel();
    Ok((Requests { sender, waker: waker.clone() }, Inbox { receiver, waker }))
}

impl Requests {
    /// Sends a request. It is ignored if the loop has ended.
    pub(super) fn send(&self, request: Request) {
        let _ = self.sender.send(request);
        // No errno is known that the kernel returns here.
        let _ = self.waker.wake();
    }

    /// Sends the commands of a control channel, from another thread.
    pub(super) fn send_commands(self, reader: ControlReader) -> io::Result<()> {
        let forward = move || {
            for command in reader {
                match command {
                    Ok(command) => self.send(Request::Control(command)),
                    Err(error) => return self.send(Request::ControlEnd(Err(error))),
                }
            }
            self.send(Request::ControlEnd(Ok(())));
        };
        thread::start("perfkit-control", forward).map(drop)
    }
}

impl Inbox {
    /// Returns the waker that ends the loop's wait.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Removes the requests, in the order in which they came.
    pub(super) fn take(&self) -> ring::Result<Vec<Request>> {
        // Reset first, so that a request that arrives meanwhile wakes the loop again.
        self.waker.reset()?;
        Ok(self.receiver.try_iter().collect())
    }
}
