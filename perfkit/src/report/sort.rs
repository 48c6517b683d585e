//! The columns that distinguish rows: one row of a table for each key of `-s`, with its names and
//! forms.

use std::io;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use perf_profile::read::Metadata;
use perf_profile::{Column, Entry, ShortPaths, Split, UNKNOWN};
use serde_json::{Value, json};

use crate::out::message::shown;
use crate::recording::{check_cgroups, check_split};

/// A key of `-s`: a column of the profile, under the name that the perf tool has for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortKey {
    pub(crate) column: Column,
    pub(crate) name: &'static str,
    aliases: &'static [&'static str],
    help: &'static str,
    /// The title of the column, as in the perf tool.
    pub(crate) title: &'static str,
    /// Returns the text of an entry in this column. Paths are as short as the names make them.
    text: fn(&Entry<'_>, &FileNames<'_>) -> String,
    /// Returns the text of an entry in a call tree, below another one; `None` if it has none.
    node: fn(&Entry<'_>, Option<&Entry<'_>>, &FileNames<'_>) -> Option<String>,
    /// Returns the fields of an object in JSON, null if the table does not have this column.
    json: fn(&Entry<'_>) -> Vec<(&'static str, Value)>,
}

/// All keys, in the order of the help and of the nodes of a call tree.
static KEYS: [SortKey; 9] = [
    SortKey::COMM,
    SortKey::PID,
    SortKey::TID,
    SortKey::CGROUP,
    SortKey::CPU,
    SortKey::TIME,
    SortKey::DSO,
    SortKey::SYM,
    SortKey::SRCLINE,
];

impl SortKey {
    pub(crate) const COMM: Self = Self {
        column: Column::Comm,
        name: "comm",
        aliases: &[],
        help: "Name of the thread",
        title: "Command",
        text: |entry, _| entry.comm.unwrap_or_default().to_owned(),
        node: |entry, _, _| entry.comm.map(str::to_owned),
        json: |entry| vec![("comm", entry.comm.into())],
    };
    pub(crate) const PID: Self = Self {
        column: Column::Pid,
        name: "pid",
        aliases: &[],
        help: "Process",
        title: "Pid",
        text: |entry, _| entry.pid.unwrap_or_default().to_string(),
        node: |entry, _, _| entry.pid.map(|pid| format!("pid {pid}")),
        json: |entry| vec![("pid", entry.pid.into())],
    };
    pub(crate) const TID: Self = Self {
        column: Column::Tid,
        name: "tid",
        aliases: &[],
        help: "Thread",
        title: "Tid",
        text: |entry, _| entry.tid.unwrap_or_default().to_string(),
        node: |entry, _, _| entry.tid.map(|tid| format!("tid {tid}")),
        json: |entry| vec![("tid", entry.tid.into())],
    };
    pub(crate) const CGROUP: Self = Self {
        column: Column::Cgroup,
        name: "cgroup",
        aliases: &[],
        help: "Control group, of recordings of record --all-cgroups",
        title: "Cgroup",
        text: |entry, _| entry.cgroup.unwrap_or(UNKNOWN).to_owned(),
        node: |entry, _, _| entry.cgroup.map(|path| format!("cgroup {path}")),
        json: |entry| vec![("cgroup", known(entry.cgroup).into())],
    };
    pub(crate) const CPU: Self = Self {
        column: Column::Cpu,
        name: "cpu",
        aliases: &[],
        help: "CPU, of recordings of record -a or --sample-cpu",
        title: "CPU",
        text: |entry, _| entry.cpu.map_or_else(|| UNKNOWN.to_owned(), |cpu| cpu.to_string()),
        node: |entry, _, _| entry.cpu.map(|cpu| format!("cpu {cpu}")),
        json: |entry| vec![("cpu", entry.cpu.into())],
    };
    pub(crate) const TIME: Self = Self {
        column: Column::Time,
        name: "time",
        aliases: &[],
        help: "Slice of time, of the length of --time-quantum",
        title: "Time",
        text: |entry, _| entry.time.map_or_else(|| UNKNOWN.to_owned(), seconds),
        node: |entry, _, _| entry.time.map(seconds),
        json: |entry| vec![("time", entry.time.into())],
    };
    pub(crate) const DSO: Self = Self {
        column: Column::Object,
        name: "dso",
        aliases: &["object"],
        help: "Program, library or part of the kernel",
        title: "Shared Object",
        text: |entry, names| names.objects.of(entry.object.unwrap_or(UNKNOWN)).to_owned(),
        // With functions, it is in parentheses after their name.
        node: |entry, parent, names| other_object(entry, parent, names).filter(|_| entry.function.is_none()),
        json: |entry| vec![("object", known(entry.object).into())],
    };
    pub(crate) const SYM: Self = Self {
        column: Column::Function,
        name: "sym",
        aliases: &["symbol", "function"],
        help: "Function",
        title: "Symbol",
        text: |entry, _| {
            let level = if entry.is_kernel { "[k]" } else { "[.]" };
            format!("{level} {}", entry.function.unwrap_or(UNKNOWN))
        },
        node: |entry, parent, names| {
            let level = if entry.is_kernel { "[k] " } else { "" };
            let object = other_object(entry, parent, names).map(|object| format!(" {object}"));
            entry.function.map(|function| format!("{level}{function}{}", object.unwrap_or_default()))
        },
        json: |entry| vec![("function", known(entry.function).into())],
    };
    pub(crate) const SRCLINE: Self = Self {
        column: Column::Line,
        name: "srcline",
        aliases: &["line"],
        help: "Source file and line",
        title: "Source:Line",
        text: line_text,
        node: |entry, _, names| entry.line.map(|_| line_text(entry, names)),
        json: |entry| {
            let line = known_line(entry);
            vec![("file", line.map(|(file, _)| file).into()), ("line", line.map(|(_, line)| line).into())]
        },
    };

