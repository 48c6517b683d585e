//! Output files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use rustix::process::geteuid;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::out::interrupt::interrupts;
use crate::out::message::of_file;
use crate::out::output_path::OutputPath;
use crate::out::standard_output;

/// Writes an output: the file of this path, or standard output if the path is `-`.
///
/// An existing file keeps its content until the new content is complete, because the output goes to
/// a temporary file in the same folder. The temporary file is renamed at the end, or removed if
/// `write` fails. A device or a pipe is written directly.
///
/// # Errors
///
/// The error of `write` or of a system call, with the path before it, except for standard output
/// whose reader is gone.
pub(crate) fn write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_with_mode(path, 0o666, write)
}

/// Writes an output like [`write`](fn@write). A new file has mode 0600, like a recording.
///
/// # Errors
///
/// The error of `write` or of a system call, as [`write`](fn@write) returns it.
pub(crate) fn write_private(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write_with_mode(path, 0o600, write)
}

fn write_with_mode(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if path == Path::new("-") {
        standard_output::expect_open()?;
        let name = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => error,
            _ => of_file("standard output", &error),
        };
        return write_all(io::stdout().lock(), write).map(drop).map_err(name);
    }
    write_file(path, mode, write).map_err(|error| of_file(path, &error))
}

fn write_file(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // Follow links, so that the output replaces the file and not the link.
    let target = OutputPath::find(path)?;
    match target.stat()? {
        Some(_) if !target.is_replaceable()? => {
            let file = target.open(mode, false)?;
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            write_all(file, write).map(drop)
        }
        // An existing file keeps the mode that its owner chose.
        known => {
            let own = known.filter(|stat| stat.st_uid == geteuid().as_raw());
            replace(&target, own.map(|stat| fs::Permissions::from_mode(stat.st_mode & 0o777)), mode, write)
        }
    }
}

/// Writes to a new file, and gives it the name of another.
fn replace(
    target: &OutputPath,
    permissions: Option<fs::Permissions>,
    mode: u32,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    remove_on_signal();
    let (new, file) = {
        // A signal waits until the file that it removes is known.
        let mut unfinished = lock();
        let created = create_beside(target, mode)?;
        *unfinished = Some(created.0.clone());
        created
    };
    let written = permissions
        .map_or(Ok(()), |permissions| file.set_permissions(permissions))
        .and_then(|()| write_all(file, write))
        // A full disk may be reported only here.
        .and_then(|file| file.sync_all())
        .and_then(|()| new.rename(target));
    *lock() = None;
    if written.is_err() {
        // The first error is the one to report.
        let _ = new.remove();
    }
    written
}

/// The file that is being written, which a signal removes.
static UNFINISHED: Mutex<Option<OutputPath>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<OutputPath>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the unfinished file when an interrupt ends the process. Call it before the file is
/// created.
fn remove_on_signal() {
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        // Without the thread, a signal leaves the file, as SIGKILL does.
        let Ok(mut signals) = Signals::new(interrupts()) else { return };
        let wait = move || {
            for signal in signals.forever() {
                // Locked until the process ends, so that no other file begins after this check.
                let mut unfinished = lock();
                if let Some(file) = unfinished.take() {
                    let _ = file.remove();
                }
                // Ends the process, as the signal does without this thread.
                let _ = emulate_default_handler(signal);
            }
        };
        let _ = thread::Builder::new().name("perfkit-output".to_owned()).spawn(wait);
    });
}

/// Adds a file with mode 0600 to a folder in which no file has its name, while the process handles
/// signals itself.
///
/// # Errors
///
/// The error of a system call, with the path before it. The folder has no new file then.
pub(crate) fn add(path: &Path, content: &[u8]) -> io::Result<()> {
    let add = || {
        let target = OutputPath::find(path)?;
        let (new, mut file) = create_beside(&target, 0o600)?;
        let written = file.write_all(content).and_then(|()| new.rename(&target));
        if written.is_err() {
            // The first error is the one to report.
            let _ = new.remove();
        }
        written
    };
    add().map_err(|error| of_file(path, &error))
}

/// Checks that files can be added to a folder.
pub(crate) fn check_folder(folder: &Path) -> io::Result<()> {
    let (new, _) = create_beside(&OutputPath::find(&folder.join("new"))?, 0o600)?;
    new.remove()
}

/// Creates a file in the folder of another, which is held by its descriptor. The crate `tempfile`
/// takes a path, of which another user could exchange a part meanwhile.
fn create_beside(target: &OutputPath, mode: u32) -> io::Result<(OutputPath, File)> {
    let mut number = 0;
    loop {
        let new = target.with_name(format!(".perfkit-{}-{number}.tmp", std::process::id()));
        match new.create(mode) {
            Ok(file) => return Ok((new, file)),
            // From an earlier process with this id, which was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn write_all<W: Write>(out: W, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut out = BufWriter::new(out);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).and_then(|mut out| out.flush().map(|()| out))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{lchown, symlink};
    use std::path::PathBuf;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("perfkit-whole-{}-{name}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn failed_output_leaves_the_file_that_was_there_and_nothing_else() {
        let folder = folder("failed");
        let file = folder.join("a.svg");
        write(&file, |out| out.write_all(b"first")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let error = write(&file, |out| {
            out.write_all(&vec![0; 100_000])?;
            Err(io::Error::other("out of samples"))
        });
        assert!(error.unwrap_err().to_string().ends_with("a.svg: out of samples"));
        assert_eq!(fs::read(&file).unwrap(), b"first");
        write(&file, |out| out.write_all(b"second")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"second");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        let private = folder.join("b.tar");
        write_private(&private, |out| out.write_all(b"third")).unwrap();
        assert_eq!(fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&folder), ["a.svg", "b.tar"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn link_stays_a_link_and_a_device_a_device() {
        let folder = folder("link");
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
        write(Path::new("/dev/null"), |out| out.write_all(b"nothing")).unwrap();
        assert!(!Path::new("/dev/null").is_file());
        let full = write(Path::new("/dev/full"), |out| out.write_all(b"text")).unwrap_err();
        assert!(full.to_string().starts_with("/dev/full: No space left"), "{full}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn mode_of_an_own_file_is_kept_without_further_bits() {
        let folder = folder("mode");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let own = folder.join("own");
        fs::write(&own, "old").unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o4755)).unwrap();
        write_private(&own, |out| out.write_all(b"new")).unwrap();
        assert_eq!(mode(&own), 0o755);
        let foreign = folder.join("foreign");
        fs::write(&foreign, "old").unwrap();
        if lchown(&foreign, Some(65534), None).is_ok() {
            fs::set_permissions(&foreign, fs::Permissions::from_mode(0o4777)).unwrap();
            write_private(&foreign, |out| out.write_all(b"new")).unwrap();
            assert_eq!((mode(&foreign), fs::read(&foreign).unwrap()), (0o600, b"new".to_vec()));
        } else {
            eprintln!("skipped: only root can make a file of another user");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn folder_that_is_not_there_is_named() {
        let error = write(Path::new("/nonexistent/\u{1b}[31m"), |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent/\\u{1b}[31m: No such file"), "{error}");
    }
}
