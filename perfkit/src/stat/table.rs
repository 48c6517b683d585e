//! The table of `perfkit stat`.

use perf_session::{CountRow, CountTable};

use super::row::{Row, Value};

/// Returns the lines of the table, aligned: part and its number of CPUs, value with separated thousands, `~` if it is an
/// estimate, unit, event, its cgroup, and after `#` the metrics; then the spread, and the share of the time that the event ran.
pub(super) fn table(rows: &[Row]) -> Vec<String> {
    let fronts = fronts(rows);
    let events: Vec<&str> = rows.iter().map(|row| row.event.as_str()).collect();
    let event_width = width(&events);
    let metrics: Vec<Vec<String>> = rows.iter().map(metrics).collect();
    let metric_width = metrics.iter().map(|texts| width(texts)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for ((row, front), metrics) in rows.iter().zip(fronts).zip(metrics) {
        let mut metrics = metrics.into_iter();
        let first = line(row, event_width);
        let metric = metrics.next().unwrap_or_default();
        let remarks = format!("{metric:<metric_width$}  {}", first.remarks);
        let empty = " ".repeat(front.chars().count());
        lines.push((front, CountRow { remarks: remarks.trim_end().to_owned(), ..first }));
        lines.extend(metrics.map(|remarks| (empty.clone(), CountRow { remarks, ..CountRow::default() })));
    }
    let (fronts, lines): (Vec<String>, Vec<CountRow>) = lines.into_iter().unzip();
    let table = lines.into_iter().collect::<CountTable>().to_string();
    fronts.into_iter().zip(table.lines()).map(|(front, line)| front + line).collect()
}

/// Returns the columns before the value: the part, and its number of CPUs.
fn fronts(rows: &[Row]) -> Vec<String> {
    let labels: Vec<String> = rows.iter().filter_map(|row| row.part.label()).collect();
    let width = width(&labels);
    let front = |row: &Row| {
        let label = row.part.label()?;
        let cpus = if row.part.has_cpus() { format!("{:>3}  ", row.cpus) } else { String::new() };
        Some(format!("{label:<width$}  {cpus}"))
    };
    rows.iter().map(|row| front(row).unwrap_or_default()).collect()
}

fn width<T: AsRef<str>>(texts: &[T]) -> usize {
    texts.iter().map(|text| text.as_ref().chars().count()).max().unwrap_or(0)
}

/// Returns the metrics, with their numbers aligned on the right.
fn metrics(row: &Row) -> Vec<String> {
    let text = |metric: &perf_session::Metric| {
        let text = metric.to_string();
        let number = text.find(' ').unwrap_or(0);
        format!("#  {}{text}", " ".repeat(8_usize.saturating_sub(number)))
    };
    row.metrics.iter().map(text).collect()
}

fn line(row: &Row, event_width: usize) -> CountRow {
    let mut remarks = Vec::new();
    let mut value = row.value.text(if row.unit.is_empty() { 0 } else { 2 });
    if let Value::Counted { is_estimate, .. } = row.value {
        remarks.extend(row.spread.map(|percent| format!("+- {percent:.2} %")));
        value = CountRow::counted(&value, is_estimate);
        remarks.extend(is_estimate.then(|| CountRow::ran(row.percent_running)));
    }
    let name = match &row.cgroup {
        Some(cgroup) => format!("{:<event_width$}  {cgroup}", row.event).trim_end().to_owned(),
        None => row.event.clone(),
    };
    CountRow { value, unit: row.unit.clone(), name, remarks: remarks.join("  ") }
}

#[cfg(test)]
mod tests {
    use super::super::split::Part;
    use super::*;
    use perf_session::{Counts, CpuTopology, Metric, System, parse_event};
    use std::time::Duration;

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
}
