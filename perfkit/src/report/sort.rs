//! The columns that distinguish rows, as `-s` names them.

use clap::ValueEnum;
use perf_profile::{Column, Entry, UNKNOWN};

use crate::message::{file_name, shown};

/// A column, under the name that the perf tool has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    /// Name of the thread
    Comm,
    /// Process
    Pid,
    /// Thread
    Tid,
    /// Program, library or part of the kernel
    #[value(alias = "object")]
    Dso,
    /// Function
    #[value(alias = "symbol", alias = "function")]
    Sym,
    /// Source file and line
    #[value(alias = "line")]
    Srcline,
}

impl SortKey {
    pub(crate) fn column(self) -> Column {
        match self {
            Self::Comm => Column::Comm,
            Self::Pid => Column::Pid,
            Self::Tid => Column::Tid,
            Self::Dso => Column::Object,
            Self::Sym => Column::Function,
            Self::Srcline => Column::Line,
        }
    }

    /// Returns the name, as `-s` has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Comm => "comm",
            Self::Pid => "pid",
            Self::Tid => "tid",
            Self::Dso => "dso",
            Self::Sym => "sym",
            Self::Srcline => "srcline",
        }
    }

    /// Returns the title, as the perf tool has it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Comm => "Command",
            Self::Pid => "Pid",
            Self::Tid => "Tid",
            Self::Dso => "Shared Object",
            Self::Sym => "Symbol",
            Self::Srcline => "Source:Line",
        }
    }

    /// Returns the text of an entry in this column, without control characters.
    pub(crate) fn text(self, entry: &Entry<'_>) -> String {
        match self {
            Self::Comm => shown(entry.comm.unwrap_or_default()),
            Self::Pid => entry.pid.unwrap_or_default().to_string(),
            Self::Tid => entry.tid.unwrap_or_default().to_string(),
            Self::Dso => shown(file_name(entry.object.unwrap_or(UNKNOWN))),
            Self::Sym => {
                let level = if entry.is_kernel { "[k]" } else { "[.]" };
                format!("{level} {}", shown(entry.function.unwrap_or(UNKNOWN)))
            }
            Self::Srcline => match entry.line {
                None | Some((UNKNOWN, _)) => UNKNOWN.to_owned(),
                Some((file, line)) => format!("{}:{line}", shown(file_name(file))),
            },
        }
    }
}

/// Returns the columns of keys.
pub(crate) fn columns(keys: &[SortKey]) -> Vec<Column> {
    keys.iter().map(|key| key.column()).collect()
}
