//! Options of the perf tool for something that every recording has here.

use clap::Args;

/// The options, which change nothing. They are accepted because instructions of other programs name them, as those of
/// JIT compilers name `-k mono`.
#[derive(Args, Clone, Debug)]
pub(super) struct AlwaysOptions {
    #[arg(short = 'T', long, hide = true)]
    timestamp: bool,
    #[arg(long, hide = true)]
    sample_identifier: bool,
    #[arg(long, hide = true)]
    timestamp_boundary: bool,
    #[arg(long, hide = true)]
    buildid_all: bool,
    #[arg(long, hide = true)]
    buildid_mmap: bool,
    // The cache of build ids is never written.
    #[arg(short = 'N', long, hide = true)]
    no_buildid_cache: bool,
    #[arg(short = 'k', long, hide = true, value_name = "CLOCK", value_parser = clock)]
    clockid: Option<Monotonic>,
}

/// The clock of all times.
#[derive(Clone, Copy, Debug)]
struct Monotonic;

/// Parses the name of a clock, or its number, as the perf tool does.
fn clock(text: &str) -> Result<Monotonic, String> {
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("clock_").unwrap_or(&lower) {
        "mono" | "monotonic" | "1" => Ok(Monotonic),
        _ => Err("expected `mono`: all times are those of CLOCK_MONOTONIC".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_is_the_monotonic_one() {
        for text in ["mono", "monotonic", "CLOCK_MONOTONIC", "1"] {
            assert!(clock(text).is_ok(), "{text}");
        }
        for text in ["raw", "monotonic_raw", "CLOCK_REALTIME", "0", ""] {
            assert!(clock(text).unwrap_err().contains("CLOCK_MONOTONIC"), "{text}");
        }
    }
}
