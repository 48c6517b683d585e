//! The events of a file, and which of them wrote a record.

use std::vec::Vec;

use perf_abi::{Attr, RecordType, SampleType};
use perf_decode::{Error, Layouts, RawRecord, Result, SampleLayout};

use crate::{FileAttr, swap};

/// An event of a file.
#[derive(Clone, Debug)]
pub struct Event {
    attr: Attr,
    bytes: Vec<u8>,
    ids: Vec<u64>,
    layout: SampleLayout,
    fields: swap::Fields,
}

impl Event {
    /// Returns the attr, see [`FileAttr::attr`].
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Returns the attr as it is in the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the ids, one per CPU or thread.
    #[must_use]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Returns the layout of its records.
    #[must_use]
    pub fn layout(&self) -> &SampleLayout {
        &self.layout
    }
}

/// The events of a file.
#[derive(Clone, Debug, Default)]
pub struct Events {
    all: Vec<Event>,
    lookup: Lookup,
    is_stale: bool,
    repeated: u64,
}

/// How the event of a record is found.
#[derive(Clone, Debug, Default)]
enum Lookup {
    /// There is one event, or all have the same layout and none has an id: the first event.
    #[default]
    First,
    /// By the id in the record: the index of the event for each row of the table.
    ById(Layouts<Vec<(u64, SampleLayout)>>, Vec<usize>),
    /// Not at all.
    Conflict(Error),
}

impl Events {
    /// Returns the events in the order of the file.
    #[must_use]
    pub fn as_slice(&self) -> &[Event] {
        &self.all
    }

    /// Returns the number of ids that more than one event has. The first event is taken for them.
    #[must_use]
    pub fn repeated_ids(&self) -> u64 {
        self.repeated
    }

    /// Returns the event that wrote a record of the kernel, and its index.
    ///
    /// Tools synthesize records with the id 0 or without an id. They have the layout of the first
    /// event.
    ///
    /// # Errors
    ///
    /// [`Error::NoId`] if there is no event, or if a sample has no id; [`Error::UnknownId`] if no
    /// event has the record's id; [`Error::IdConflict`] if the ids are at different offsets in the
    /// records of several events.
    #[inline]
    pub fn find(&self, record: RawRecord<'_>) -> Result<(usize, &Event)> {
        let index = match &self.lookup {
            Lookup::First => 0,
            Lookup::ById(layouts, indices) => match layouts.find_entry(record) {
                Ok((row, _)) => indices.get(row).copied().unwrap_or(0),
                Err(Error::NoId { .. } | Error::UnknownId { id: 0 })
                    if record.kind() != RecordType::SAMPLE =>
                {
                    0
                }
                Err(error) => return Err(error),
            },
            Lookup::Conflict(error) => return Err(*error),
        };
        self.all.get(index).map(|event| (index, event)).ok_or(Error::NoId { kind: record.kind() })
    }

    /// Swaps a record of the other byte order.
    pub(super) fn swap(&self, words: &mut [u64]) {
        swap::numbers(words);
        let event = RawRecord::from_words(words).ok().and_then(|raw| self.find(raw).ok());
        if let Some((_, event)) = event {
            event.fields.swap(words);
        }
    }

    /// Adds an event.
    pub(super) fn add(&mut self, attr: &FileAttr<'_>) {
        self.all.push(Event {
            attr: attr.attr(),
            bytes: attr.bytes().to_vec(),
            ids: attr.ids().iter().collect(),
            layout: SampleLayout::new(&attr.attr()),
            fields: swap::Fields::new(&attr.attr()),
        });
        self.is_stale = true;
    }

    /// Prepares [`find`](Events::find) after events were added.
    #[inline]
    pub(super) fn update(&mut self) {
        if self.is_stale {
            self.index();
        }
    }

    #[cold]
    fn index(&mut self) {
        self.is_stale = false;
        self.repeated = 0;
        if self.all.len() < 2 {
            self.lookup = Lookup::First;
            return;
        }
        let mut ids: Vec<(u64, usize)> = Vec::new();
        for (index, event) in with_records(&self.all) {
            ids.extend(event.ids.iter().map(|id| (*id, index)));
        }
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup_by_key(|(id, _)| *id);
        self.repeated = (all - ids.len()) as u64;
        let layout = |index: usize| self.all.get(index).map(|event| event.layout);
        let table = ids.iter().filter_map(|&(id, index)| Some((id, layout(index)?))).collect();
        self.lookup = match Layouts::from_sorted(table) {
            Ok(layouts) => Lookup::ById(layouts, ids.into_iter().map(|(_, index)| index).collect()),
            Err(_) if self.all.iter().all(|event| Some(event.layout) == layout(0)) => Lookup::First,
            Err(error) => Lookup::Conflict(error),
        };
    }
}

/// Returns the events that can be found by an id, each with its index; all events if no one has an id.
///
/// Siblings that only count have an empty `sample_type` and no records.
fn with_records(events: &[Event]) -> Vec<(usize, &Event)> {
    [SampleType::IDENTIFIER, SampleType::ID, SampleType::all()]
        .into_iter()
        .map(|fields| {
            let has = |event: &Event| event.attr.sample_type.intersects(fields);
            events.iter().enumerate().filter(|(_, event)| has(event)).collect::<Vec<_>>()
        })
        .find(|found| !found.is_empty())
        .unwrap_or_else(|| events.iter().enumerate().collect())
}

#[cfg(test)]
mod tests;
