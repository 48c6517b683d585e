//! The index of the events by the ids in records.

use std::vec::Vec;

use perf_abi::SampleType;
use perf_decode::{Error, Layouts, RawRecord, Result, SampleLayout};

use super::FileEvent;

/// Finds the event of a record.
///
/// Ids are in sorted tables, each less than half as long as the one before it. In the pipe form
/// events are added between records: new ids make a new table, which is merged with the preceding
/// ones that are not longer than twice its own length. So an id is moved a logarithmic number of
/// times, and not once per event.
#[derive(Clone, Debug)]
pub(super) struct Index {
    lookup: Lookup,
    tables: Vec<Table>,
    /// Number of the events that were added.
    len: usize,
    /// The bits of `sample_type` of the events that can be found by an id; others only count.
    fields: SampleType,
    /// Whether all events have the layout of the first.
    is_uniform: bool,
    conflict: Option<Error>,
    repeated: u64,
}

/// How the event of a record is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    /// There is one event, or all have the same layout and none has an id: the first event.
    First,
    /// By the id in the record.
    ById,
    /// Not at all.
    Conflict(Error),
}

/// Ids of events, sorted.
#[derive(Clone, Debug)]
struct Table {
    /// Each id with the index of its event.
    rows: Vec<(u64, usize)>,
    /// The layouts of these events, in the same order; `None` if the ids are at different offsets.
    layouts: Option<Layouts<Vec<(u64, SampleLayout)>>>,
}

/// The bits by which the events with records are found, the first that any event has.
const CLASSES: [SampleType; 3] = [SampleType::IDENTIFIER, SampleType::ID, SampleType::all()];

impl Default for Index {
    fn default() -> Self {
        Self {
            lookup: Lookup::First,
            tables: Vec::new(),
            len: 0,
            fields: SampleType::empty(),
            is_uniform: true,
            conflict: None,
            repeated: 0,
        }
    }
}

impl Index {
    /// Returns the number of the events that were added.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of ids that more than one event has.
    pub(super) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Returns the index of the event that wrote a record.
    #[inline]
    pub(super) fn find(&self, record: RawRecord<'_>) -> Result<usize> {
        match (self.lookup, self.tables.as_slice()) {
            (Lookup::ById, [Table { rows, layouts: Some(layouts) }]) => {
                let (row, _) = layouts.find_entry(record)?;
                Ok(rows.get(row).map_or(0, |(_, event)| *event))
            }
            (Lookup::First, _) => Ok(0),
            (Lookup::ById, tables) => find_in(tables, record),
            (Lookup::Conflict(error), _) => Err(error),
        }
    }

    /// Returns the index of the event with this id.
    pub(super) fn with_id(&self, id: u64) -> Option<usize> {
        self.tables.iter().find_map(|table| table.with_id(id))
    }

    /// Adds the events that are not in it yet.
    #[cold]
    pub(super) fn add(&mut self, all: &[FileEvent]) {
        let new = all.get(self.len..).unwrap_or_default();
        self.is_uniform &=
            new.iter().all(|event| all.first().is_some_and(|first| first.layout == event.layout));
        let is_new = |fields: &SampleType| new.iter().any(|event| event.attr.sample_type.intersects(*fields));
        let fields = CLASSES.into_iter().find(|fields| *fields == self.fields || is_new(fields));
        let fields = fields.unwrap_or(self.fields);
        if fields != self.fields {
            // At most three times, because an added event cannot remove a bit of the others.
            self.fields = fields;
            self.tables.clear();
            (self.conflict, self.repeated, self.len) = (None, 0, 0);
        }
        let mut ids: Vec<(u64, usize)> = Vec::new();
        for (index, event) in all.iter().enumerate().skip(self.len) {
            if fields.is_empty() || event.attr.sample_type.intersects(fields) {
                ids.extend(event.ids.iter().map(|id| (*id, index)));
            }
        }
        self.len = all.len();
        let before = ids.len();
        ids.retain(|(id, _)| self.with_id(*id).is_none());
        // Sorted by id, then in file order, so that the first event with an id remains.
        ids.sort_unstable();
        ids.dedup_by_key(|(id, _)| *id);
        self.repeated += (before - ids.len()) as u64;
        if let Err(error) = self.push(ids, all) {
            self.conflict.get_or_insert(error);
        }
        self.lookup = match self.conflict {
            _ if all.len() < 2 => Lookup::First,
            None => Lookup::ById,
            Some(_) if self.is_uniform => Lookup::First,
            Some(error) => Lookup::Conflict(error),
        };
    }

    /// Adds a table of sorted ids, merged with the preceding ones that are not much longer.
    fn push(&mut self, mut ids: Vec<(u64, usize)>, all: &[FileEvent]) -> Result<()> {
        if ids.is_empty() && !self.tables.is_empty() {
            return Ok(());
        }
        while self.tables.last().is_some_and(|table| table.rows.len() <= 2 * ids.len()) {
            ids.extend(self.tables.pop().into_iter().flat_map(|table| table.rows));
        }
        #[expect(clippy::stable_sort_primitive, reason = "merges runs that are sorted already")]
        ids.sort();
        let layout = |row: &(u64, usize)| all.get(row.1).map(|event| (row.0, event.layout));
        let layouts = Layouts::from_sorted(ids.iter().filter_map(layout).collect());
        let first = |rows: &[(u64, usize)]| rows.first().and_then(layout);
        // The id must be at the same offset in the records of the other tables.
        let other = self.tables.first().and_then(|table| first(&table.rows));
        let shared = match (other, first(&ids)) {
            (Some(other), Some(own)) => Layouts::new([other, own]).map(drop),
            _ => Ok(()),
        };
        let result = shared.and(layouts.as_ref().map(drop).map_err(|error| *error));
        self.tables.push(Table { rows: ids, layouts: layouts.ok() });
        result
    }
}

impl Table {
    fn with_id(&self, id: u64) -> Option<usize> {
        let row = self.rows.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.rows.get(row).map(|(_, event)| *event)
    }

    /// Returns the index of the event that wrote a record, which must have an id.
    fn find(&self, record: RawRecord<'_>) -> Result<usize> {
        let no_id = Error::NoId { kind: record.kind() };
        let (row, layout) = self.layouts.as_ref().ok_or(no_id)?.find_entry(record)?;
        // The records of a table's only event need no id, unless there are other tables.
        match record.id(layout) {
            None if self.rows.len() == 1 => Err(no_id),
            Some(0) if self.rows.len() == 1 => Err(Error::UnknownId { id: 0 }),
            _ => Ok(self.rows.get(row).map_or(0, |(_, event)| *event)),
        }
    }
}

/// Finds the event of a record in one of several tables.
#[cold]
fn find_in(tables: &[Table], record: RawRecord<'_>) -> Result<usize> {
    let mut last = Err(Error::NoId { kind: record.kind() });
    for table in tables {
        last = table.find(record);
        match last {
            Err(Error::NoId { .. } | Error::UnknownId { .. }) => {}
            found => return found,
        }
    }
    last
}
