//! Finds the files of a recording, on the machine where it was made or on another.

use std::time::{Duration, SystemTime};

use perf_symbols::FileFinder;
use rustix::time::{ClockId, clock_gettime};

use super::Metadata;

impl Metadata {
    /// Returns a finder of the recording's files.
    ///
    /// The perf tool always uses the file at a path, and compares build ids only if the recording
    /// has them. Another version of a file would yield wrong names without any sign. So this finder
    /// uses a file without a build id only if the recording comes from this machine since its boot:
    /// the host name and the kernel release are the same, and the file was written after the boot.
    /// An interrupted recording lacks these features, but is usually read where it was made, so it
    /// counts as one of this machine.
    pub fn finder(&self) -> FileFinder {
        let finder = if is_local(self) { FileFinder::local() } else { FileFinder::remote() };
        match self.modified {
            Some(end) => finder.with_recorded_until(end),
            None => finder,
        }
    }
}

/// Returns whether a recording comes from this machine since its boot.
fn is_local(about: &Metadata) -> bool {
    let here = rustix::system::uname();
    let is_here = |recorded: &Option<String>, here: &std::ffi::CStr| {
        recorded.as_ref().is_none_or(|recorded| recorded.as_bytes() == here.to_bytes())
    };
    is_here(&about.host, here.nodename())
        && is_here(&about.release, here.release())
        && about.modified.is_none_or(|modified| boot_time().is_none_or(|boot| modified >= boot))
}

/// Returns the time of the boot, by the wall clock.
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
        let mut about = Metadata::default();
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
