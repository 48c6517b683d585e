//! Rows as fields with a separator, as `perf stat -x` prints them.

use super::row::Row;

impl Row {
    /// Returns the lines of a row: time of the interval or `summary`, part, its number of CPUs, value, unit, event, cgroup, spread, time
    /// running in ns and in percent, metric and its unit. Another metric that the perf tool has for the event is a line
    /// with empty fields before it.
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
}

#[cfg(test)]
mod tests {
    use perf_session::{Counts, NamedEvent, System};

    use super::super::row::Value;
    use super::super::split::Part;
    use super::*;
    use perf_session::CpuTopology;
    use std::time::Duration;

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
        let parse = |name: &str| -> NamedEvent { perf_session::parse_event(name, &System::new()).unwrap() };
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
        // The perf tool has no misses for 1000 instructions.
        assert_eq!(row(4).fields(",", None), "1.50,msec,task-clock,100,50.00,1.00,of all branches");
    }
}
