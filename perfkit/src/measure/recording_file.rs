//! The file of a recording that a command makes to read it itself.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser as _;

use crate::Arguments;
use crate::out::interrupt::{self, on_interrupt};
use crate::out::message::of_file;

/// The file of a recording. If it is temporary, it is removed on drop, and at an interrupt after
/// the recording, which ends the program.
pub(crate) struct RecordingFile {
    path: PathBuf,
    is_temporary: bool,
    /// Whether `record` runs, which handles interrupts itself.
    is_recording: Arc<AtomicBool>,
}

impl RecordingFile {
    /// Names a temporary file after the command that makes it.
    pub(crate) fn temporary(command: &str) -> io::Result<Self> {
        let path = env::temp_dir().join(format!("perfkit-{command}-{}.data", process::id()));
        // An existing file would be removed at the end.
        if path.symlink_metadata().is_ok() {
            return Err(of_file(&path, &io::ErrorKind::AlreadyExists.into()));
        }
        Self::new(path, true)
    }

    /// Names a file that is kept.
    pub(crate) fn kept(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::new(path.into(), false)
    }

    fn new(path: PathBuf, is_temporary: bool) -> io::Result<Self> {
        let is_recording = Arc::new(AtomicBool::new(false));
        let removed = Self { path: path.clone(), is_temporary, is_recording: Arc::clone(&is_recording) };
        let mut is_second = false;
        on_interrupt(move || {
            // The first interrupt ends the recording, the second one ends `record`.
            if !is_second && removed.is_recording.load(Ordering::Relaxed) {
                is_second = true;
                return;
            }
            removed.remove();
            process::exit(interrupt::EXIT_CODE.into());
        })?;
        Ok(Self { path, is_temporary, is_recording })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the inode of the file; `None` if the file does not exist.
    pub(crate) fn inode(&self) -> Option<u64> {
        fs::metadata(&self.path).ok().map(|file| file.ino())
    }

    /// Calls a function that records into the file, and ends at an interrupt.
    pub(crate) fn while_recording<R>(&self, record: impl FnOnce() -> R) -> R {
        self.is_recording.store(true, Ordering::Relaxed);
        let result = record();
        self.is_recording.store(false, Ordering::Relaxed);
        result
    }

    /// Runs `perfkit record` with these options, and with the words of a command, into the file.
    /// Returns its exit code, and whether the file was written.
    pub(crate) fn record(&self, options: &[&str], command: &[OsString]) -> io::Result<(ExitCode, bool)> {
        let before = self.inode();
        let mut words: Vec<OsString> = ["perfkit", "record", "-q"].map(Into::into).to_vec();
        words.extend(options.iter().map(Into::into));
        words.extend(["-o".into(), self.path.clone().into()]);
        if !command.is_empty() {
            words.push("--".into());
            words.extend_from_slice(command);
        }
        let arguments = Arguments::try_parse_from(words).map_err(io::Error::other)?;
        let code = self.while_recording(|| crate::run(&mut io::sink(), &arguments.command))?;
        Ok((code, self.inode().is_some() && self.inode() != before))
    }

    fn remove(&self) {
        if self.is_temporary {
            // The file may not exist yet.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for RecordingFile {
    fn drop(&mut self) {
        self.remove();
    }
}
