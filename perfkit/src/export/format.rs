//! The formats, and the names of their files.

use std::path::Path;

use clap::ValueEnum;

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

/// Ends of names. An end of several parts is before its last part.
const ENDS: &[(&str, Format)] = &[
    (".folded", Format::Folded),
    (".pb", Format::Pprof),
    (".pprof", Format::Pprof),
    (".profile.json", Format::Firefox),
    (".trace.json", Format::Chrome),
    (".json", Format::Json),
    (".jsonl", Format::Json),
    (".ndjson", Format::Json),
];

impl Format {
    /// Returns the format of a file by its name.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        ENDS.iter().find(|(end, _)| name.ends_with(end)).map(|&(_, format)| format)
    }

    /// Returns whether its bytes are not for a terminal.
    pub(super) fn is_binary(self) -> bool {
        self == Self::Pprof
    }

    /// Returns whether it has each sample with its time.
    pub(super) fn has_times(self) -> bool {
        matches!(self, Self::Json | Self::Firefox | Self::Chrome)
    }

    /// Returns how to look at a file of this format.
    pub(super) fn viewer(self) -> &'static str {
        match self {
            Self::Folded => {
                "; `inferno-flamegraph FILE` draws them, and https://www.speedscope.app shows them"
            }
            Self::Pprof => "; `go tool pprof -http=: FILE` shows them",
            Self::Json => {
                "; DuckDB reads them: select frames[1].function, sum(value) from 'FILE' group by all"
            }
            Self::Firefox => "; https://profiler.firefox.com opens them",
            Self::Chrome => "; https://ui.perfetto.dev and https://www.speedscope.app open them",
        }
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
