//! Profiles as files of a folder.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use jiff::Timestamp;

use super::rarely::Rarely;
use crate::out::message::{of_file, shown};
use crate::out::whole_file;

/// A folder to which whole files are added.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    rarely: Rarely,
    pub(super) unwritten: Unwritten,
}

/// The profiles that could not be written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unwritten {
    pub(super) profiles: u64,
    pub(super) samples: u64,
}

impl Folder {
    /// Checks that files can be added.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let metadata = fs::metadata(&path).map_err(|error| of_file(&path, &error))?;
        if !metadata.is_dir() {
            return Err(io::Error::other(format!("{}: expected a folder for the profiles", shown(&path))));
        }
        whole_file::check_folder(&path).map_err(|error| of_file(&path, &error))?;
        Ok(Self { path, rarely: Rarely::default(), unwritten: Unwritten::default() })
    }

    /// Adds a profile, which has the time of its start as its name. A failure is printed and
    /// counted. Returns whether the profile was written.
    pub(super) fn add(&mut self, start: SystemTime, samples: u64, profile: &[u8]) -> bool {
        let time = Timestamp::try_from(start).unwrap_or_default();
        let path = self.path.join(format!("{}.pb.gz", time.strftime("%Y%m%dT%H%M%S.%3fZ")));
        match whole_file::add(&path, profile) {
            Ok(()) => true,
            Err(error) => {
                self.unwritten.profiles += 1;
                self.unwritten.samples += samples;
                self.rarely.note(format_args!("a profile was not written: {error}"));
                false
            }
        }
    }
}
