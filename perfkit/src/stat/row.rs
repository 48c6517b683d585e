//! One event of a part, as `perfkit stat` prints it.

use perf_session::{Metric, MetricKind};

use super::split::Part;

/// The count of one event, of one run or the mean of several.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The part in its column; the whole has no column.
    pub(super) part: Part,
    /// Number of CPUs of the part on which the event counts; of an event that is not supported, all.
    pub(super) cpus: usize,
    pub(super) event: String,
    /// The cgroup of the event, empty without one; `None` if no event has a cgroup.
    pub(super) cgroup: Option<String>,
    /// The unit of the value; empty for a number of events.
    pub(super) unit: String,
    pub(super) value: Value,
    /// Time running in ns, the mean of all runs.
    pub(super) running: f64,
    /// Time running in percent of the time enabled; 100 if it was never enabled.
    pub(super) percent_running: f64,
    /// The standard error of the mean in percent, if several runs are asked for.
    pub(super) spread: Option<f64>,
    pub(super) metrics: Vec<Metric>,
}

/// A counted value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Counted {
        value: f64,
        /// Whether the value was extrapolated, because the event was multiplexed.
        is_estimate: bool,
    },
    /// The event never ran.
    NotCounted,
    /// The kernel or the machine does not have the event.
    NotSupported,
}

impl Row {
    pub(super) fn not_supported(part: Part, cpus: usize, event: &str, has_spread: bool) -> Self {
        Self {
            part,
            cpus,
            event: event.to_owned(),
            cgroup: None,
            unit: String::new(),
            value: Value::NotSupported,
            running: 0.0,
            percent_running: 100.0,
            spread: has_spread.then_some(0.0),
            metrics: Vec::new(),
        }
    }

    /// Returns the metrics that the perf tool has too.
    pub(super) fn metrics_of_perf(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter().filter(|metric| metric.kind != MetricKind::MissesPerKiloInsn)
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self.value, Value::Counted { value, .. } if value == 0.0)
    }
}

impl Value {
    /// Returns the value with a number of decimals, or why there is no value.
    pub(super) fn text(self, decimals: usize) -> String {
        match self {
            Self::Counted { value, .. } => format!("{value:.decimals$}"),
            Self::NotCounted => "<not counted>".to_owned(),
            Self::NotSupported => "<not supported>".to_owned(),
        }
    }
}
