//! Acknowledgements of commands.

use std::fs::File;
use std::io::{self, Write as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The bytes of an acknowledgement. They end with a NUL, as in the perf tool, because programs that
/// read five bytes depend on it; the shell's `read` skips it.
const ACK: &[u8] = b"ack\n\0";

/// Acknowledges commands without blocking.
#[derive(Debug)]
pub struct ControlAck(Option<File>);

impl ControlAck {
    pub(super) fn new(file: Option<File>) -> Self {
        Self(file)
    }

    /// Sends `"ack\n\0"` for the oldest command that is not acknowledged yet. Does nothing if the
    /// program did not ask for acknowledgements.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the pipe is full because the program does not read; nothing
    /// is sent. [`io::ErrorKind::BrokenPipe`] if the program has closed its end; later calls send
    /// nothing either.
    pub fn send(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        // The descriptor may be blocking. Other programs share it, so its flags stay unchanged.
        let mut ends = [PollFd::new(file, PollFlags::OUT)];
        while poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Err(Errno::INTR) {}
        let [end] = &ends;
        if end.revents().is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let sent = file.write_all(ACK);
        if sent.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock) {
            self.0 = None;
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn full_pipe_blocks_nothing_and_a_closed_one_is_reported_once() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let mut ack = ControlAck::new(Some(File::from(OwnedFd::from(writer))));
        let mut sent = 0;
        while ack.send().is_ok() {
            sent += 1;
        }
        assert_eq!(ack.send().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let mut bytes = vec![0; sent * ACK.len()];
        reader.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, ACK.repeat(sent));
        ack.send().unwrap();
        drop(reader);
        assert_eq!(ack.send().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        ack.send().unwrap();
        ControlAck::new(None).send().unwrap();
    }
}
