//! Standard output, which the caller may have closed.

use std::io::{self, StdoutLock, Write};
use std::os::fd::AsFd;

use rustix::fs::{OFlags, fcntl_getfl, fstat, makedev};

/// Standard output whose first text fails if it is closed.
#[derive(Debug)]
pub(crate) struct StandardOutput {
    stream: StdoutLock<'static>,
    is_checked: bool,
}

impl StandardOutput {
    pub(crate) fn lock() -> Self {
        Self { stream: io::stdout().lock(), is_checked: false }
    }

    fn check(&mut self) -> io::Result<()> {
        if !self.is_checked {
            expect_open(&self.stream, "standard output")?;
            self.is_checked = true;
        }
        Ok(())
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Fails if a standard stream was closed when the program started, so that what is written would be lost without a word.
///
/// The standard library opens `/dev/null` for reading and writing in its place. Shells, cron and most programs that discard an
/// output open it for writing; those that open it for both, as Python's `DEVNULL`, look like one that closed it.
pub(crate) fn expect_open(stream: &impl AsFd, name: &str) -> io::Result<()> {
    let is_null = fstat(stream).is_ok_and(|stat| stat.st_rdev == makedev(1, 3));
    if is_null && fcntl_getfl(stream).is_ok_and(|flags| flags.contains(OFlags::RDWR)) {
        let text = format!(
            "{name} is closed, or /dev/null for reading and writing, which looks the same: open a file, or /dev/null \
             for writing"
        );
        return Err(io::Error::other(text));
    }
    Ok(())
}
