//! The input of every command that reads a recording: its options, its metadata, its records, and which of them count.
//!
//! ```text
//! let (about, mut records) = options.input.open()?.in_time_order();
//! let filter = options.filter.filter(&about)?;
//! let finder = options.finder.finder(&about);
//! records.show_progress(Shown::BeforeOutput);
//! while let Some(record) = records.next() {
//!     match record.decode() {
//!         Ok(decoded) => use(&decoded),
//!         Err(error) => records.skip(&error),
//!     }
//! }
//! // Print the output, then return the loss as the error of the command.
//! records.finish()
//! ```

use std::path::{Path, PathBuf};

use clap::Args;
use perf_file::{FileRecord, UserRecord};
use perf_symbols::BuildId;

mod about;
mod event;
mod filter;
mod finder;
mod folded;
mod losses;
mod members;
mod off_cpu;
mod open;
mod payloads;
mod profile;
mod progress;
mod records;
mod time;

pub(crate) use about::{About, MetadataGap, Tracepoints, event_name};
pub(crate) use event::{EventOptions, single_event};
pub(crate) use filter::{Filter, FilterOptions, TaskFilterOptions};
pub(crate) use finder::FinderOptions;
pub(crate) use folded::Root;
pub(crate) use losses::{are_few, losses, note_losses, reused};
pub(crate) use members::Members;
pub(crate) use off_cpu::OffCpuOptions;
pub(crate) use open::Recording;
pub(crate) use payloads::Payloads;
pub(crate) use profile::{ProfileOptions, Profiled, SourceOptions, resolver};
pub(crate) use progress::{Progress, Shown, Step};
pub(crate) use records::{Damage, Records};

/// The options that name a recording.
#[derive(Args, Clone, Debug)]
pub(crate) struct InputOptions {
    /// The recording: a perf.data file or directory, a FIFO, or - for the pipe form on standard input
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    input: PathBuf,
    /// Accepted as the perf tool has it: perfkit reads files of any owner
    #[arg(long, hide = true)]
    force: bool,
}

impl InputOptions {
    /// Names a recording without an option, as commands do that take several or one as an argument.
    pub(crate) fn of_file(path: impl Into<PathBuf>) -> Self {
        Self { input: path.into(), force: false }
    }

    /// Returns the path as it was given; `-` is standard input.
    pub(crate) fn path(&self) -> &Path {
        &self.input
    }
}

/// Returns the path and the build id of a record that has one: in a pipe and after `perf inject -b`, they are records beside
/// the others.
pub(crate) fn build_id<'r>(record: &FileRecord<'r>) -> Option<(&'r [u8], BuildId)> {
    match record.user() {
        Ok(UserRecord::HeaderBuildId(id)) => Some((id.filename, BuildId::new(id.build_id)?)),
        _ => None,
    }
}
