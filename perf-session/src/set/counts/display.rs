use std::fmt;

use perf_sys::decode::Scaled;

use super::{CountRow, CountTable, Counts, EventCounts};

/// The totals, one a line: the value in its unit, `~` before an estimate, `-` if the event never ran, and the
/// share of the time in which a multiplexed event was counted. Lost samples are there if some were lost.
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
        let (unit, name) = (self.unit().to_owned(), self.name().to_string());
        CountRow { value: self.value_text(), unit, name, remarks: self.remarks() }
    }

    fn value_text(&self) -> String {
        let (is_estimate, value) = match self.scaled() {
            Some(Scaled::Exact(value) | Scaled::Unscaled(value)) => (false, value),
            Some(Scaled::Estimate(value)) => (true, value),
            Some(Scaled::NeverRan) | None => return "-".to_owned(),
        };
        #[allow(clippy::float_cmp)] // the value of events without a scale
        let number = match self.in_unit().filter(|_| self.scale() != 1.0) {
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
    use perf_sys::Count;

    use super::super::ScopeCount;
    use super::*;
    use crate::set::Scope;

    fn event(name: &str, unit: &str, scale: f64, count: Count) -> EventCounts {
        let scope = Scope::cpu(0);
        let (label, is_repeated, is_failed) = (name.into(), false, false);
        let scopes = vec![ScopeCount { scope, pmu: None, label, count, is_repeated, is_failed }];
        EventCounts { unit: unit.into(), scale, scopes, ..EventCounts::named(&name.into()) }
    }

    fn count(value: u64, times: (u64, u64), lost: u64) -> Count {
        let (time_enabled, time_running) = (Some(times.0), Some(times.1));
        Count { value, time_enabled, time_running, id: None, lost: Some(lost) }
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
