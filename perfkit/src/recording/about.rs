//! The metadata of a recording as text, and the options that need a part of it.

use std::fmt;
use std::io::{self, Write};

use perf_abi::{Attr, SampleType, Sampling, Software};
use perf_decode::Value;
use perf_file::FileEvent;
use perf_profile::Split;
use perf_profile::read::Metadata;
use perf_session::catalog;

/// Prints the metadata as lines that begin with `#`.
pub(crate) fn print(about: &Metadata, out: &mut dyn Write) -> io::Result<()> {
    lines(about).iter().try_for_each(|line| writeln!(out, "# {line}"))
}

/// Returns the metadata as lines without control characters: the machine, the recording and each
/// event.
pub(crate) fn lines(about: &Metadata) -> Vec<String> {
    let mut lines: Vec<_> = about.comments().collect();
    if let Some(time) = about.sample_time {
        let length = time.last.saturating_sub(time.first);
        lines.push(format!("samples: from {} s, for {} s", Seconds(time.first), Seconds(length)));
    }
    let events = about.recorded_events();
    let has_counts = events.iter().any(|event| event.attr.sample_type.contains(SampleType::READ));
    lines.extend(events.iter().enumerate().map(|(index, event)| {
        let sampled = WhenSampled { attr: &event.attr, has_counts };
        format!("event {index} {}: {sampled}{}", event.name, Ids(&event.ids))
    }));
    lines
}

/// Checks that the samples have their control group, for an option that shows it.
pub(crate) fn check_cgroups(about: &Metadata, option: &str) -> io::Result<()> {
    if about.has_field(SampleType::CGROUP) {
        return Ok(());
    }
    let text = "the samples of this recording have no control group; record with --all-cgroups";
    Err(io::Error::other(format!("{option}: {text}")))
}

/// Checks that the samples have what threads are split by, for an option that shows it.
pub(crate) fn check_split(about: &Metadata, split: Split, option: &str) -> io::Result<()> {
    let lacks = |name: &str, what: &str, remedy: &str| {
        let text = format!("{option} {name}: the samples of this recording have no {what}; {remedy}");
        Err(io::Error::other(text))
    };
    if split.by_cpu && !about.has_field(SampleType::CPU) {
        return lacks("cpu", "CPU", "record with -a or --sample-cpu");
    }
    if split.quantum.is_some() && !about.has_field(SampleType::TIME) {
        return lacks("time", "time", "record with --timestamp");
    }
    Ok(())
}

/// Returns the name of an event from the file, or else a name made from the attr.
pub(crate) fn event_name(event: &FileEvent) -> String {
    match event.name() {
        Some(name) => Value::Text(name).to_string(),
        None => catalog::name_of(&event.attr),
    }
}

/// When an event samples.
struct WhenSampled<'a> {
    attr: &'a Attr,
    /// Whether samples have the counts of a group.
    has_counts: bool,
}

impl fmt::Display for WhenSampled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attr.sampling() {
            Sampling::None if self.has_counts && !self.attr.is_software(Software::DUMMY) => {
                f.write_str("sampled with the leader of its group")
            }
            Sampling::None => f.write_str("no samples"),
            Sampling::Frequency(frequency) => write!(f, "{frequency} samples a second"),
            Sampling::Period(1) => f.write_str("a sample for each"),
            Sampling::Period(period) => write!(f, "a sample for every {period}"),
        }
    }
}

/// The ids of an event.
struct Ids<'a>(&'a [u64]);

impl fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [id] => write!(f, ", id {id}"),
            [first, .., last] => write!(f, ", {} ids from {first} to {last}", self.0.len()),
        }
    }
}

/// Nanoseconds as seconds.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000_000, self.0 % 1_000_000_000 / 1000)
    }
}
