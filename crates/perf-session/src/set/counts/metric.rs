//! Metrics: values that are derived from two counts.

use std::fmt;

/// A value that is derived from the count of an event and from another count or the time, such as
/// instructions per cycle. [`Counts::metrics`](super::Counts::metrics) returns those of a reading.
///
/// Prints number and unit, as `perf stat` does after `#`.
///
/// ```
/// use perf_session::ring::{Attr, Hardware};
/// use perf_session::{Counts, EventSpec, MetricKind, NamedEvent};
/// use std::time::Duration;
///
/// // Values that were counted by other means; `EventSet::counts` has those of a set.
/// let event = |event, value| (NamedEvent::from(EventSpec::new(Attr::hardware(event))), value);
/// let counts = Counts::from_values([
///     event(Hardware::CPU_CYCLES, 2_000_000),
///     event(Hardware::INSTRUCTIONS, 3_000_000),
/// ]);
/// let metrics = counts.metrics(Duration::ZERO);
/// let ipc = metrics.iter().find(|metric| metric.kind == MetricKind::InsnPerCycle);
/// assert_eq!(ipc.map(ToString::to_string), Some("1.50 insn per cycle".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// Index of the event that it belongs to, in the order of the options.
    pub event: usize,
    /// Which formula.
    pub kind: MetricKind,
    /// The value: a ratio, percent, or a number per second. See [`MetricKind`].
    pub value: f64,
    /// The unit of all kinds except rates.
    pub(super) unit: &'static str,
}

/// The formula of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// Time of a clock, divided by the elapsed time.
    CpusUtilized,
    /// Count of an event for each second that a clock counted.
    PerSecond,
    /// Cycles for each ns that a clock counted.
    Gigahertz,
    /// Instructions divided by cycles.
    InsnPerCycle,
    /// The larger number of stalled cycles, of frontend or backend, divided by instructions.
    StalledCyclesPerInsn,
    /// Stalled cycles of frontend or backend, in percent of all cycles.
    IdleCycles,
    /// Misses of a cache or of branches, in percent of the accesses or branches.
    Misses,
    /// Misses of a cache or of branches for 1000 instructions.
    MissesPerKiloInsn,
}

/// Powers of 1000 of a rate.
const RATES: [&str; 4] = ["/sec", "K/sec", "M/sec", "G/sec"];

impl Metric {
    /// Returns the value in [`unit`](Self::unit).
    pub fn in_unit(&self) -> f64 {
        self.value / self.power().1
    }

    /// Returns the unit in the words of the perf tool, such as `insn per cycle`. The unit of a rate
    /// is `/sec`, `K/sec`, `M/sec` or `G/sec`, so that its number is at most 1000.
    pub fn unit(&self) -> &'static str {
        match self.kind {
            MetricKind::PerSecond => self.power().0,
            _ => self.unit,
        }
    }

    /// Returns the number in the [`unit`](Self::unit), with as many decimals as the perf tool
    /// prints.
    pub fn number(&self) -> String {
        let decimals = match self.kind {
            MetricKind::CpusUtilized | MetricKind::PerSecond | MetricKind::Gigahertz => 3,
            _ => 2,
        };
        format!("{:.decimals$}", self.in_unit())
    }

    fn power(&self) -> (&'static str, f64) {
        let mut powers = RATES.into_iter().zip([1.0, 1e3, 1e6, 1e9]);
        let is_rate = self.kind == MetricKind::PerSecond;
        powers.find(|(_, power)| !is_rate || self.value <= power * 1000.0).unwrap_or(("G/sec", 1e9))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = match self.kind {
            MetricKind::IdleCycles | MetricKind::Misses => "%",
            _ => "",
        };
        write!(f, "{}{percent} {}", self.number(), self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rates_have_at_most_three_digits_and_those_of_others_any() {
        let text = |kind, value| Metric { event: 0, kind, value, unit: "of all branches" }.to_string();
        for (value, expected) in [
            (0.0, "0.000 /sec"),
            (1000.0, "1000.000 /sec"),
            (1000.5, "1.000 K/sec"),
            (86_545.4, "86.545 K/sec"),
            (2.5e6, "2.500 M/sec"),
            (7e12, "7000.000 G/sec"),
        ] {
            assert_eq!(text(MetricKind::PerSecond, value), expected);
        }
        assert_eq!(text(MetricKind::Misses, 2.984), "2.98% of all branches");
        assert_eq!(text(MetricKind::MissesPerKiloInsn, 1234.5), "1234.50 of all branches");
    }
}
