//! Times of a recording as the perf tool spells them.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use perf_file::feature::SampleTime;

/// Digits of a nanosecond after the point.
const DIGITS: usize = 9;

/// Times that a user chose, in the words of the perf tool's `--time`: `START,STOP` in seconds of
/// the recording's clock, both included, `START` or `,STOP`; or parts of the recording as
/// `10%-20%` or `10%/2`, the second tenth. Several times are separated by blanks, several parts
/// also by commas.
///
/// ```
/// use perf_profile::read::TimeSpec;
///
/// let spec: TimeSpec = "1.5,2 7,".parse()?;
/// let ranges = spec.ranges(None).unwrap_or_default();
/// assert_eq!(ranges, [1_500_000_000..=2_000_000_000, 7_000_000_000..=u64::MAX]);
/// # Ok::<(), perf_profile::read::TimeSpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSpec(Spec);

#[derive(Clone, Debug, PartialEq)]
enum Spec {
    /// Ranges in ns of the recording's clock, ends included.
    Times(Vec<RangeInclusive<u64>>),
    /// Parts of the recording, each from and to a fraction between 0 and 1.
    Parts(Vec<(f64, f64)>),
}

impl FromStr for TimeSpec {
    type Err = TimeSpecError;

    fn from_str(text: &str) -> Result<Self, TimeSpecError> {
        let is_parts = text.contains('%');
        let separator = |character: char| {
            // Commas separate START and STOP of a time, but several parts.
            character.is_ascii_whitespace() || is_parts && character == ','
        };
        let mut words = text.split(separator).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            return Err(TimeSpecError);
        }
        let spec = if is_parts {
            words.map(part).collect::<Option<_>>().map(Spec::Parts)
        } else {
            words.map(range).collect::<Option<_>>().map(Spec::Times)
        };
        spec.map(Self).ok_or(TimeSpecError)
    }
}

impl TimeSpec {
    /// Returns the times in ns of the recording's clock. `samples` has the times of the first and
    /// the last sample, to which parts refer: see
    /// [`Metadata::sample_time`](super::Metadata::sample_time). Returns `None` for parts if these
    /// times are unknown, as in a recording that was interrupted, and in a pipe.
    pub fn ranges(&self, samples: Option<SampleTime>) -> Option<Vec<RangeInclusive<u64>>> {
        match &self.0 {
            Spec::Times(ranges) => Some(ranges.clone()),
            Spec::Parts(parts) => {
                let samples = samples?;
                Some(parts.iter().map(|part| of_part(*part, samples)).collect())
            }
        }
    }
}

/// The error of a text that is no [`TimeSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeSpecError;

impl fmt::Display for TimeSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected START,STOP in seconds, or parts of the recording as 10%-20% or 10%/2")
    }
}

impl Error for TimeSpecError {}

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
    // Allows for rounding, for example of the third 33.3 %.
    ((0.0..=1.0).contains(&start) && start < stop && stop <= 1.0 + 1e-9).then_some((start, stop.min(1.0)))
}

fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?;
    // `parse` also takes `inf`, `nan` and exponents.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number.parse::<f64>().ok().filter(|_| is_plain).map(|percent| percent / 100.0)
}

