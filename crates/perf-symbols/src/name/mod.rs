//! Names of functions.

mod code;
mod code_changes;
mod demangle;
mod elf;
mod jitdump;
mod kallsyms;
mod kernel_names;
mod kernel_text;
mod open_files;
mod perf_map;
mod query;
#[cfg(feature = "unwind")]
mod runtime;
mod symbolizer;
mod worker;

pub use self::elf::{ElfSymbols, NoLines};
pub use code_changes::{CodeChange, CodeChanges};
pub use jitdump::{Jitdump, JitdumpError};
pub use kallsyms::{Kallsyms, KallsymsError, KernelFunction};
pub use perf_map::PerfMap;
pub use query::{Function, Query, SourceLine, Symbols, Unnamed};
#[cfg(feature = "unwind")]
pub(crate) use runtime::{RuntimeFunction, functions_of_runtime};
pub use symbolizer::{FileSymbols, NameCounts, NameRequest, Symbolizer};

use code::Code;
