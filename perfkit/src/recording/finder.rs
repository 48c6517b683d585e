//! The finder of the mapped files of a recording.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use perf_symbols::FileFinder;
use rustix::time::{ClockId, clock_gettime};

use super::About;
use crate::out::message::note;

/// The options that say where the mapped files are.
#[derive(Args, Clone, Debug)]
pub(crate) struct FinderOptions {
    /// Look for programs, libraries and debug information in this copy of the recorded machine's root
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder))]
    symfs: Option<PathBuf>,
    /// Look into this build-id cache, before ~/.debug: the form of `perf archive`
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder))]
    buildid_dir: Option<PathBuf>,
}

impl FinderOptions {
    /// Makes the finder of a recording's files.
    ///
    /// The perf tool uses the file at a path in any case, and compares build ids where the recording has them. Names from
    /// another version of a file are wrong without a sign of it, so that here a file without a build id is used only if the
    /// recording is of this machine since it was booted: the name of the host and the release of the kernel are the same, and
    /// the file was written since the boot. A recording without these features, because it was interrupted, is looked at
    /// where it was made: it is taken for one of this machine. As files may then be of another build, a note says so.
    pub(crate) fn finder(&self, about: &About) -> FileFinder {
        if let Some(gap) = &about.gap {
            note(gap);
        }
        let mut finder = if is_local(about) { FileFinder::local() } else { FileFinder::remote() };
        if let Some(end) = about.modified {
            finder = finder.with_recorded_until(end);
        }
        if let Some(folder) = &self.symfs {
            finder = finder.with_symfs(folder);
        }
        match &self.buildid_dir {
            Some(folder) => finder.with_build_id_cache(folder),
            None => finder,
        }
    }
}

/// Returns the path of a folder. Without it, files would be missing for a reason that no message names: shells do not expand the
/// `~` of `--symfs=~/x`.
fn folder(path: PathBuf) -> Result<PathBuf, String> {
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Ok(path),
        Ok(_) => Err("expected a folder, found a file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns whether a recording is of this machine since it was booted.
fn is_local(about: &About) -> bool {
    let here = rustix::system::uname();
    let is_here = |recorded: &Option<String>, here: &std::ffi::CStr| {
        recorded.as_ref().is_none_or(|recorded| recorded.as_bytes() == here.to_bytes())
    };
    is_here(&about.host, here.nodename())
        && is_here(&about.release, here.release())
        && about.modified.is_none_or(|modified| boot_time().is_none_or(|boot| modified >= boot))
}

/// Returns when this machine was booted, by the wall clock.
fn boot_time() -> Option<SystemTime> {
    let since_boot = clock_gettime(ClockId::Boottime);
    let since_boot = Duration::from_secs(u64::try_from(since_boot.tv_sec).ok()?);
    SystemTime::now().checked_sub(since_boot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recording_is_of_this_machine_by_host_release_and_boot() {
        let here = rustix::system::uname();
        let text = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
        let mut about = About::default();
        assert!(is_local(&about));
        about.host = text(here.nodename());
        about.release = text(here.release());
        about.modified = Some(SystemTime::now());
        assert!(is_local(&about));
        about.release = Some("2.6.32".to_owned());
        assert!(!is_local(&about));
        about.release = None;
        about.host = Some("another".to_owned());
        assert!(!is_local(&about));
        about.host = None;
        assert!(is_local(&about));
        about.modified = Some(SystemTime::UNIX_EPOCH);
        assert!(!is_local(&about));
    }
}
