//! `perfkit export`: a recording as the file of a viewer.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use perf_profile::read::ReadProfile;
use perf_profile::{EventId, Folded, ProfileBuilder};

mod format;

use format::Format;

use crate::cli::help;
use crate::out::message::{note, shown};
use crate::out::whole_file;
use crate::recording::{ProfileOptions, QuantumOptions, Root, note_losses, single_event};

/// Write a recording for a viewer: flame graphs, pprof, Firefox Profiler, DuckDB
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "Without -f, the name of OUT gives the format: .folded, .pb.gz or .pb, .json or .jsonl, .profile.json for the Firefox \
     Profiler, .trace.json for Perfetto. A name that ends with .gz is compressed. Without -o, the output goes to standard \
     output.\n\n\
     All events are in the file, except for folded stacks, which have one: choose it by -e. The Firefox Profiler adds up the \
     samples of the first event, and shows others as markers.",
    &[
        ("perfkit export -o x.pb.gz", "for go tool pprof, Pyroscope, speedscope, Perfetto"),
        ("perfkit export -o x.folded -e page-faults", "one event for speedscope"),
        ("perfkit export -f folded | inferno-flamegraph > x.svg", ""),
        ("perfkit export -o x.json.gz", "for duckdb -c \"from 'x.json.gz'\""),
        ("perfkit export -f json --comm sort --time 10%-20% | jq .", ""),
        ("perfkit export -o x.profile.json.gz", "for https://profiler.firefox.com"),
        ("perfkit export -o x.trace.json.gz", "for https://ui.perfetto.dev: tracepoints over time"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// Format of the output
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// The output; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Add up the samples with the same stack, without their times (json)
    #[arg(long)]
    sum: bool,
    /// Numbers of samples in place of the sums of their periods (folded)
    #[arg(long)]
    counts: bool,
    /// The outermost frame (folded)
    #[arg(long, value_enum, value_name = "FRAME", default_value = "comm")]
    root: Root,
    #[command(flatten)]
    quantum: QuantumOptions,
    /// Add `_[k]` to functions of the kernel and `_[i]` to inlined ones, by which palettes color them (folded)
    #[arg(long)]
    annotate: bool,
    #[command(flatten)]
    profile: ProfileOptions,
}

/// Writes a recording in another format. Damage is an error, after all that could be read is
/// written.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let output = options.output.as_deref().unwrap_or(Path::new("-"));
    let Some(format) = options.format.or_else(|| Format::of_name(output)) else {
        let is_picture = output.extension().is_some_and(|end| end == "svg");
        let pictures = if is_picture { "; `perfkit flamegraph` draws pictures" } else { "" };
        note(format_args!(
            "expected a format: name it by -f, or by the end of OUT as in `-o x.pb.gz`{pictures}; see `perfkit export --help`"
        ));
        return Ok(ExitCode::from(2));
    };
    if let Some(option) = options.misplaced(format) {
        note(format_args!("{option} is not an option of this format"));
        return Ok(ExitCode::from(2));
    }
    let row = format.row();
    let is_compressed = format::is_compressed(output);
    let is_standard = output == Path::new("-");
    if is_standard && row.is_binary && io::stdout().is_terminal() {
        return Err(io::Error::other(
            "standard output is a terminal: name a file by -o, or redirect the output to a file or a pipe",
        ));
    }
    let mut builder = ProfileBuilder::new();
    if row.has_times && !options.sum {
        builder = builder.with_times();
    }
    let mut read = if row.has_payloads {
        options.profile.profile_with_payloads(builder)?
    } else {
        options.profile.profile(builder, options.quantum.apply(options.root.split()))?
    };
    options.root.check(&read.metadata)?;
    let preferred = options.profile.source.off_cpu.event();
    let event = if row.has_one_event { Some(single_event(&read.profile, preferred)?) } else { None };
    let mut exported = Exported { read: &mut read, event, output };
    let written = whole_file::write_private(output, |out| {
        if !is_compressed || row.is_compressed {
            return (row.write)(options, &mut exported, out);
        }
        let mut out = GzEncoder::new(out, Compression::default());
        (row.write)(options, &mut exported, &mut out)?;
        out.finish().map(drop)
    });
    let profile = &read.profile;
    let samples = profile.samples().iter().map(|sample| sample.count).fold(0, u64::saturating_add);
    if written.is_ok() && !is_standard {
        let viewer = if output.is_file() { row.viewer } else { "" };
        let name = shown(output);
        note(format_args!("{name}: {samples} samples{}", viewer.replace("FILE", &name)));
    } else if written.is_ok() && samples == 0 {
        note("no samples: the recording has none, or the options choose none of them");
    }
    // A viewer that closed the pipe has seen enough, and needs no notes.
    if !matches!(&written, Err(error) if error.kind() == io::ErrorKind::BrokenPipe) {
        note_losses(profile);
    }
    let damage = read.finish();
    if let Err(error) = written {
        if let Err(damage) = damage {
            note(damage);
        }
        return Err(error);
    }
    damage.map(|()| ExitCode::SUCCESS)
}

/// The content of an output.
struct Exported<'a> {
    read: &'a mut ReadProfile,
    /// The event, for a format with a single event.
    event: Option<EventId>,
    /// The path of the output.
    output: &'a Path,
}

impl Options {
    /// Returns an option that this format does not have.
    fn misplaced(&self, format: Format) -> Option<&'static str> {
        let given = [
            ("--sum", self.sum),
            ("--counts", self.counts),
            ("--annotate", self.annotate),
            ("--root", self.root != Root::Comm),
        ];
        given.into_iter().find(|(name, is_given)| *is_given && !format.has_option(name)).map(|(name, _)| name)
    }

    fn write_folded(&self, exported: &Exported<'_>, out: &mut dyn Write) -> io::Result<()> {
        let event = exported.event.ok_or_else(|| io::Error::other("no event was chosen"))?;
        let mut folded = Folded::new(event);
        if self.counts {
            folded = folded.with_counts();
        }
        if self.annotate {
            folded = folded.with_annotations();
        }
        self.root.apply(folded).write(&exported.read.profile, out)
    }
}

fn write_pprof(exported: &Exported<'_>, out: &mut dyn Write) -> io::Result<()> {
    let is_raw = exported.output.extension().is_some_and(|extension| extension == "pb");
    let ReadProfile { metadata, profile, .. } = &*exported.read;
    let pprof = metadata.pprof();
    if is_raw { pprof.uncompressed() } else { pprof }.write(profile, out)
}
