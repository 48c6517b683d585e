//! The metadata of a recording for the files of viewers.

use std::time::{Duration, SystemTime};

use perf_decode::Value;

use super::Metadata;
#[cfg(feature = "pprof")]
use crate::format::Pprof;

impl Metadata {
    /// Returns a line about the machine and a line about the program that recorded, as far as they
    /// are known, for the comments of a file. Control characters are escaped.
    pub fn comments(&self) -> impl Iterator<Item = String> {
        let cpus = self.cpus.map(|(online, available)| format!("{online} of {available} CPUs online"));
        let release = self.release.as_ref().map(|release| format!("Linux {release}"));
        let host = self.host.as_deref().unwrap_or_default();
        let machine = line(&format!("machine {host}"), [release, self.arch.clone(), cpus, self.cpu.clone()]);
        let command = self.command.as_ref().map(|words| words.join(" "));
        let version = self.version.as_ref().map(|version| format!("version {version}"));
        machine.into_iter().chain(line("recorded by", [command, version]))
    }

    /// Returns the writer for pprof with the comments, the time and the length of the recording.
    #[cfg(feature = "pprof")]
    pub fn pprof(&self) -> Pprof {
        let mut pprof = Pprof::new();
        if let Some(time) = self.sample_time {
            pprof = pprof.with_duration(Duration::from_nanos(time.last.saturating_sub(time.first)));
        }
        if let Some(start) = self.start() {
            pprof = pprof.with_time(start);
        }
        self.comments().fold(pprof, Pprof::with_comment)
    }

    /// Returns the wall-clock time of the first sample, by the recorded pair of clock readings, or
    /// else by the modification time of the file, which is the time of the last sample or later.
    pub fn start(&self) -> Option<SystemTime> {
        let times = self.sample_time?;
        if let Some(clock) = self.clock {
            let wall = clock.wall_clock_time.checked_add(times.first)?.checked_sub(clock.clock_time)?;
            return SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(wall));
        }
        self.modified?.checked_sub(Duration::from_nanos(times.last.saturating_sub(times.first)))
    }
}

/// Returns a line, or `None` without any part. Control characters are escaped.
fn line<const N: usize>(title: &str, parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let line = || format!("{}: {}", title.trim_end(), parts.join(", "));
    (!parts.is_empty()).then(|| Value::Text(line().as_bytes()).to_string())
}
