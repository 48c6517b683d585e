//! Rows as JSON, with the keys of `perf stat --json-output`.

use perf_session::Metric;
use serde_json::{Map, Value as Json, json};

use super::row::Row;

impl Row {
    /// Returns the row as an object. A second metric, and further ones, are in `more-metrics`, which the perf tool does
    /// not have.
    pub(super) fn json(&self, interval: Option<f64>) -> Json {
        let mut object = Map::new();
        let mut set = |key: &str, value: Json| object.insert(key.to_owned(), value);
        if let Some(seconds) = interval {
            set("interval", json!(seconds));
        }
        if let Some((key, name)) = self.part.key_and_name() {
            set(key, json!(name));
            if self.part.has_cpus() {
                set("aggregate-number", json!(self.cpus));
            }
        }
        set("counter-value", json!(self.value.text(6)));
        set("unit", json!(self.unit));
        set("event", json!(self.event));
        if let Some(cgroup) = &self.cgroup {
            set("cgroup", json!(cgroup));
        }
        if let Some(percent) = self.spread {
            set("variance", json!(rounded(percent)));
        }
        #[allow(clippy::cast_sign_loss)] // a sum of unsigned numbers
        set("event-runtime", json!(self.running.round() as u64));
        set("pcnt-running", json!(rounded(self.percent_running)));
        let value = |metric: &Metric| json!(metric.in_unit());
        if let Some((first, more)) = self.metrics.split_first() {
            set("metric-value", value(first));
            set("metric-unit", json!(first.unit()));
            if !more.is_empty() {
                let more =
                    more.iter().map(|it| json!({ "metric-value": value(it), "metric-unit": it.unit() }));
                set("more-metrics", more.collect());
            }
        }
        Json::Object(object)
    }
}

/// Rounds to two decimals.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::super::row::Value;
    use super::super::split::Part;
    use super::*;
    use perf_session::{Counts, CpuTopology, System, parse_event};
    use std::time::Duration;

    fn row(part: Part) -> Row {
        let value = Value::Counted { value: 1.5, is_estimate: true };
        Row {
            cpus: 2,
            unit: "msec".to_owned(),
            value,
            running: 100.0,
            ..Row::not_supported(part, 1, "task-clock", false)
        }
    }

    #[test]
    fn json_has_the_keys_of_the_perf_tool() {
        assert_eq!(
            row(Part::Whole).json(Some(1.0)).to_string(),
            "{\"counter-value\":\"1.500000\",\"event\":\"task-clock\",\
            \"event-runtime\":100,\"interval\":1.0,\"pcnt-running\":100.0,\"unit\":\"msec\"}"
        );
        let missing = Row::not_supported(Part::Cpu(1), 1, "cycles", true);
        let missing = Row { cgroup: Some("web".to_owned()), ..missing }.json(None);
        assert_eq!(missing["counter-value"], "<not supported>");
        assert_eq!(
            (&missing["cpu"], &missing["cgroup"], &missing["variance"]),
            (&json!("1"), &json!("web"), &json!(0.0))
        );
        let core = row(Part::Core(CpuTopology::new(0, 0, 1))).json(None);
        assert_eq!((&core["core"], &core["aggregate-number"]), (&json!("S0-D0-C1"), &json!(2)));
    }

    #[test]
    fn metrics_after_the_first_have_their_own_key() {
        let parse = |name: &str| parse_event(name, &System::new()).unwrap();
        let names = ["branch-misses", "branches", "instructions"].map(parse);
        let metrics = Counts::from_values(names.into_iter().zip([1, 50, 1000])).metrics(Duration::ZERO);
        let misses = Row { metrics, ..row(Part::Whole) }.json(None);
        assert_eq!(
            (&misses["metric-value"], &misses["metric-unit"]),
            (&json!(2.0), &json!("of all branches"))
        );
        let more = json!([{ "metric-value": 1.0, "metric-unit": "misses per 1000 insn" }]);
        assert_eq!(misses["more-metrics"], more);
    }
}
