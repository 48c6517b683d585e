//! The Firefox Profiler and trace events, with the metadata and the payloads of a recording.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use perf_abi::Sampling;
use perf_tracepoint::{Field, Value};

use super::{Metadata, ReadProfile};
use crate::format::{Arguments, Chrome, Firefox};
use crate::profile::{Profile, Sample};

impl Metadata {
    /// Returns the writer for the Firefox Profiler with the comments, the command, the machine and
    /// the clock of the recording. `profile` is the profile that will be written.
    pub fn firefox(&self, profile: &Profile) -> Firefox {
        let mut firefox = self.comments().fold(Firefox::new(), Firefox::with_comment);
        if let Some(command) = &self.command {
            firefox = firefox.with_command(command.join(" "));
        }
        if let Some(release) = &self.release {
            let arch = self.arch.as_deref().unwrap_or_default();
            firefox = firefox.with_os(format!("Linux {release} {arch}").trim_end());
        }
        if let Some(cpu) = &self.cpu {
            firefox = firefox.with_cpu(cpu);
        }
        // The pair of clock readings is known even without sample times, which pipes lack.
        let clock = self.clock.map(|clock| {
            let wall = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(clock.wall_clock_time));
            (wall, clock.clock_time)
        });
        let clock = clock.or(self.sample_time.map(|times| (self.start(), times.first)));
        if let Some((Some(wall), time)) = clock {
            firefox = firefox.with_clock(wall, time);
        }
        match self.interval(profile) {
            Some(interval) => firefox.with_interval(interval),
            None => firefox,
        }
    }

    /// Returns the time between two samples of the first event that has samples, if it has a
    /// frequency.
    fn interval(&self, profile: &Profile) -> Option<Duration> {
        let first = profile.samples().iter().map(|sample| sample.event).min();
        let name = &profile.event(first?)?.name;
        let (_, attr) = self.events().find(|(event, _)| event == name)?;
        match attr.sampling() {
            Sampling::Frequency(frequency) => {
                Duration::from_secs(1).checked_div(u32::try_from(frequency).ok()?)
            }
            _ => None,
        }
    }
}

impl ReadProfile {
    /// Writes the samples of all events as trace events, with the comments of the recording and, if
    /// they were [kept](super::ProfileReader::with_payloads), the fields of tracepoints. The
    /// payloads are taken.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chrome::write`].
    pub fn write_chrome(&mut self, out: impl Write) -> io::Result<()> {
        let Self { profile, metadata, payloads, .. } = self;
        let tracepoints = metadata.tracepoints();
        // The attr and the fields of each event of the profile: events with equal names are of the
        // same tracepoint.
        let events: Vec<_> = profile
            .events()
            .iter()
            .map(|event| {
                let (_, attr) = metadata.events().find(|(name, _)| *name == event.name)?;
                Some((attr, tracepoints.find(attr)?.fields.iter().collect::<Vec<_>>()))
            })
            .collect();
        let add = |sample: &Sample, arguments: &mut Arguments<'_>| {
            let event = events.get(sample.event.index()).and_then(Option::as_ref);
            let (Some((attr, fields)), Some(time)) = (event, sample.time) else { return };
            let Some(thread) = profile.thread(sample.thread) else { return };
            let raw = payloads.take(attr, thread, time).unwrap_or_default();
            for field in fields {
                add_field(arguments, field, raw);
            }
        };
        metadata.comments().fold(Chrome::new(), Chrome::with_comment).write_with(profile, add, out)
    }
}

fn add_field(arguments: &mut Arguments<'_>, field: &Field<'_>, raw: &[u8]) {
    match field.value(raw) {
        Value::Signed(number) => arguments.number(field.name, number),
        Value::Unsigned(number) => arguments.number(field.name, number),
        Value::Text(text) => arguments.text(field.name, &String::from_utf8_lossy(text)),
        // An address is text, because a floating-point number does not represent all of them.
        value => arguments.text(field.name, &value.to_string()),
    }
}
