//! Opening a control channel: FIFOs by path, or open descriptors by number.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;

use perf_session::{FileError, System};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use super::{Control, ControlAck, ControlError, ControlReader};

impl Control {
    /// Opens the channel that `text` describes: `fifo:COMMANDS[,ACKS]` with the paths of FIFOs, or
    /// `fd:COMMANDS[,ACKS]` with the numbers of open descriptors of this process, which are
    /// duplicated.
    ///
    /// FIFOs are opened for reading and writing, so that neither end waits for the other, and
    /// programs may come and go.
    ///
    /// # Errors
    ///
    /// [`ControlError::Syntax`] for another text, [`ControlError::NotFifo`] if a path names another
    /// kind of file, and [`ControlError::File`] if a file or descriptor does not exist or must not
    /// be opened.
    ///
    /// # References
    ///
    /// `--control` in `perf-record(1)`. Since perf 5.9; `fifo:` since 5.10.
    pub fn open(text: &str) -> Result<Self, ControlError> {
        let syntax = || ControlError::Syntax { found: text.to_owned() };
        let (kind, ends) = text.split_once(':').ok_or_else(syntax)?;
        let (commands, acks) = match ends.split_once(',') {
            Some((commands, acks)) => (commands, Some(acks).filter(|acks| !acks.is_empty())),
            None => (ends, None),
        };
        let open = match kind {
            "fifo" if !commands.is_empty() => open_fifo,
            "fd" => duplicate,
            _ => return Err(syntax()),
        };
        let number = |end: &str| kind == "fifo" || end.parse::<u16>().is_ok();
        if !number(commands) || !acks.is_none_or(number) {
            return Err(syntax());
        }
        let reader = ControlReader::new(open(commands)?);
        Ok(Self { reader, ack: ControlAck::new(acks.map(open).transpose()?) })
    }
}

fn open_fifo(path: &str) -> Result<File, ControlError> {
    let file = |error| ControlError::File(FileError::io(path.into(), error));
    if !std::fs::metadata(path).map_err(file)?.file_type().is_fifo() {
        return Err(ControlError::NotFifo { path: path.into() });
    }
    OpenOptions::new().read(true).write(true).open(path).map_err(file)
}

/// Duplicates a descriptor of this process by its number.
fn duplicate(number: &str) -> Result<File, ControlError> {
    let path = System::new().this_process().path(&format!("fd/{number}"));
    let own = || -> io::Result<OwnedFd> {
        let this = pidfd_open(getpid(), PidfdFlags::empty())?;
        let number = number.parse().map_err(io::Error::other)?;
        Ok(pidfd_getfd(this, number, PidfdGetfdFlags::empty())?)
    };
    // Kernels before Linux 5.6 and some seccomp filters lack the call. A pipe can be reopened.
    own().map(File::from).or_else(|_| {
        let again = OpenOptions::new().read(true).write(true).open(&path);
        again.map_err(|error| ControlError::File(FileError::io(path, error)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_is_two_fifos_or_two_descriptors() {
        for text in ["", "fifo", "fifo:", "fd:", "fd:x", "fd:1,x", "fd:-1", "pipe:3", "fd:99999999"] {
            assert!(matches!(Control::open(text), Err(ControlError::Syntax { .. })), "{text}");
        }
        let error = Control::open("fifo:/no/such/file").unwrap_err().to_string();
        assert!(error.contains("/no/such/file") && error.contains("No such file"), "{error}");
        let error = Control::open("fifo:/dev/null,/dev/null").unwrap_err().to_string();
        assert!(error.contains("/dev/null: expected a FIFO"), "{error}");
        let error = Control::open("fd:999").unwrap_err().to_string();
        assert!(error.contains("/proc/self/fd/999"), "{error}");
    }
}
