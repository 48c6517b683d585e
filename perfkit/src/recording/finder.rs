//! The finder of the mapped files of a recording.

use std::path::PathBuf;
use std::{env, fs};

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use perf_profile::read::Metadata;
use perf_symbols::FileFinder;

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
    /// Makes the finder of a recording's files. Prints a note if metadata is missing, because files
    /// may then be of another build.
    pub(crate) fn finder(&self, about: &Metadata) -> FileFinder {
        if let Some(gap) = &about.gap {
            note(gap);
        }
        self.finder_again(about)
    }

    /// Makes the finder of a recording once more, without notes.
    pub(crate) fn finder_again(&self, about: &Metadata) -> FileFinder {
        let mut finder = about.finder();
        if let Some(folder) = cache_folder() {
            finder = finder.with_kernel_cache(folder);
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

/// Returns the folder of this program for files that can be made again: `$XDG_CACHE_HOME/perfkit` or
/// `~/.cache/perfkit`.
fn cache_folder() -> Option<PathBuf> {
    // The specification of these folders ignores relative paths.
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
    Some(caches.join("perfkit"))
}

/// Returns the path of a folder that exists. Otherwise files would be missing without an
/// explanation, for example because shells do not expand the `~` of `--symfs=~/x`.
fn folder(path: PathBuf) -> Result<PathBuf, String> {
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Ok(path),
        Ok(_) => Err("expected a folder, found a file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
