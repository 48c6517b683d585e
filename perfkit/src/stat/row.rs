//! One event of a part, and its forms: lines of the table, fields with a separator, JSON.

use perf_session::{Columns, CountRow, Metric, MetricKind};
use serde_json::{Map, Value as Json, json};

use super::split::Part;

/// The count of one event, of one run or the mean of several.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The part in its column; the whole has no column.
    pub(super) part: Part,
    /// Number of CPUs of the part on which the event counts; all CPUs for an unsupported event.
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

/// The value of an event, or the reason why it has no value.
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

    pub(super) fn is_zero(&self) -> bool {
        matches!(self.value, Value::Counted { value, .. } if value == 0.0)
    }

    /// Returns the fields as `perf stat -x` prints them: time of the interval or `summary`, part,
    /// its number of CPUs, value, unit, event, cgroup, spread, time running in ns and in percent,
    /// metric and its unit. Another metric that the perf tool has for the event is a line with
    /// empty fields before it.
    pub(super) fn fields(&self, separator: &str, interval: Option<&str>) -> String {
        let mut front: Vec<String> = interval.map(|text| format!("{text:>16}")).into_iter().collect();
        if let Some(label) = self.part.label() {
            front.push(label);
            front.extend(self.part.has_cpus().then(|| self.cpus.to_string()));
        }
        let decimals = if self.unit.is_empty() { 0 } else { 2 };
        let mut fields = vec![self.value.text(decimals), self.unit.clone(), self.event.clone()];
        fields.extend(self.cgroup.clone());
        fields.extend(self.spread.map(|percent| format!("{percent:.2}%")));
        fields.extend([format!("{:.0}", self.running), format!("{:.2}", self.percent_running)]);
        let empty = vec![String::new(); fields.len()];
        let mut metrics = self.metrics_of_perf().map(|metric| [metric.number(), metric.unit().to_owned()]);
        let first = metrics.next().unwrap_or_default();
        let line = |fields: &[String], metric: &[String]| [&front, fields, metric].concat().join(separator);
        let mut lines = line(&fields, &first);
        for metric in metrics {
            lines.push('\n');
            lines.push_str(&line(&empty, &metric));
        }
        lines
    }

    /// Returns the metrics that the perf tool has too.
    fn metrics_of_perf(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter().filter(|metric| metric.kind != MetricKind::MissesPerKiloInsn)
    }

    /// Returns an object with the keys of `perf stat --json-output`. A second metric, and further
    /// ones, are in `more-metrics`, which the perf tool does not have.
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

impl Value {
    /// Returns the value with this number of decimals, or the reason why it is missing.
    pub(super) fn text(self, decimals: usize) -> String {
        match self {
            Self::Counted { value, .. } => format!("{value:.decimals$}"),
            Self::NotCounted => "<not counted>".to_owned(),
            Self::NotSupported => "<not supported>".to_owned(),
        }
    }
}

/// Rounds to two decimals.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Returns the lines of the table, aligned: part and its number of CPUs, value with separated
/// thousands, `~` if it is an estimate, unit, event, its cgroup, and after `#` the metrics; then
/// the spread, and the share of the time that the event ran.
pub(super) fn table(rows: &[Row]) -> Vec<String> {
    let has = |column: fn(&Row) -> bool| rows.iter().any(column);
    let (has_parts, has_cpus) = (has(|row| row.part.label().is_some()), has(|row| row.part.has_cpus()));
    let (has_units, has_cgroups) = (has(|row| !row.unit.is_empty()), has(|row| row.cgroup.is_some()));
    let value_column = usize::from(has_parts) + usize::from(has_cpus);
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let mut metrics = row.metrics.iter().map(metric);
        let (value, remarks) = value_and_remarks(row);
        let mut line = Vec::new();
        line.extend(has_parts.then(|| row.part.label().unwrap_or_default()));
        line.extend(has_cpus.then(|| format!("{:>3}", row.cpus)));
        line.push(value);
        line.extend(has_units.then(|| row.unit.clone()));
        line.push(row.event.clone());
        line.extend(has_cgroups.then(|| row.cgroup.clone().unwrap_or_default()));
        let before = vec![String::new(); line.len()];
        line.extend([metrics.next().unwrap_or_default(), remarks]);
        lines.push(line);
        lines.extend(metrics.map(|metric| [&before[..], &[metric]].concat()));
    }
    let columns = Columns::new(&lines).right(value_column);
    lines.iter().map(|line| columns.line(line)).collect()
}

