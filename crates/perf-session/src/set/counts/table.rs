//! Counts as text in aligned columns.

use std::fmt;

use perf_ring::decode::Scaled;

use super::{Counts, EventCounts};
use crate::columns::Columns;

/// A table of counts, one a line: value, unit, name and remarks, without a line break at the end.
///
/// [`Counts`](crate::Counts) prints itself by it. A program that has its own values, such as means
/// of several runs, makes the rows.
#[derive(Clone, Debug, Default)]
pub struct CountTable {
    rows: Vec<CountRow>,
}

/// A line of a [`CountTable`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountRow {
    /// The value as text: see [`CountRow::counted`].
    pub value: String,
    /// The unit of the value; empty for a number of events.
    pub unit: String,
    /// The name of the event.
    pub name: String,
    /// Remarks on the count, such as the share of the time that the event ran; empty for nothing.
    pub remarks: String,
}

impl CountRow {
    /// Returns the text of a value: `~` before an estimate, and the digits of the whole number in
    /// groups of three.
    pub fn counted(number: &str, is_estimate: bool) -> String {
        let (whole, fraction) = number.find('.').map_or((number, ""), |point| number.split_at(point));
        let mut text = String::from(if is_estimate { "~" } else { "" });
        for (index, digit) in whole.char_indices() {
            if index != 0 && (whole.len() - index) % 3 == 0 && !text.ends_with('-') {
                text.push(',');
            }
            text.push(digit);
        }
        text + fraction
    }

    /// Returns the remark that an event ran for a part of the time, in percent.
    pub fn ran(percent: f64) -> String {
        format!("ran {percent:.1} %")
    }
}

impl FromIterator<CountRow> for CountTable {
    fn from_iter<T: IntoIterator<Item = CountRow>>(rows: T) -> Self {
        Self { rows: rows.into_iter().collect() }
    }
}

impl fmt::Display for CountTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_units = self.rows.iter().any(|row| !row.unit.is_empty());
        let cells = |row: &'_ CountRow| {
            let CountRow { value, unit, name, remarks } = row.clone();
            let unit = has_units.then_some(unit);
            [Some(value), unit, Some(name), Some(remarks)].into_iter().flatten().collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.rows.iter().map(cells).collect();
        let columns = Columns::new(&rows).right(0);
        let lines: Vec<_> = rows.iter().map(|row| columns.line(row)).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The totals, one a line: the value in its unit, `~` before an estimate, `-` if the event never
/// ran, and the share of the time in which a multiplexed event was counted. Lost samples are there
/// if some were lost.
///
/// ```text
/// 1,519,728  ns  task-clock
///   ~81,320      cycles      ran 50.0 %
/// ```
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().map(EventCounts::row).collect::<CountTable>().fmt(f)
    }
}

impl EventCounts {
    fn row(&self) -> CountRow {
        let (unit, name) = (self.unit.to_string(), self.name.to_string());
        CountRow { value: self.value_text(), unit, name, remarks: self.remarks() }
    }

    fn value_text(&self) -> String {
        let (is_estimate, value) = match self.scaled() {
            Some(Scaled::Exact(value) | Scaled::Unscaled(value)) => (false, value),
            Some(Scaled::Estimate(value)) => (true, value),
            Some(Scaled::NeverRan) | None => return "-".to_owned(),
        };
        #[allow(clippy::float_cmp)] // the value of events without a scale
        let number = match self.in_unit().filter(|_| self.scale != 1.0) {
            Some(scaled) => format!("{scaled:.2}"),
            None => value.to_string(),
        };
        CountRow::counted(&number, is_estimate)
    }

    #[allow(clippy::cast_precision_loss)] // printed with fewer digits
    fn remarks(&self) -> String {
        let total = self.total();
        let mut remarks = Vec::new();
        if let (Some(enabled @ 1..), Some(running)) = (total.time_enabled, total.time_running) {
            if running < enabled {
                remarks.push(CountRow::ran(running as f64 * 100.0 / enabled as f64));
            }
        }
        if let Some(lost @ 1..) = total.lost {
            remarks.push(format!("lost {}", CountRow::counted(&lost.to_string(), false)));
        }
        remarks.join("  ")
    }
}

#[cfg(test)]
mod tests {
    use perf_ring::Count;

    use super::*;
    use crate::set::{Scope, ScopeCount};

    #[test]
    fn digits_of_the_whole_number_are_in_groups_of_three() {
        for (number, text) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("12345678", "12,345,678"),
            ("-1000.2555", "-1,000.2555"),
            ("-100", "-100"),
        ] {
            assert_eq!(CountRow::counted(number, false), text);
        }
        assert_eq!(CountRow::counted("1000", true), "~1,000");
    }

    #[test]
    fn columns_are_aligned_and_names_are_padded_before_remarks_only() {
        let row = |value: &str, unit: &str, name: &str, remarks: &str| CountRow {
            value: value.to_owned(),
            unit: unit.to_owned(),
            name: name.to_owned(),
            remarks: remarks.to_owned(),
        };
        let rows = [row("1,234.50", "msec", "task-clock", ""), row("~20", "", "cycles", "ran 50.0 %")];
        let lines = ["1,234.50  msec  task-clock", "     ~20        cycles      ran 50.0 %"];
        assert_eq!(CountTable::from_iter(rows.clone()).to_string(), lines.join("\n"));
        let [_, cycles] = rows;
        assert_eq!(CountTable::from_iter([cycles]).to_string(), "~20  cycles  ran 50.0 %");
    }

    fn event(name: &str, unit: &str, scale: f64, count: Count) -> EventCounts {
        let scope = Scope::cpu(0);
        let (label, is_repeated, is_failed) = (name.into(), false, false);
        let scopes = vec![ScopeCount { scope, pmu: None, label, count, is_repeated, is_failed }];
        EventCounts { unit: unit.into(), scale, scopes, ..EventCounts::named(&name.into()) }
    }

    fn count(value: u64, times: (u64, u64), lost: u64) -> Count {
        let mut count = Count::new(value);
        (count.time_enabled, count.time_running) = (Some(times.0), Some(times.1));
        count.lost = Some(lost);
        count
    }

    #[test]
    fn totals_have_units_and_separators_and_only_losses_that_happened() {
        let events = vec![
            event("task-clock", "ns", 1.0, count(1_519_728, (9, 9), 0)),
            event("cycles", "", 1.0, count(40_660, (8, 4), 1_000)),
            event("energy", "J", 0.5, count(3, (8, 8), 0)),
            event("never", "", 1.0, count(0, (8, 0), 0)),
        ];
        let lines = [
            "1,519,728  ns  task-clock",
            "  ~81,320      cycles      ran 50.0 %  lost 1,000",
            "     1.50  J   energy",
            "        -      never       ran 0.0 %",
        ];
        assert_eq!(Counts { events }.to_string(), lines.join("\n"));
    }
}
