//! Standard output that was closed by the caller.

use std::io;

use rustix::fs::{OFlags, fcntl_getfl, fstat, makedev};

/// Fails if standard output was closed when the program started, because output for a file or pipe,
/// such as a recording, would then be lost silently.
///
/// The standard library then opens `/dev/null` for reading and writing, while a shell that
/// redirects to `/dev/null` opens it for writing. Programs that start others may open it for both,
/// as Python's `DEVNULL` and `daemon(3)` do. So commands that print a text do not call this,
/// because a caller who wants only their exit code needs no output.
pub(crate) fn expect_open() -> io::Result<()> {
    let out = io::stdout();
    let is_null = fstat(&out).is_ok_and(|stat| stat.st_rdev == makedev(1, 3));
    if is_null && fcntl_getfl(&out).is_ok_and(|flags| flags.contains(OFlags::RDWR)) {
        let text = "standard output is closed, or /dev/null for reading and writing, which looks the same: open a file, \
                    or /dev/null for writing";
        return Err(io::Error::other(text));
    }
    Ok(())
}
