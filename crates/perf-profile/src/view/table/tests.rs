//! Tables compared with a naive model.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::format::testing::{example, profiles};
use crate::profile::UNKNOWN;
use crate::view::testing;

const COLUMNS: &[Column] = &[Column::Comm, Column::Object, Column::Function];

fn text(table: &Table<'_>, event: EventId) -> Vec<String> {
    let line = |row: &Row<'_>| {
        let Cost { self_value, self_count, total_value, total_count } = row.cost(event);
        format!("{total_value}/{total_count} {self_value}/{self_count} {}", row.entry)
    };
    table.rows.iter().map(line).collect()
}

#[test]
fn rows_have_the_values_of_their_functions_and_of_callees() {
    let profile = example(true);
    let clock = profile.event_ids().next().unwrap().0;
    let table = Table::new(&profile, &[Column::Function, Column::Object]).sorted(clock, Order::ByTotal);
    let lines = [
        "750001/3 0/0 main (sort \"it\")",
        "500000/2 500000/2 less\n\"than\"\u{1b}[31m (sort \"it\")",
        "500000/2 0/0 compare<a; b> (sort \"it\")",
        "500000/2 500000/2 [unknown] ([unknown])",
        "250001/1 250001/1 do_syscall_64 ([kernel.kallsyms])",
        "250001/1 0/0 [unknown] (sort \"it\")",
    ];
    let mut expected = lines.map(str::to_owned);
    let mut found = text(&table, clock);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(table.rows[0].entry.function, Some("main"));
    assert!(
        table
            .rows
            .windows(2)
            .all(|rows| { rows[0].cost(clock).total_value >= rows[1].cost(clock).total_value })
    );

    let by_self = Table::new(&profile, &[Column::Function]).sorted(clock, Order::BySelf);
    assert_eq!(by_self.rows.last().unwrap().entry.function, Some("compare<a; b>"));
    assert_eq!(text(&Table::new(&profile, &[Column::Comm, Column::Pid, Column::Tid]), clock).len(), 2);
    let lines = Table::new(&profile, &[Column::Line]);
    assert!(
        lines
            .rows
            .iter()
            .any(|row| row.entry.line == Some(("/src/less.h", 4)) && row.cost(clock).self_count == 2)
    );
    assert!(lines.rows.iter().any(|row| row.entry.line == Some((UNKNOWN, 0))));
    // Inlined functions are not callees in another object.
    let objects = Table::new(&profile, &[Column::Object]);
    let program = objects.rows.iter().find(|row| row.entry.object == Some("/usr/bin/sort \"it\""));
    assert_eq!(program.unwrap().cost(clock).self_count, 2);
    assert_eq!(Table::new(&profile, &[]).rows[0].cost(clock).self_count, 5);
}

proptest! {
    #[test]
    fn tables_are_those_of_the_naive_model(profile in profiles()) {
        let mut model: BTreeMap<_, BTreeMap<EventId, Cost>> = BTreeMap::new();
        for sample in testing::samples(&profile) {
            let value = Value { value: sample.value, count: sample.count };
            let mut seen = HashSet::new();
            for (index, named) in sample.stack.iter().enumerate() {
                if seen.insert(named) {
                    let row = model.entry((sample.comm.clone(), named.clone())).or_default();
                    let cost = row.entry(sample.event).or_default();
                    cost.add_total(value);
                    if index == 0 {
                        cost.add_self(value);
                    }
                }
            }
        }
        let table = Table::new(&profile, COLUMNS);
        prop_assert_eq!(table.rows.len(), model.len());
        for row in table.rows {
            let entry = row.entry;
            let text = |text: Option<&str>| text.unwrap().to_owned();
            let named = (text(entry.function), text(entry.object), entry.is_kernel);
            let costs = &model[&(text(entry.comm), named)];
            for (event, _) in profile.event_ids() {
                prop_assert_eq!(row.cost(event), costs.get(&event).copied().unwrap_or_default());
            }
        }
    }
}
