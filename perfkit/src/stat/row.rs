//! One event of the table that `perfkit stat` prints.

use serde_json::{Map, Value as Json, json};

use super::spread::Spread;

/// The count of one event, of one run or the mean of several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) event: String,
    /// The unit of the value; empty for a number of events.
    pub(crate) unit: String,
    pub(crate) value: Value,
    /// Time running in ns, the mean of all runs.
    pub(crate) running: f64,
    /// Time running in percent of the time enabled.
    pub(crate) percent_running: f64,
    /// The standard error of the mean in percent, if there was more than one run.
    pub(crate) spread: Option<f64>,
}

/// A counted value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Counted {
        value: f64,
        /// Whether the value was extrapolated, because the event was multiplexed.
        is_estimate: bool,
    },
    /// The event was enabled, but never ran.
    NotCounted,
    /// The kernel or the machine does not have the event.
    NotSupported,
}

/// The count of an event in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) value: Value,
    pub(crate) enabled: u64,
    pub(crate) running: u64,
}

impl Row {
    /// Returns the row of an event that was counted once per run.
    #[allow(clippy::cast_precision_loss)] // printed with fewer digits
    pub(crate) fn new(event: &str, unit: &str, readings: &[Reading]) -> Self {
        let counted = |reading: &Reading| match reading.value {
            Value::Counted { value, .. } => Some(value),
            Value::NotCounted | Value::NotSupported => None,
        };
        let values: Vec<f64> = readings.iter().filter_map(counted).collect();
        let spread = Spread::of(&values);
        let estimate = |reading: &Reading| matches!(reading.value, Value::Counted { is_estimate: true, .. });
        let value = match spread {
            Some(spread) => Value::Counted { value: spread.mean, is_estimate: readings.iter().any(estimate) },
            None => readings.first().map_or(Value::NotSupported, |first| first.value),
        };
        let sum =
            |field: fn(&Reading) -> u64| readings.iter().map(|reading| field(reading) as f64).sum::<f64>();
        let (enabled, running) = (sum(|reading| reading.enabled), sum(|reading| reading.running));
        Self {
            event: event.to_owned(),
            unit: unit.to_owned(),
            value,
            running: running / readings.len().max(1) as f64,
            percent_running: if enabled == 0.0 { 0.0 } else { 100.0 * running / enabled },
            spread: spread.filter(|_| values.len() > 1).map(Spread::percent),
        }
    }

    /// Returns the row as the perf tool's `stat --json-output` prints it, without its metrics.
    pub(crate) fn json(&self, interval: Option<f64>) -> Json {
        let mut object = Map::new();
        let mut set = |key: &str, value: Json| object.insert(key.to_owned(), value);
        if let Some(seconds) = interval {
            set("interval", json!(seconds));
        }
        set(
            "counter-value",
            json!(match self.value {
                Value::Counted { value, .. } => format!("{value:.6}"),
                Value::NotCounted => "<not counted>".to_owned(),
                Value::NotSupported => "<not supported>".to_owned(),
            }),
        );
        set("unit", json!(self.unit));
        set("event", json!(self.event));
        if let Some(percent) = self.spread {
            set("variance", json!(rounded(percent)));
        }
        #[allow(clippy::cast_sign_loss)] // a sum of unsigned numbers
        set("event-runtime", json!(self.running.round() as u64));
        set("pcnt-running", json!(rounded(self.percent_running)));
        Json::Object(object)
    }
}

/// # Fields
impl Row {
    /// Returns the row as the perf tool's `stat -x` prints it, without its metrics.
    pub(crate) fn fields(&self, separator: &str, interval: Option<f64>) -> String {
        let value = match self.value {
            Value::Counted { value, .. } if self.unit.is_empty() => format!("{value:.0}"),
            Value::Counted { value, .. } => format!("{value:.2}"),
            Value::NotCounted => "<not counted>".to_owned(),
            Value::NotSupported => "<not supported>".to_owned(),
        };
        let mut fields: Vec<String> = interval.map(|seconds| format!("{seconds:.9}")).into_iter().collect();
        fields.extend([value, self.unit.clone(), self.event.clone()]);
        fields.extend(self.spread.map(|percent| format!("{percent:.2}%")));
        fields.extend([format!("{:.0}", self.running), format!("{:.2}", self.percent_running)]);
        fields.join(separator)
    }
}

/// Rounds to two decimals.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(value: f64, enabled: u64, running: u64) -> Reading {
        Reading { value: Value::Counted { value, is_estimate: running < enabled }, enabled, running }
    }

    #[test]
    fn row_of_several_runs_has_mean_and_spread() {
        let row = Row::new("page-faults", "", &[reading(10.0, 100, 100), reading(14.0, 100, 50)]);
        assert_eq!(row.value, Value::Counted { value: 12.0, is_estimate: true });
        assert_eq!((row.running, row.percent_running), (75.0, 75.0));
        assert!((row.spread.unwrap() - 100.0 * 2.0 / 12.0).abs() < 1e-9);
    }

    #[test]
    fn event_that_never_ran_has_no_value() {
        let never = Reading { value: Value::NotCounted, enabled: 100, running: 0 };
        let row = Row::new("cycles", "", &[never]);
        assert_eq!((row.value, row.percent_running, row.spread), (Value::NotCounted, 0.0, None));
        assert_eq!(row.json(None)["counter-value"], "<not counted>");
    }

    #[test]
    fn fields_have_the_order_of_the_perf_tool() {
        let row = Row::new("task-clock", "msec", &[reading(1.5, 200, 100)]);
        assert_eq!(row.fields(",", None), "1.50,msec,task-clock,100,50.00");
        assert_eq!(row.fields(";", Some(0.25)), "0.250000000;1.50;msec;task-clock;100;50.00");
        let runs = Row::new("faults", "", &[reading(1.0, 1, 1), reading(1.0, 1, 1)]);
        assert_eq!(runs.fields(",", None), "1,,faults,0.00%,1,100.00");
    }

    #[test]
    fn json_has_the_keys_of_the_perf_tool() {
        let row = Row::new("task-clock", "msec", &[reading(1.5, 200, 100)]);
        let json = row.json(Some(1.0));
        assert_eq!(
            json.to_string(),
            "{\"counter-value\":\"1.500000\",\"event\":\"task-clock\",\
            \"event-runtime\":100,\"interval\":1.0,\"pcnt-running\":50.0,\"unit\":\"msec\"}"
        );
        let runs = Row::new("x", "", &[reading(1.0, 1, 1), reading(1.0, 1, 1)]);
        assert_eq!(runs.json(None)["variance"], 0.0);
    }
}