/// Returns the times of a part. The end belongs to the next part, so that each sample is in exactly
/// one part.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<TimeSpec> {
        text.parse().ok()
    }

    fn is_in(ranges: &[RangeInclusive<u64>], time: u64) -> bool {
        ranges.iter().any(|range| range.contains(&time))
    }

    fn ranges(text: &str, first: u64, last: u64) -> Vec<RangeInclusive<u64>> {
        parse(text).unwrap().ranges(Some(SampleTime { first, last })).unwrap()
    }

    #[test]
    fn times_are_seconds_with_a_fraction() {
        assert_eq!(ranges("1.5,2", 0, 0), [1_500_000_000..=2_000_000_000]);
        assert_eq!(ranges("1.000000001,", 0, 0), [1_000_000_001..=u64::MAX]);
        assert_eq!(ranges(",.25", 0, 0), [0..=250_000_000]);
        assert_eq!(ranges("3", 0, 0), [3_000_000_000..=u64::MAX]);
        assert_eq!(ranges(",", 0, 0), [0..=u64::MAX]);
        assert_eq!(ranges("1.,1.0000000019", 0, 0), [1_000_000_000..=1_000_000_001]);
        assert_eq!(ranges("1,2 3,", 0, 0), [1_000_000_000..=2_000_000_000, 3_000_000_000..=u64::MAX]);
    }

    #[test]
    fn parts_are_of_the_time_of_the_samples() {
        assert_eq!(ranges("0%-10%", 1000, 2000), [1000..=1099]);
        assert_eq!(ranges("10%/2", 1000, 2000), [1100..=1199]);
        assert_eq!(ranges("90%-100%", 1000, 2000), [1900..=2000]);
        assert_eq!(ranges("50%", 1000, 2000), [1000..=1499]);
        assert_eq!(ranges("10%/1,0.5%/4", 0, 1000), [0..=99, 15..=19]);
        assert_eq!(ranges("0%-100%", 7, 7), [7..=7]);
        assert_eq!(ranges("0%-100%", 0, u64::MAX), [0..=u64::MAX]);
    }

    #[test]
    fn other_text_is_no_time() {
        for text in [
            "",
            " ",
            "x",
            "1,2,3",
            "1.2.3,",
            "-1,2",
            "+1",
            "2,1",
            "1e3",
            "99999999999,",
            "1,2 x",
            "1 s",
            "%",
            "10",
        ] {
            let is_time = parse(text).is_some();
            assert_eq!(is_time, text == "10", "{text}");
        }
        for text in [
            "%-10%", "10%-5%", "10%-110%", "10%/0", "10%/11", "0%/1", "nan%", "inf%/1", "-1%-5%", "10%/x",
            "10%-",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(parse("10%").unwrap().ranges(None).is_none());
    }

    proptest! {
        #[test]
        fn time_is_in_its_range_as_in_a_naive_comparison(
            (start, stop) in (0_u64..4_000_000_000, 0_u64..4_000_000_000),
            digits in 0_usize..10,
            (has_start, has_stop) in any::<(bool, bool)>(),
            time in 0_u64..4_000_000_000,
        ) {
            // Text with fewer digits is an earlier time.
            let cut = |time: u64| time / 10_u64.pow(9 - u32::try_from(digits).unwrap()) * 10_u64.pow(9 - u32::try_from(digits).unwrap());
            let text = |time: u64| {
                let fraction = format!("{:09}", time % 1_000_000_000);
                format!("{}.{}", time / 1_000_000_000, &fraction[..digits])
            };
            let given = |has, time| if has { text(time) } else { String::new() };
            let spec = parse(&format!("{},{}", given(has_start, start), given(has_stop, stop)));
            if has_start && has_stop && cut(start) > cut(stop) {
                prop_assert_eq!(spec, None);
            } else {
                let is_inside = (!has_start || time >= cut(start)) && (!has_stop || time <= cut(stop));
                prop_assert_eq!(is_in(&spec.unwrap().ranges(None).unwrap(), time), is_inside);
            }
        }

        #[test]
        fn parts_of_a_recording_have_each_time_once(
            count in 1_u32..20,
            first in 0_u64..u64::MAX / 2,
            len in 0_u64..1 << 50,
            at in 0.0..=1.0_f64,
        ) {
            #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "any time in the recording will do")]
            let time = first + (at * len as f64) as u64;
            let last = first + len;
            // Parts of at least two times, which does not hold for a recording that is shorter than
            // its parts.
            prop_assume!(len > 100);
            let step = 100.0 / f64::from(count);
            let part = |number: u32| format!("{}%-{}%", step * f64::from(number), if number + 1 == count { 100.0 } else { step * f64::from(number + 1) });
            let times = (0..count).filter(|number| {
                parse(&part(*number)).unwrap().ranges(Some(SampleTime { first, last })).unwrap().iter().any(|range| range.contains(&time.min(last)))
            });
            prop_assert_eq!(times.count(), 1);
        }
    }
}
