//! The input of every command that reads a recording: options, metadata, records and the sample
//! filter.
//!
//! ```text
//! let (about, mut records) = options.input.open()?.in_time_order();
//! let filter = options.filter.filter(&about)?;
//! let finder = options.finder.finder(&about);
//! show_progress(&mut records, Shown::BeforeOutput);
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

mod about;
mod event;
mod filter;
mod finder;
mod folded;
mod losses;
mod off_cpu;
mod open;
mod profile;
mod progress;
mod quantum;
mod stacks;

pub(crate) use about::{check_cgroups, check_split, event_name, lines, print};
pub(crate) use event::{EventOptions, single_event};
pub(crate) use filter::{FilterOptions, TaskFilterOptions};
pub(crate) use finder::FinderOptions;
pub(crate) use folded::Root;
pub(crate) use losses::{are_few, losses, note_losses, reused};
pub(crate) use off_cpu::OffCpuOptions;
pub(crate) use profile::{ProfileOptions, SourceOptions};
pub(crate) use progress::{Progress, Shown, reading, show_progress};
pub(crate) use quantum::QuantumOptions;
pub(crate) use stacks::StackOptions;

/// The options that name a recording.
#[derive(Args, Clone, Debug)]
pub(crate) struct InputOptions {
    /// The recording: a perf.data file or directory, a FIFO, or - for the pipe form on standard input
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    input: PathBuf,
    /// The recording, as by -i
    #[arg(value_name = "FILE", conflicts_with = "input")]
    file: Option<PathBuf>,
    /// Accepted as the perf tool has it: perfkit reads files of any owner
    #[arg(long, hide = true)]
    force: bool,
}

impl InputOptions {
    /// Names a recording without an option, for commands that take recordings as arguments.
    pub(crate) fn of_file(path: impl Into<PathBuf>) -> Self {
        Self { input: path.into(), file: None, force: false }
    }

    /// Returns the path as it was given; `-` is standard input.
    pub(crate) fn path(&self) -> &Path {
        self.file.as_ref().unwrap_or(&self.input)
    }
}