/// Returns a metric, with its number aligned on the right.
fn metric(metric: &Metric) -> String {
    let text = metric.to_string();
    let number = text.find(' ').unwrap_or(0);
    format!("#  {}{text}", " ".repeat(8_usize.saturating_sub(number)))
}

fn value_and_remarks(row: &Row) -> (String, String) {
    let value = row.value.text(if row.unit.is_empty() { 0 } else { 2 });
    let Value::Counted { is_estimate, .. } = row.value else { return (value, String::new()) };
    let spread = row.spread.map(|percent| format!("+- {percent:.2} %"));
    let ran = is_estimate.then(|| CountRow::ran(row.percent_running));
    let remarks: Vec<_> = spread.into_iter().chain(ran).collect();
    (CountRow::counted(&value, is_estimate), remarks.join("  "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use perf_session::{Counts, CpuTopology, System, parse_event};

    use super::*;

    fn row(event: &str, unit: &str, value: f64) -> Row {
        let value = Value::Counted { value, is_estimate: false };
        Row { unit: unit.to_owned(), value, ..Row::not_supported(Part::Whole, 1, event, false) }
    }

    #[test]
    fn lines_have_the_spread_and_the_share_of_estimates() {
        let estimate = Value::Counted { value: 2_000_000.0, is_estimate: true };
        let rows = [
            row("task-clock", "msec", 1234.5),
            Row { spread: Some(0.0), ..row("page-faults", "", 12_345.0) },
            Row { value: estimate, percent_running: 50.0, ..row("cycles:u", "", 0.0) },
            Row::not_supported(Part::Whole, 1, "instructions", true),
        ];
        let lines = [
            "       1,234.50  msec  task-clock",
            "         12,345        page-faults   +- 0.00 %",
            "     ~2,000,000        cycles:u      ran 50.0 %",
            "<not supported>        instructions",
        ];
        assert_eq!(
            table(&rows),
            lines.map(|line| line.replace("   +-", "     +-").replace("      ran", "        ran"))
        );
    }

    #[test]
    fn metrics_follow_the_events_and_further_ones_are_in_the_next_lines() {
        let events = ["task-clock", "page-faults", "instructions", "branches", "branch-misses"];
        let parsed = events.map(|name| parse_event(name, &System::new()).unwrap());
        let values = [5_000_000, 100, 20_000_000, 4_000_000, 40_000];
        let counts = Counts::from_values(parsed.into_iter().zip(values));
        let metrics = counts.metrics(Duration::from_millis(10));
        let of =
            |event| metrics.iter().filter(|metric| metric.event == event).copied().collect::<Vec<Metric>>();
        let rows: Vec<Row> = events
            .into_iter()
            .enumerate()
            .map(|(index, name)| Row { metrics: of(index), ..row(name, "", 7.0) })
            .collect();
        assert_eq!(
            table(&rows),
            [
                "7  task-clock     #     0.500 CPUs utilized",
                "7  page-faults    #    20.000 K/sec",
                "7  instructions",
                "7  branches       #   800.000 M/sec",
                "7  branch-misses  #     1.00% of all branches",
                "                  #      2.00 misses per 1000 insn",
            ]
        );
    }

    #[test]
    fn cgroup_follows_the_event() {
        let of = |event, cgroup: &str| Row { cgroup: Some(cgroup.to_owned()), ..row(event, "", 7.0) };
        let lines = ["7  faults     a", "7  cpu-clock  b/c", "7  faults"];
        assert_eq!(table(&[of("faults", "a"), of("cpu-clock", "b/c"), of("faults", "")]), lines);
    }

    #[test]
    fn parts_are_in_front() {
        let core = |core| Part::Core(CpuTopology::new(0, 0, core));
        let rows = [
            Row { part: core(1), cpus: 2, ..row("faults", "", 7.0) },
            Row { part: core(11), cpus: 1, ..row("faults", "", 10.0) },
        ];
        assert_eq!(table(&rows), ["S0-D0-C1     2   7  faults", "S0-D0-C11    1  10  faults"]);
    }

    fn clock() -> Row {
        Row {
            part: Part::Whole,
            cpus: 2,
            event: "task-clock".to_owned(),
            cgroup: None,
            unit: "msec".to_owned(),
            value: Value::Counted { value: 1.5, is_estimate: true },
            running: 100.0,
            percent_running: 50.0,
            spread: None,
            metrics: Vec::new(),
        }
    }

    #[test]
    fn fields_have_the_order_of_the_perf_tool() {
        let line = |row: &Row, interval| row.fields(",", interval);
        assert_eq!(line(&clock(), None), "1.50,msec,task-clock,100,50.00,,");
        assert_eq!(line(&clock(), Some("0.250000000")), "     0.250000000,1.50,msec,task-clock,100,50.00,,");
        assert_eq!(clock().fields(";", None), "1.50;msec;task-clock;100;50.00;;");
        let runs = Row { spread: Some(3.0), ..clock() };
        assert_eq!(line(&runs, Some("summary")), "         summary,1.50,msec,task-clock,3.00%,100,50.00,,");
        assert_eq!(line(&runs, None), "1.50,msec,task-clock,3.00%,100,50.00,,");
        let grouped = Row { cgroup: Some("web".to_owned()), ..runs };
        assert_eq!(line(&grouped, None), "1.50,msec,task-clock,web,3.00%,100,50.00,,");
        let missing = Row::not_supported(Part::Cpu(1), 1, "cycles", false);
        assert_eq!(line(&missing, None), "CPU1,<not supported>,,cycles,0,100.00,,");
    }

    #[test]
    fn parts_are_in_front_with_their_number_of_cpus() {
        let line = |part| Row { part, ..clock() }.fields(",", Some("1.000000000"));
        let place = CpuTopology::new(0, 1, 2);
        for (part, expected) in [
            (Part::Cpu(3), "CPU3"),
            (Part::Core(place), "S0-D1-C2,2"),
            (Part::Die(0, 1), "S0-D1,2"),
            (Part::Socket(0), "S0,2"),
            (Part::Thread(7, "sh".to_owned()), "sh-7"),
        ] {
            assert_eq!(line(part), format!("     1.000000000,{expected},1.50,msec,task-clock,100,50.00,,"));
        }
    }

    #[test]
    fn second_metric_of_the_perf_tool_is_in_the_columns_of_the_first() {
        let parse = |name: &str| parse_event(name, &System::new()).unwrap();
        let names = ["instructions", "cycles", "stalled-cycles-backend", "branches", "branch-misses"];
        let counts = Counts::from_values(names.map(parse).into_iter().zip([300, 200, 30, 100, 1]));
        let metrics = counts.metrics(Duration::ZERO);
        let row = |event| Row {
            metrics: metrics.iter().filter(|it| it.event == event).copied().collect(),
            ..clock()
        };
        let lines = Row { spread: Some(0.0), ..row(0) }.fields(",", None);
        assert_eq!(
            lines,
            "1.50,msec,task-clock,0.00%,100,50.00,1.50,insn per cycle\n,,,,,,0.10,stalled cycles per insn"
        );
        // The perf tool does not print misses per 1000 instructions.
        assert_eq!(row(4).fields(",", None), "1.50,msec,task-clock,100,50.00,1.00,of all branches");
    }

    fn clock_of(part: Part) -> Row {
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
            clock_of(Part::Whole).json(Some(1.0)).to_string(),
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
        let core = clock_of(Part::Core(CpuTopology::new(0, 0, 1))).json(None);
        assert_eq!((&core["core"], &core["aggregate-number"]), (&json!("S0-D0-C1"), &json!(2)));
    }

    #[test]
    fn metrics_after_the_first_have_their_own_key() {
        let parse = |name: &str| parse_event(name, &System::new()).unwrap();
        let names = ["branch-misses", "branches", "instructions"].map(parse);
        let metrics = Counts::from_values(names.into_iter().zip([1, 50, 1000])).metrics(Duration::ZERO);
        let misses = Row { metrics, ..clock_of(Part::Whole) }.json(None);
        assert_eq!(
            (&misses["metric-value"], &misses["metric-unit"]),
            (&json!(2.0), &json!("of all branches"))
        );
        let more = json!([{ "metric-value": 1.0, "metric-unit": "misses per 1000 insn" }]);
        assert_eq!(misses["more-metrics"], more);
    }
}
