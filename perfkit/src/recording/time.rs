//! `--time`: the times that count, as the perf tool spells them.

use std::io;
use std::ops::RangeInclusive;
use std::str::FromStr;

use perf_file::feature::SampleTime;

/// Digits of a nanosecond after the point.
const DIGITS: usize = 9;

/// Times as the user gave them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TimeSpec {
    /// In ns.
    Times(TimeRanges),
    /// Parts of the recording, between 0 and 1.
    Parts(Vec<(f64, f64)>),
}

/// Times in ns, ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeRanges(Vec<RangeInclusive<u64>>);

impl TimeRanges {
    /// Returns whether a time is in one of the ranges.
    #[inline]
    pub(super) fn contains(&self, time: u64) -> bool {
        self.0.iter().any(|range| range.contains(&time))
    }
}

impl FromStr for TimeSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_parts = text.contains('%');
        let separator = |character: char| {
            // Commas separate START and STOP of a time, but several parts.
            character.is_ascii_whitespace() || is_parts && character == ','
        };
        let mut words = text.split(separator).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            return Err(expected());
        }
        if is_parts {
            Ok(Self::Parts(words.map(part).collect::<Option<_>>().ok_or_else(expected)?))
        } else {
            Ok(Self::Times(TimeRanges(words.map(range).collect::<Option<_>>().ok_or_else(expected)?)))
        }
    }
}

impl TimeSpec {
    /// Returns the times. `samples` has the first and the last time of the recording, of which parts are taken.
    pub(super) fn ranges(&self, samples: Option<SampleTime>) -> io::Result<TimeRanges> {
        match (self, samples) {
            (Self::Times(ranges), _) => Ok(ranges.clone()),
            (Self::Parts(parts), Some(samples)) => {
                Ok(TimeRanges(parts.iter().map(|part| of_part(*part, samples)).collect()))
            }
            (Self::Parts(_), None) => Err(io::Error::other(
                "--time: the times of the first and the last sample are not in this recording, which was \
                 interrupted or is a pipe; give times in seconds",
            )),
        }
    }
}

fn expected() -> String {
    "expected START,STOP in seconds, or parts of the recording as 10%-20% or 10%/2".to_owned()
}

/// Parses `START,STOP`, `START,`, `,STOP` or `START`.
fn range(text: &str) -> Option<RangeInclusive<u64>> {
    let (start, stop) = text.split_once(',').unwrap_or((text, ""));
    let start = if start.is_empty() { 0 } else { nanoseconds(start)? };
    let stop = if stop.is_empty() { u64::MAX } else { nanoseconds(stop)? };
    (start <= stop).then_some(start..=stop)
}

/// Parses seconds with a fraction. Digits after the ninth are cut off, as in the perf tool.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) || seconds.is_empty() && fraction.is_empty() {
        return None;
    }
    let seconds = if seconds.is_empty() { 0 } else { seconds.parse::<u64>().ok()? };
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(DIGITS);
    let fraction = digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// Parses `A%-B%`, `A%/N` (the Nth part of A percent), or `A%` (the first).
fn part(text: &str) -> Option<(f64, f64)> {
    let (start, stop) = if let Some((start, stop)) = text.split_once('-') {
        (percent(start)?, percent(stop)?)
    } else {
        let (size, number) = text.split_once('/').unwrap_or((text, "1"));
        let (size, number) = (percent(size)?, number.parse::<u32>().ok().filter(|number| *number > 0)?);
        (size * f64::from(number - 1), size * f64::from(number))
    };
    // A third of 33.3 % is within rounding.
    ((0.0..=1.0).contains(&start) && start < stop && stop <= 1.0 + 1e-9).then_some((start, stop.min(1.0)))
}

fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?;
    // `parse` also takes `inf`, `nan` and exponents.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number.parse::<f64>().ok().filter(|_| is_plain).map(|percent| percent / 100.0)
}

/// Returns the times of a part. Its end belongs to the next part, so that the parts of a recording have each sample once.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "rounds times of more than 2^53 ns, 104 days, as the perf tool does"
)]
fn of_part((start, stop): (f64, f64), samples: SampleTime) -> RangeInclusive<u64> {
    let total = samples.last.saturating_sub(samples.first) as f64;
    let at = |part: f64| samples.first.saturating_add((part * total).round() as u64);
    let (start, stop) = (at(start), at(stop).min(samples.last));
    if stop < samples.last && stop > start { start..=stop - 1 } else { start..=stop }
}
