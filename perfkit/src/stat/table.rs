//! The table of `perfkit stat`.

use perf_session::{CountRow, CountTable};

use super::row::{Row, Value};

/// Returns the lines of the table, aligned.
pub(crate) fn table(rows: &[Row]) -> String {
    rows.iter().map(line).collect::<CountTable>().to_string()
}

/// Returns the line of a row: the value with separated thousands, `~` if it is an estimate, the spread, and the share of
/// the time that the event ran.
fn line(row: &Row) -> CountRow {
    let mut remarks = Vec::new();
    remarks.extend(row.spread.map(|percent| format!("+- {percent:.2} %")));
    let value = match row.value {
        Value::NotCounted => "<not counted>".to_owned(),
        Value::NotSupported => "<not supported>".to_owned(),
        Value::Counted { value, is_estimate } => {
            if is_estimate {
                remarks.push(CountRow::ran(row.percent_running));
            }
            let decimals = if row.unit.is_empty() { 0 } else { 2 };
            CountRow::counted(&format!("{value:.decimals$}"), is_estimate)
        }
    };
    CountRow { value, unit: row.unit.clone(), name: row.event.clone(), remarks: remarks.join("  ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::row::Reading;

    #[test]
    fn lines_have_the_spread_and_the_share_of_estimates() {
        let counted = |value, is_estimate| Reading {
            value: Value::Counted { value, is_estimate },
            enabled: 200,
            running: if is_estimate { 100 } else { 200 },
        };
        let rows = [
            Row::new("task-clock", "msec", &[counted(1234.5, false)]),
            Row::new("page-faults", "", &[counted(12_345.0, false), counted(12_345.0, false)]),
            Row::new("cycles:u", "", &[counted(2_000_000.0, true)]),
            Row::new("instructions", "", &[]),
        ];
        let lines = [
            "       1,234.50  msec  task-clock",
            "         12,345        page-faults   +- 0.00 %",
            "     ~2,000,000        cycles:u      ran 50.0 %",
            "<not supported>        instructions",
        ];
        assert_eq!(table(&rows), lines.join("\n"));
    }
}
