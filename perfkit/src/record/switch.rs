//! Outputs as a series of files.

use std::io;
use std::thread;
use std::time::Duration;

use clap::Args;
use jiff::Zoned;

use crate::out::output_path::OutputPath;

/// The options that divide a recording into files.
#[derive(Args, Clone, Debug)]
pub(super) struct SwitchOptions {
    /// Write one file after the other, each complete and named FILE.YYYYMMDDhhmmssNN when it is: at SIGUSR2, and when
    /// one has SIZE as 100M or after TIME as 60s
    #[arg(
        long,
        value_name = "signal|SIZE|TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "signal",
        value_parser = switch
    )]
    switch_output: Option<Switch>,
    /// Write one file after the other, each for this TIME as 60s: recordings as with --switch-output, or profiles with -f pprof
    #[arg(long, value_name = "TIME", conflicts_with = "switch_output", value_parser = period)]
    every: Option<Duration>,
    /// Let full rings overwrite their oldest records, and write what they hold at SIGUSR2, at the snapshot command of --control
    /// and at the end
    #[arg(long)]
    overwrite: bool,
    /// Keep the last N files only
    #[arg(long, value_name = "N", value_parser = max_files)]
    switch_max_files: Option<usize>,
}

/// When the output is switched, apart from signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    AtSignal,
    /// Bytes of a file.
    AtSize(u64),
    Every(Duration),
}

impl SwitchOptions {
    /// Returns whether the whole output is divided into files.
    pub(super) fn is_used(&self) -> bool {
        self.switch_output.is_some() || self.every.is_some()
    }

    /// Returns whether the rings are overwritten, and written on demand.
    pub(super) fn is_overwrite(&self) -> bool {
        self.overwrite
    }

    /// Returns whether there may be files before the end.
    pub(super) fn has_parts(&self) -> bool {
        self.is_used() || self.overwrite
    }

    /// Returns the time of each file.
    pub(super) fn period(&self) -> Option<Duration> {
        match self.switch_output {
            Some(Switch::Every(period)) => Some(period),
            _ => self.every,
        }
    }

    /// Returns the bytes after which a file ends.
    pub(super) fn size(&self) -> Option<u64> {
        match self.switch_output {
            Some(Switch::AtSize(size)) => Some(size),
            _ => None,
        }
    }

    /// Returns the number of files that are kept.
    pub(super) fn max_files(&self) -> Option<usize> {
        self.switch_max_files
    }
}

fn switch(text: &str) -> Result<Switch, String> {
    if text == "signal" {
        return Ok(Switch::AtSignal);
    }
    let size = units(text, &[("B", 1), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]).map(Switch::AtSize);
    size.or_else(|| period(text).ok().map(Switch::Every))
        .ok_or("expected `signal`, a size as 100M, or a time as 60s or 10m".to_owned())
}

/// Parses a time with its unit.
pub(super) fn period(text: &str) -> Result<Duration, String> {
    units(text, &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)])
        .map(Duration::from_millis)
        .ok_or("expected a time as 60s, 10m or 500ms".to_owned())
}

/// Parses a number from 1, followed by one of these units.
fn units(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let of = |(unit, factor): &(&str, u64)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok().filter(|number| *number > 0)?;
        number.checked_mul(*factor)
    };
    units.iter().find_map(of)
}

fn max_files(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|files| *files > 0).ok_or("expected a number of files from 1".to_owned())
}

/// Returns the name for a file that is complete now. It ends with the local time in hundredths of a
/// second, as in the perf tool.
pub(super) fn free_name(path: &OutputPath) -> io::Result<OutputPath> {
    loop {
        let now = Zoned::now();
        let hundredths = now.subsec_nanosecond() / 10_000_000;
        let name = path.with_suffix(&format!(".{}{hundredths:02}", now.strftime("%Y%m%d%H%M%S")));
        if name.stat()?.is_none() {
            return Ok(name);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_switched_at_a_signal_a_size_or_a_time() {
        assert_eq!(switch("signal"), Ok(Switch::AtSignal));
        assert_eq!(switch("100K"), Ok(Switch::AtSize(102_400)));
        assert_eq!(switch("2G"), Ok(Switch::AtSize(2 << 30)));
        assert_eq!(switch("90s"), Ok(Switch::Every(Duration::from_secs(90))));
        assert_eq!(switch("2m"), Ok(Switch::Every(Duration::from_secs(120))));
        assert_eq!(period("250ms"), Ok(Duration::from_millis(250)));
        for text in ["", "0s", "0M", "1", "-1s", "s", "99999999999999999999s", "18446744073709551615G"] {
            assert!(switch(text).unwrap_err().contains("60s"), "{text}");
        }
    }

    #[test]
    fn names_of_files_are_those_of_the_perf_tool() {
        let path = OutputPath::find(std::path::Path::new("/tmp/perf.data")).unwrap();
        let name = free_name(&path).unwrap();
        let name = name.path().to_str().unwrap().strip_prefix("/tmp/perf.data.").unwrap();
        assert!(name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_digit()), "{name}");
    }
}
