//! The sums of a table without stacks: to which samples are added as they come.

use std::fmt;

use super::entry::{Column, Entries, Places};
use super::rows::Rows;
use super::table::{Table, Value};
use crate::profile::{EventId, LocationId, Locations, Profile, Thread, ThreadId};

/// The sums of a [`Table`] whose profile keeps no stacks: returned by
/// [`Collector::finish_table`](crate::Collector::finish_table).
#[derive(Clone)]
pub struct TableSums {
    entries: Entries,
    rows: Rows,
}

impl TableSums {
    /// Returns whether a stack had more than one address.
    pub fn has_callers(&self) -> bool {
        self.rows.has_callers()
    }

    /// Returns the number of samples with an address without a name in their stack.
    pub(crate) fn unnamed_samples(&self) -> u64 {
        self.rows.unnamed()
    }

    /// Returns the table. The profile is the one that was returned with the sums.
    pub fn table<'p>(&self, profile: &'p Profile) -> Table<'p> {
        Table::of(&self.rows, &self.entries, profile.locations())
    }
}

/// The names of the rows. They are of one thread, and the [`Adder`] of another one.
#[derive(Debug)]
pub(crate) struct Names(Entries);

/// The names of threads and locations that are new, for the [`Adder`].
#[derive(Debug, Default)]
pub(crate) struct NewNames(Places);

/// Adds samples.
#[derive(Debug, Default)]
pub(crate) struct Adder {
    places: Places,
    rows: Rows,
}

impl Names {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self(Entries::new(columns))
    }

    /// Adds all threads, and the first `named` locations: those that have names.
    pub(crate) fn add(&mut self, threads: &[Thread], locations: &Locations, named: usize) -> NewNames {
        let known = self.0.places().counts();
        self.0.add(threads, locations, named);
        NewNames(self.0.places().since(known))
    }

    pub(crate) fn with_sums(self, mut adder: Adder) -> TableSums {
        adder.rows.finish();
        TableSums { entries: self.0, rows: adder.rows }
    }
}

impl Adder {
    pub(crate) fn add_names(&mut self, names: NewNames) {
        self.places.append(names.0);
    }

    /// Adds a sample of an event. Its stack has the first `kept` frames of the one before, which was of the same event and
    /// thread, and then these locations, the outermost first. Their names are there.
    pub(crate) fn add(
        &mut self,
        event: EventId,
        thread: ThreadId,
        value: u64,
        kept: usize,
        locations: &[LocationId],
    ) {
        let rows = (event.index(), self.places.head(thread));
        self.rows.add(&self.places, rows, Value { value, count: 1 }, kept, locations);
    }
}

impl fmt::Debug for TableSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableSums").field("has_callers", &self.has_callers()).finish_non_exhaustive()
    }
}
