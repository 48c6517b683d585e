//! Standard output that was closed by the caller.

use std::io;

use rustix::fs::{OFlags, fcntl_getfl, fstat, makedev};

/// Fails if standard output was closed when the program started, so that a recording would be lost without a word.
///
/// The standard library opens `/dev/null` for reading and writing in its place, while a shell that redirects to
/// `/dev/null` opens it for writing. Programs that start others may open it for both, so only a recording asks
/// for this: who checks a file by the exit status of `dump` needs no output.
pub(crate) fn expect_open() -> io::Result<()> {
    let out = io::stdout();
    let is_null = fstat(&out).is_ok_and(|stat| stat.st_rdev == makedev(1, 3));
    if is_null && fcntl_getfl(&out).is_ok_and(|flags| flags.contains(OFlags::RDWR)) {
        return Err(io::Error::other("standard output is closed, or /dev/null for reading and writing"));
    }
    Ok(())
}
