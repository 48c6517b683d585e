//! The option of the length of slices of time.

use std::num::NonZeroU64;

use clap::Args;
use perf_profile::Split;

/// The option that sets the length of the slices of `-s time` and `--root time`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct QuantumOptions {
    /// Length of the slices of time, as 1s, 10ms, 500us [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = quantum)]
    time_quantum: Option<NonZeroU64>,
}

impl QuantumOptions {
    /// Sets the length of slices.
    pub(crate) fn apply(self, split: Split) -> Split {
        split.with_quantum(self.time_quantum.unwrap_or(Split::QUANTUM))
    }
}

/// Parses a length of time with its unit, in ns.
fn quantum(text: &str) -> Result<NonZeroU64, String> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit: Option<u64> = match text.strip_prefix(digits) {
        Some("s") => Some(1_000_000_000),
        Some("ms") => Some(1_000_000),
        Some("us") => Some(1000),
        Some("ns") => Some(1),
        _ => None,
    };
    let ns = unit.zip(digits.parse::<u64>().ok()).and_then(|(unit, number)| number.checked_mul(unit));
    ns.and_then(NonZeroU64::new)
        .ok_or_else(|| "expected a time above 0 with a unit, as 1s, 10ms or 500us".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantum_is_a_number_with_a_unit() {
        let ns = |text| quantum(text).map(NonZeroU64::get);
        assert_eq!(
            [ns("1s"), ns("10ms"), ns("500us"), ns("7ns")],
            [Ok(1_000_000_000), Ok(10_000_000), Ok(500_000), Ok(7)]
        );
        for text in ["", "s", "1", "0ms", "-1s", "1m", "99999999999s", "1.5s"] {
            assert!(quantum(text).is_err(), "{text}");
        }
    }
}