    /// Returns the text of an entry in this column, without control characters.
    pub(crate) fn text(self, entry: &Entry<'_>, names: &FileNames<'_>) -> String {
        shown((self.text)(entry, names))
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.column == other.column
    }
}

impl ValueEnum for SortKey {
    fn value_variants<'a>() -> &'a [Self] {
        &KEYS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).aliases(self.aliases).help(self.help))
    }
}

/// Returns the text of a node of a call tree, without control characters. The object is added if it
/// differs from the object of the parent.
pub(crate) fn node_text(entry: &Entry<'_>, parent: Option<&Entry<'_>>, names: &FileNames<'_>) -> String {
    let texts = KEYS.iter().filter_map(|key| (key.node)(entry, parent, names));
    texts.map(shown).collect::<Vec<_>>().join(" ")
}

/// Returns the fields of an entry in JSON. Unknown names and columns that were not requested are
/// null.
pub(crate) fn fields(entry: &Entry<'_>) -> Vec<(&'static str, Value)> {
    let flags = [("unnamed", json!(entry.is_unnamed)), ("kernel", json!(entry.is_kernel))];
    KEYS.iter().flat_map(|key| (key.json)(entry)).chain(flags).collect()
}

/// Returns a time in ns as seconds, which `--time` reads.
fn seconds(time: u64) -> String {
    format!("{}.{:06}", time / 1_000_000_000, time / 1000 % 1_000_000)
}

fn known(text: Option<&str>) -> Option<&str> {
    text.filter(|&text| text != UNKNOWN)
}

/// Returns the object in parentheses, unless it is the object of the parent.
fn other_object(entry: &Entry<'_>, parent: Option<&Entry<'_>>, names: &FileNames<'_>) -> Option<String> {
    let object = entry.object.filter(|_| parent.is_none_or(|parent| parent.object != entry.object));
    object.map(|object| format!("({})", names.objects.of(object)))
}

fn line_text(entry: &Entry<'_>, names: &FileNames<'_>) -> String {
    match known_line(entry) {
        Some((file, line)) => format!("{}:{line}", names.files.of(file)),
        // Source lines of the kernel are unknown.
        None if entry.is_kernel => "[kernel]".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

fn known_line<'p>(entry: &Entry<'p>) -> Option<(&'p str, u32)> {
    entry.line.filter(|&(file, _)| file != UNKNOWN)
}

/// The names of the objects and source files of rows. By default, each is the last part of its path.
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
    if keys.contains(&SortKey::CGROUP) {
        check_cgroups(about, "-s cgroup")?;
    }
    check_split(about, Split::for_columns(&columns(keys)), "-s")
}

/// Returns the columns of keys.
pub(crate) fn columns(keys: &[SortKey]) -> Vec<Column> {
    keys.iter().map(|key| key.column).collect()
}
