//! The columns that distinguish rows, as `-s` names them.

use std::io;

use clap::ValueEnum;
use perf_profile::read::Metadata;
use perf_profile::{Column, Entry, ShortPaths, UNKNOWN};

use crate::out::message::{file_name, shown};
use crate::recording::check_cgroups;

/// A column, under the name that the perf tool has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    /// Name of the thread
    Comm,
    /// Process
    Pid,
    /// Thread
    Tid,
    /// Control group, of recordings of record --all-cgroups
    Cgroup,
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
            Self::Cgroup => Column::Cgroup,
            Self::Dso => Column::Object,
            Self::Sym => Column::Function,
            Self::Srcline => Column::Line,
        }
    }

    /// Returns the name for `-s`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Comm => "comm",
            Self::Pid => "pid",
            Self::Tid => "tid",
            Self::Cgroup => "cgroup",
            Self::Dso => "dso",
            Self::Sym => "sym",
            Self::Srcline => "srcline",
        }
    }

    /// Returns the title of the column, as in the perf tool.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Comm => "Command",
            Self::Pid => "Pid",
            Self::Tid => "Tid",
            Self::Cgroup => "Cgroup",
            Self::Dso => "Shared Object",
            Self::Sym => "Symbol",
            Self::Srcline => "Source:Line",
        }
    }

    /// Returns the text of an entry in this column, without control characters. Paths are as short
    /// as `names` makes them.
    pub(crate) fn text_among(self, entry: &Entry<'_>, names: &FileNames<'_>) -> String {
        match (self, entry.object, entry.line) {
            (Self::Dso, Some(path), _) => shown(names.objects.of(path)),
            (Self::Srcline, _, Some((path, line))) if path != UNKNOWN => {
                format!("{}:{line}", shown(names.files.of(path)))
            }
            _ => self.text(entry),
        }
    }

    /// Returns the text of an entry in this column, without control characters. A path is cut to
    /// its last part.
    pub(crate) fn text(self, entry: &Entry<'_>) -> String {
        match self {
            Self::Comm => shown(entry.comm.unwrap_or_default()),
            Self::Pid => entry.pid.unwrap_or_default().to_string(),
            Self::Tid => entry.tid.unwrap_or_default().to_string(),
            Self::Cgroup => shown(entry.cgroup.unwrap_or(UNKNOWN)),
            Self::Dso => shown(file_name(entry.object.unwrap_or(UNKNOWN))),
            Self::Sym => {
                let level = if entry.is_kernel { "[k]" } else { "[.]" };
                format!("{level} {}", shown(entry.function.unwrap_or(UNKNOWN)))
            }
            Self::Srcline => match entry.line {
                // Source lines of the kernel are unknown.
                None | Some((UNKNOWN, _)) if entry.is_kernel => "[kernel]".to_owned(),
                None | Some((UNKNOWN, _)) => UNKNOWN.to_owned(),
                Some((file, line)) => format!("{}:{line}", shown(file_name(file))),
            },
        }
    }
}

/// The names of the objects and source files of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileNames<'p> {
    objects: ShortPaths<'p>,
    files: ShortPaths<'p>,
}

impl<'p> FileNames<'p> {
    /// Makes names for the files of these rows. Different files get different names.
    pub(crate) fn new(entries: impl Iterator<Item = Entry<'p>> + Clone) -> Self {
        let files = entries.clone().filter_map(|entry| entry.line.map(|(file, _)| file));
        Self {
            objects: ShortPaths::new(entries.filter_map(|entry| entry.object)),
            files: ShortPaths::new(files),
        }
    }
}

/// Checks that a recording has the columns of keys.
pub(crate) fn check(keys: &[SortKey], about: &Metadata) -> io::Result<()> {
    if keys.contains(&SortKey::Cgroup) { check_cgroups(about, "-s cgroup") } else { Ok(()) }
}

/// Returns the columns of keys.
pub(crate) fn columns(keys: &[SortKey]) -> Vec<Column> {
    keys.iter().map(|key| key.column()).collect()
}
