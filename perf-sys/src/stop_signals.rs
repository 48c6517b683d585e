use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use linux_raw_sys::general::{SIGINT, SIGTERM};
use rustix::io::Errno;

use crate::syscall::block_signals;
use crate::{Call, Error, Result};

/// Length of `struct signalfd_siginfo` in bytes.
const INFO: usize = 128;

/// The signals by which users end a program, `SIGINT` and `SIGTERM`, as a descriptor: so that a program can
/// read its rings to the end before it exits.
///
/// ```no_run
/// use std::thread;
///
/// use perf_sys::{Canceller, StopSignals};
///
/// # fn main() -> perf_sys::Result<()> {
/// let (signals, stop) = (StopSignals::block()?, Canceller::new()?);
/// let canceller = stop.clone();
/// thread::spawn(move || signals.wait().and_then(|_| canceller.cancel()));
/// // RingSet::wait_or_cancelled(None, &stop) returns when the user presses ^C.
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[doc(alias = "signalfd")]
pub struct StopSignals(OwnedFd);

impl StopSignals {
    /// `rt_sigprocmask(SIG_BLOCK)` and `signalfd4(SFD_CLOEXEC)`—Blocks the two signals in the calling thread
    /// and in threads that it starts later, until the program exits.
    ///
    /// Call it before the first thread is started, because a signal of the process ends it if any thread
    /// does not block it. Programs that [`Command`](std::process::Command) starts get these signals.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if no descriptor is left.
    ///
    /// # References
    ///
    /// `signalfd(2)`. Since Linux 2.6.27.
    pub fn block() -> Result<Self> {
        block_signals(&[SIGINT, SIGTERM]).map(Self)
    }

    /// `read(fd)`—Waits for the next of the signals, and returns its number.
    ///
    /// # Errors
    ///
    /// [`Error::System`]; no errno is known that the kernel returns here.
    pub fn wait(&self) -> Result<u32> {
        let mut info = [0_u8; INFO];
        loop {
            match rustix::io::read(&self.0, &mut info) {
                Ok(_) => {
                    // `ssi_signo` is the first field.
                    let [a, b, c, d, ..] = info;
                    return Ok(u32::from_ne_bytes([a, b, c, d]));
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::of(Call::Read)(errno)),
            }
        }
    }
}

/// The signalfd, for an event loop. It is readable when a signal is pending.
impl AsFd for StopSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
