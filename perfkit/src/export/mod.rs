//! `perfkit export`: a recording as the file of a viewer.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use flate2::Compression;
use flate2::write::GzEncoder;
use perf_profile::{EventId, Folded, JsonLines, Pprof, Profile, ProfileBuilder};

mod format;

use format::Format;

use crate::message::{note, shown};
use crate::recording::{About, ProfileOptions};
use crate::{help, whole_file};

/// Write a recording for a viewer: flame graphs, pprof, DuckDB
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "Without -f, the name of OUT gives the format: .folded, .pb.gz or .pb, .json or .jsonl. A name that ends with .gz is \
     compressed. Without -o, the output goes to standard output.\n\n\
     All events are in the file, except for folded stacks, which have one: choose it by -e.",
    &[
        ("perfkit export -o x.pb.gz", "for go tool pprof, Pyroscope, speedscope, Perfetto"),
        ("perfkit export -o x.folded -e page-faults", "one event for speedscope"),
        ("perfkit export -f folded | inferno-flamegraph > x.svg", ""),
        ("perfkit export -o x.json.gz", "for duckdb -c \"from 'x.json.gz'\""),
        ("perfkit export -f json --comm sort --time 10%-20% | jq .", ""),
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
    /// Only these events, by their names in the recording
    #[arg(short = 'e', long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// Add up the samples with the same stack, without their times (json)
    #[arg(long)]
    sum: bool,
    /// Numbers of samples in place of the sums of their periods (folded)
    #[arg(long)]
    counts: bool,
    /// The outermost frame (folded)
    #[arg(long, value_enum, value_name = "FRAME", default_value = "comm")]
    root: Root,
    /// Add _[k] to functions of the kernel and _[i] to inlined ones, by which palettes color them (folded)
    #[arg(long)]
    annotate: bool,
    #[command(flatten)]
    profile: ProfileOptions,
}

/// The outermost frame of folded stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Root {
    /// The name of the thread
    Comm,
    /// The name with the process: comm-pid
    Pid,
    /// The name with process and thread: comm-pid/tid
    Tid,
    /// The outermost function
    None,
}

/// Writes a recording in another format. Damage is an error, after all that could be read is written.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let output = options.output.as_deref().unwrap_or(Path::new("-"));
    let Some(format) = options.format.or_else(|| Format::of_name(output)) else {
        note("which format? Name it by -f, or by OUT: see `perfkit export --help`");
        return Ok(ExitCode::from(2));
    };
    if let Some(option) = options.misplaced(format) {
        note(format_args!("{option} is not an option of this format"));
        return Ok(ExitCode::from(2));
    }
    let is_compressed = format::is_compressed(output);
    let is_standard = output == Path::new("-");
    if is_standard && format.is_binary() && io::stdout().is_terminal() {
        return Err(io::Error::other(
            "standard output is a terminal: name a file by -o, or redirect the output to a file or a pipe",
        ));
    }
    let mut builder = ProfileBuilder::new();
    if format.has_times() && !options.sum {
        builder = builder.with_times();
    }
    let mut read = options.profile.profile(builder)?;
    choose_events(&mut read.profile, &options.events)?;
    let (profile, about) = (&read.profile, &read.about);
    let event = if format == Format::Folded { Some(single_event(profile)?) } else { None };
    let written = whole_file::write_private(output, |out| {
        // The message of pprof is compressed by its writer.
        if !is_compressed || format == Format::Pprof {
            return options.write(format, event, profile, about, output, out);
        }
        let mut out = GzEncoder::new(out, Compression::default());
        options.write(format, event, profile, about, output, &mut out)?;
        out.finish().map(drop)
    });
    let samples: u64 = profile.samples().iter().map(|sample| sample.count).sum();
    if written.is_ok() && !is_standard {
        let viewer = if output.is_file() { format.viewer() } else { "" };
        let name = shown(output);
        note(format_args!("{name}: {samples} samples{}", viewer.replace("FILE", &name)));
    } else if written.is_ok() && samples == 0 {
        note("no samples");
    }
    note_losses(profile);
    let damage = read.finish();
    if let Err(error) = written {
        if let Err(damage) = damage {
            note(damage);
        }
        return Err(error);
    }
    damage.map(|()| ExitCode::SUCCESS)
}

impl Options {
    /// Returns an option that this format does not have.
    fn misplaced(&self, format: Format) -> Option<&'static str> {
        let is_folded = format == Format::Folded;
        match self {
            _ if self.sum && format != Format::Json => Some("--sum"),
            _ if self.counts && !is_folded => Some("--counts"),
            _ if self.annotate && !is_folded => Some("--annotate"),
            _ if self.root != Root::Comm && !is_folded => Some("--root"),
            _ => None,
        }
    }

    fn write(
        &self,
        format: Format,
        event: Option<EventId>,
        profile: &Profile,
        about: &About,
        output: &Path,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match (format, event) {
            (Format::Folded, Some(event)) => self.folded(event).write(profile, out),
            (Format::Folded, None) => Ok(()),
            (Format::Json, _) => JsonLines::new().write(profile, out),
            (Format::Pprof, _) => {
                let is_raw = output.extension().is_some_and(|extension| extension == "pb");
                let pprof = pprof(about);
                if is_raw { pprof.uncompressed() } else { pprof }.write(profile, out)
            }
        }
    }

    fn folded(&self, event: EventId) -> Folded {
        let mut folded = Folded::new(event);
        if self.counts {
            folded = folded.with_counts();
        }
        if self.annotate {
            folded = folded.with_annotations();
        }
        match self.root {
            Root::Comm => folded,
            Root::Pid => folded.with_pid(),
            Root::Tid => folded.with_tid(),
            Root::None => folded.without_thread(),
        }
    }
}

