//! Names of functions.

mod alias;
mod blazesym;
mod code;
mod demangle;
mod jitdump;
mod kallsyms;
mod open_files;
mod perf_map;
mod query;
mod symbolizer;
mod worker;

pub use self::blazesym::Blazesym;
pub use jitdump::{Jitdump, JitdumpError};
pub use kallsyms::{Kallsyms, KallsymsError, KernelFunction};
pub use perf_map::PerfMap;
pub use query::{Function, Query, SourceLine, Symbols, Unnamed};
pub use symbolizer::{FileSymbols, NameCounts, NameRequest, Symbolizer};

use code::Code;
