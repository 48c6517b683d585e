//! The formats: one row each.

use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use perf_profile::JsonLines;
use perf_profile::read::ReadProfile;

use super::{Exported, Options, write_pprof};

/// Format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Folded stacks: a line for each stack
    Folded,
    /// The message of pprof, compressed
    Pprof,
    /// JSON lines: an object for each sample
    Json,
    /// The JSON of the Firefox Profiler
    Firefox,
    /// Trace events in JSON, as Chrome writes them
    Chrome,
}

/// The properties of a format.
pub(super) struct Row {
    /// Suffixes of the names of its files.
    ends: &'static [&'static str],
    /// Options of this format, which not all formats have.
    options: &'static [&'static str],
    /// Whether the output is binary, and so refused on a terminal.
    pub(super) is_binary: bool,
    /// Whether the writer itself compresses the output.
    pub(super) is_compressed: bool,
    /// Whether it has one event only.
    pub(super) has_one_event: bool,
    /// Whether it has each sample with its time.
    pub(super) has_times: bool,
    /// Whether it has the fields of tracepoints.
    pub(super) has_payloads: bool,
    /// A clause with a program that shows `FILE`.
    pub(super) viewer: &'static str,
    pub(super) write: WriteFormat,
}

type WriteFormat = fn(&Options, &mut Exported<'_>, &mut dyn Write) -> io::Result<()>;

impl Row {
    /// Returns a text of the sums of all events, without options.
    const fn new(write: WriteFormat) -> Self {
        Self {
            ends: &[],
            options: &[],
            is_binary: false,
            is_compressed: false,
            has_one_event: false,
            has_times: false,
            has_payloads: false,
            viewer: "",
            write,
        }
    }
}

const FOLDED: Row = Row {
    ends: &[".folded"],
    options: &["--counts", "--annotate", "--root"],
    has_one_event: true,
    viewer: "; `inferno-flamegraph FILE` draws them, and https://www.speedscope.app shows them",
    ..Row::new(|options, exported, out| options.write_folded(exported, out))
};

const PPROF: Row = Row {
    ends: &[".pb", ".pprof"],
    is_binary: true,
    is_compressed: true,
    viewer: "; `go tool pprof -http=: FILE` shows them",
    ..Row::new(|_, exported, out| write_pprof(exported, out))
};

const JSON: Row = Row {
    ends: &[".json", ".jsonl", ".ndjson"],
    options: &["--sum"],
    has_times: true,
    viewer: "; DuckDB reads them: select frames[1].function, sum(value) from 'FILE' group by all",
    ..Row::new(|_, exported, out| JsonLines::new().write(&exported.read.profile, out))
};

const FIREFOX: Row = Row {
    ends: &[".profile.json"],
    has_times: true,
    viewer: "; https://profiler.firefox.com opens them",
    ..Row::new(|_, exported, out| {
        let ReadProfile { metadata, profile, .. } = &*exported.read;
        metadata.firefox(profile).write(profile, out)
    })
};

const CHROME: Row = Row {
    ends: &[".trace.json"],
    has_times: true,
    has_payloads: true,
    viewer: "; https://ui.perfetto.dev and https://www.speedscope.app open them",
    ..Row::new(|_, exported, out| exported.read.write_chrome(out))
};

impl Format {
    pub(super) fn row(self) -> &'static Row {
        match self {
            Self::Folded => &FOLDED,
            Self::Pprof => &PPROF,
            Self::Json => &JSON,
            Self::Firefox => &FIREFOX,
            Self::Chrome => &CHROME,
        }
    }

    /// Returns the format of a file by its name. The longest suffix wins.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let len = |format: Self| {
            let ends = format.row().ends.iter().filter(|end| name.ends_with(**end));
            ends.map(|end| end.len()).max()
        };
        let formats = Self::value_variants().iter().filter_map(|&format| Some((len(format)?, format)));
        formats.max_by_key(|(len, _)| *len).map(|(_, format)| format)
    }

    /// Returns whether the format has an option that not all formats have.
    pub(super) fn has_option(self, option: &str) -> bool {
        self.row().options.contains(&option)
    }
}

/// Returns whether a file of this name is compressed.
pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_the_end_of_a_name() {
        let format = |name: &str| Format::of_name(Path::new(name));
        assert_eq!(format("a/x.folded"), Some(Format::Folded));
        assert_eq!(format("x.folded.gz"), Some(Format::Folded));
        assert_eq!(format("x.pb.gz"), Some(Format::Pprof));
        assert_eq!(format("x.json"), Some(Format::Json));
        assert_eq!(format("x.jsonl.gz"), Some(Format::Json));
        assert_eq!(format("x.profile.json.gz"), Some(Format::Firefox));
        assert_eq!(format("x.profile.json"), Some(Format::Firefox));
        assert_eq!(format("profile.json"), Some(Format::Json));
        assert_eq!(format("x.trace.json.gz"), Some(Format::Chrome));
        assert_eq!([format("-"), format("x.gz"), format("x.svg"), format(".."), format("")], [None; 5]);
    }
}
