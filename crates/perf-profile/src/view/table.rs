//! Tables: the values of each function, object or thread.

use std::cmp::Reverse;

use super::entry::{Column, Entries, Entry, HeadId, Places};
use super::rows::Rows;
use crate::profile::{EventId, Locations, Profile, Sample, StackId};

/// The values of a row or node for one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Sum of the samples in it without its callees: the perf tool's column `Self`.
    pub self_value: u64,
    /// Number of these samples.
    pub self_count: u64,
    /// Sum of the samples in it and its callees, each sample once: the perf tool's column
    /// `Children`.
    pub total_value: u64,
    /// Number of these samples.
    pub total_count: u64,
}

impl Cost {
    pub(super) fn add_self(&mut self, value: Value) {
        self.self_value = self.self_value.saturating_add(value.value);
        self.self_count = self.self_count.saturating_add(value.count);
    }

    pub(super) fn add_total(&mut self, value: Value) {
        self.total_value = self.total_value.saturating_add(value.value);
        self.total_count = self.total_count.saturating_add(value.count);
    }
}

/// A sum of samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    pub(super) value: u64,
    pub(super) count: u64,
}

impl Value {
    pub(super) fn add(&mut self, other: Self) {
        self.value = self.value.saturating_add(other.value);
        self.count = self.count.saturating_add(other.count);
    }

    /// Returns the difference, which stops at 0.
    pub(super) fn without(self, part: Self) -> Self {
        Self { value: self.value.saturating_sub(part.value), count: self.count.saturating_sub(part.count) }
    }
}

/// The value to sort rows by, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// [`Cost::self_value`].
    BySelf,
    /// [`Cost::total_value`].
    ByTotal,
}

impl Order {
    fn value(self, cost: Cost) -> (u64, u64) {
        match self {
            Self::BySelf => (cost.self_value, cost.total_value),
            Self::ByTotal => (cost.total_value, cost.self_value),
        }
    }
}

/// A row of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row<'p> {
    /// The subject of the row.
    pub entry: Entry<'p>,
    /// By event.
    costs: Vec<Cost>,
}

impl Row<'_> {
    /// Returns the values of an event.
    pub fn cost(&self, event: EventId) -> Cost {
        self.costs.get(event.index()).copied().unwrap_or_default()
    }
}

/// The values of each function, object, thread or line of a profile, according to the chosen
/// [`Column`]s.
///
/// A sample counts for the innermost function of its stack, possibly an inlined one, as its self
/// value, and for each function of the stack as its total, once even with recursion.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Column, Event, Frame, Function, Locations, Order, ProfileBuilder, Table};
///
/// let mut locations = Locations::new();
/// let [main, sort] = ["main", "sort"].map(|name| {
///     let name = locations.intern(name);
///     let function = locations.add_function(Function { name, file: None });
///     let location = locations.add(None, 0x1000);
///     locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
///     location
/// });
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("a"));
/// let stack = builder.stack(&[sort, main]);
/// builder.sample(event, thread, stack, 1_000_000);
/// let profile = builder.finish(locations);
///
/// let table = Table::new(&profile, &[Column::Function]).sorted(event, Order::BySelf);
/// let row = &table.rows[0];
/// assert_eq!(row.entry.function, Some("sort"));
/// assert_eq!(row.cost(event).self_value, 1_000_000);
/// assert_eq!(table.rows[1].cost(event).total_value, 1_000_000);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table<'p> {
    /// The rows in the order of [`sorted`](Self::sorted), or in no particular order.
    pub rows: Vec<Row<'p>>,
}

impl<'p> Table<'p> {
    /// Builds the table of a profile, with a row for each combination of these columns' values.
    ///
    /// The time grows with the frames of the different stacks of each thread name, process and
    /// thread, as far as they are columns.
    pub fn new(profile: &'p Profile, columns: &[Column]) -> Self {
        let entries = Entries::of(profile, columns);
        let mut rows = Rows::default();
        let mut stack = Vec::new();
        for (event, _) in profile.event_ids() {
            for sum in sums(profile, entries.places(), event) {
                stack.clear();
                stack.extend(profile.stack(sum.stack));
                stack.reverse();
                rows.add(entries.places(), (event.index(), sum.head), sum.value, 0, &stack);
            }
        }
        rows.finish();
        Self::of(&rows, &entries, profile.locations())
    }

    pub(super) fn of(rows: &Rows, entries: &Entries, locations: &'p Locations) -> Self {
        let row =
            |(head, part, costs)| Row { entry: entries.entry(locations, Some(head), Some(part)), costs };
        Self { rows: rows.iter().map(row).collect() }
    }

    /// Sorts the rows by a value of an event, largest first. Equal rows are sorted by their
    /// entries.
    #[must_use]
    pub fn sorted(mut self, event: EventId, order: Order) -> Self {
        self.rows.sort_by_cached_key(|row| (Reverse(order.value(row.cost(event))), row.entry));
        self
    }
}

/// The sum of an event's samples with the same head and stack.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) head: HeadId,
    pub(super) stack: Option<StackId>,
    pub(super) value: Value,
}

/// Returns the sums of an event, grouped by head.
pub(super) fn sums(profile: &Profile, places: &Places, event: EventId) -> Vec<Sum> {
    let samples = profile.samples().iter().filter(|sample| sample.event == event && sample.count > 0);
    let sum = |sample: &Sample| Sum {
        head: places.head(sample.thread),
        stack: sample.stack,
        value: Value { value: sample.value, count: sample.count },
    };
    let mut sums: Vec<_> = samples.map(sum).collect();
    let key = |sum: &Sum| (sum.head, sum.stack);
    sums.sort_unstable_by_key(key);
    sums.dedup_by(|next, sum| {
        let is_same = key(next) == key(sum);
        if is_same {
            sum.value.add(next.value);
        }
        is_same
    });
    sums
}

#[cfg(test)]
mod tests;