/// Returns the writer for pprof, with the metadata of the recording.
fn pprof(about: &About) -> Pprof {
    let mut pprof = Pprof::new();
    if let Some(time) = about.sample_time {
        pprof = pprof.with_duration(Duration::from_nanos(time.last.saturating_sub(time.first)));
    }
    if let Some(start) = start(about) {
        pprof = pprof.with_time(start);
    }
    about.machine_lines().fold(pprof, Pprof::with_comment)
}

/// Returns the wall clock at the first sample: by the clocks that the recording has side by side, or else by the time of the
/// file, to which it was written after the last sample.
fn start(about: &About) -> Option<SystemTime> {
    let times = about.sample_time?;
    if let Some(clock) = about.clock {
        let wall = clock.wall_clock_time.checked_add(times.first)?.checked_sub(clock.clock_time)?;
        return SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(wall));
    }
    about.modified?.checked_sub(Duration::from_nanos(times.last.saturating_sub(times.first)))
}

/// Keeps the events of these names, which may be without the modifiers after the colon.
fn choose_events(profile: &mut Profile, names: &[String]) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let is_name = |event: &str, name: &str| {
        event == name || event.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
    };
    let events = profile.events();
    if let Some(name) = names.iter().find(|name| !events.iter().any(|event| is_name(&event.name, name))) {
        let known: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
        let text = format!("no event `{}`: the recording has {}", shown(name), known.join(", "));
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    profile.retain_events(|event| names.iter().any(|name| is_name(&event.name, name)));
    Ok(())
}

/// Returns the event of a format that has one.
fn single_event(profile: &Profile) -> io::Result<EventId> {
    let has_samples = |id| profile.samples().iter().any(|sample| sample.event == id);
    let sampled: Vec<_> = profile.event_ids().filter(|&(id, _)| has_samples(id)).collect();
    match sampled.as_slice() {
        [(id, _)] => Ok(*id),
        [] => {
            let first = profile.event_ids().next().map(|(id, _)| id);
            first.ok_or_else(|| io::Error::other("the recording has no event"))
        }
        _ => {
            let names: Vec<_> = sampled.iter().map(|(_, event)| event.name.as_str()).collect();
            Err(io::Error::other(format!(
                "this format has one event: choose one by -e: {}",
                names.join(", ")
            )))
        }
    }
}

/// Prints what the profile lacks, each with its most frequent reason.
fn note_losses(profile: &Profile) {
    let losses = profile.losses();
    let lost = losses.lost_records + losses.lost_samples;
    if lost > 0 {
        note(format_args!("{lost} records or samples were lost"));
    }
    let lists = [
        ("stacks are incomplete", &losses.incomplete_stacks),
        ("addresses have no name", &losses.unnamed_addresses),
    ];
    for (what, list) in lists {
        if let Some((most, reason)) = list.first() {
            let count: u64 = list.iter().map(|(count, _)| count).sum();
            note(format_args!("{count} {what}, {most} of them because: {reason}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Software};
    use perf_profile::{Event, Locations};

    use super::*;

    /// A profile of events that have samples or not.
    fn profile(events: &[(&str, bool)]) -> Profile {
        let (mut builder, mut locations) = (ProfileBuilder::new(), Locations::new());
        let thread = builder.thread(1, 1, locations.intern("a"));
        for &(name, has_sample) in events {
            let event = builder.event(Event::new(name, &Attr::software(Software::CPU_CLOCK)));
            if has_sample {
                builder.sample(event, thread, None, 1);
            }
        }
        builder.finish(locations)
    }

    fn names(profile: &Profile) -> Vec<&str> {
        profile.events().iter().map(|event| event.name.as_str()).collect()
    }

    #[test]
    fn event_is_chosen_with_or_without_its_modifiers() {
        let all = [("cycles:u", true), ("cycles:k", true), ("cycles-ct", true), ("sched:sched_switch", true)];
        let chosen = |wanted: &[&str]| {
            let mut profile = profile(&all);
            let wanted: Vec<_> = wanted.iter().map(|&name| name.to_owned()).collect();
            choose_events(&mut profile, &wanted).map(|()| names(&profile).join(" "))
        };
        assert_eq!(chosen(&["cycles"]).unwrap(), "cycles:u cycles:k");
        assert_eq!(chosen(&["cycles:k", "sched:sched_switch"]).unwrap(), "cycles:k sched:sched_switch");
        assert_eq!(chosen(&[]).unwrap().split(' ').count(), 4);
        let error = chosen(&["cycles", "\u{1b}"]).unwrap_err().to_string();
        assert!(error.starts_with("no event `\\u{1b}`: the recording has cycles:u, "), "{error}");
    }

    #[test]
    fn single_event_is_the_one_with_samples() {
        let two = profile(&[("dummy", false), ("cpu-clock", true)]);
        assert_eq!(single_event(&two).unwrap(), two.event_ids().nth(1).unwrap().0);
        let error = single_event(&profile(&[("a", true), ("b", true)])).unwrap_err().to_string();
        assert!(error.ends_with("choose one by -e: a, b"), "{error}");
        assert!(single_event(&profile(&[("a", false)])).is_ok());
        assert!(single_event(&profile(&[])).is_err());
    }
}
