//! Running sums of a table without stacks.

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
    /// Returns true if any stack had more than one address.
    pub fn has_callers(&self) -> bool {
        self.rows.has_callers()
    }

    /// Returns the number of samples with an unnamed address in their stack.
    pub(crate) fn unnamed_samples(&self) -> u64 {
        self.rows.unnamed()
    }

    /// Returns the table. `profile` must be the one that was returned with the sums.
    pub fn table<'p>(&self, profile: &'p Profile) -> Table<'p> {
        Table::of(&self.rows, &self.entries, profile.locations())
    }
}

/// The names of the rows. One thread owns them, another the [`Adder`].
#[derive(Debug)]
pub(crate) struct Names(Entries);

/// New names of threads and locations for the [`Adder`].
#[derive(Debug, Default)]
pub(crate) struct NewNames(Places);

/// Adds samples on its own thread.
#[derive(Debug, Default)]
pub(crate) struct Adder {
    places: Places,
    rows: Rows,
}

impl Names {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self(Entries::new(columns))
    }

    /// Adds all threads, and the first `named` locations, whose names must be complete.
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

    /// Adds a sample of an event. Its stack has the first `kept` frames of the previous one, whose
    /// event and thread must be equal, and then these locations, outermost first. Their names must
    /// be known.
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
