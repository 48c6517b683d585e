//! Whose record it is.

use perf_abi::SampleType;
use perf_decode::testing::capture::Event;
use perf_decode::{Error, Layouts, RawRecord, Result, SampleLayout};

/// A layout of each event that writes into the ring, by id: of events without ids only one, if that serves
/// them all.
pub(super) fn table(events: &[Event]) -> Vec<(u64, SampleLayout)> {
    let writers = writers(events);
    let mut table: Vec<_> =
        writers.iter().map(|(_, event)| (event.id, SampleLayout::new(&event.attr))).collect();
    let has_id = |(_, event): &(usize, &Event)| event.attr.sample_type.intersects(ID);
    if !writers.iter().any(has_id) {
        table.dedup_by_key(|(_, layout)| *layout);
    }
    table
}

/// What a record is found by.
const ID: SampleType = SampleType::IDENTIFIER.union(SampleType::ID);

/// The events that write into the ring, each with its index in the file.
///
/// The members of a group that only count have an empty `sample_type` and no record to be found by. So
/// where one event can be found by its id the others that cannot are left out.
fn writers(events: &[Event]) -> Vec<(usize, &Event)> {
    let with = |wanted: SampleType| -> Vec<_> {
        events.iter().enumerate().filter(|(_, event)| event.attr.sample_type.intersects(wanted)).collect()
    };
    [SampleType::IDENTIFIER, SampleType::ID, SampleType::all()]
        .into_iter()
        .map(with)
        .find(|found| events.len() > 1 && !found.is_empty())
        .unwrap_or_else(|| events.iter().enumerate().collect())
}

/// What a record's event says about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'t> {
    pub(super) layout: &'t SampleLayout,
    /// The event and its index in the file; `None` if there is no other.
    pub(super) event: Option<(usize, &'t Event)>,
}

/// Finds the event of a record.
#[derive(Debug)]
pub(super) struct Writers<'t> {
    layouts: Found<'t>,
    /// Sorted by id, with their indices in the file.
    events: Vec<(usize, &'t Event)>,
}

#[derive(Debug)]
enum Found<'t> {
    /// There is one event, or all have the same layout and no ids. Which of those wrote a record is not known.
    Always(&'t SampleLayout),
    /// Events that keep their ids in different places cannot be told apart: no record has an event then.
    ById(Result<Layouts<&'t mut [(u64, SampleLayout)]>>),
}

impl<'t> Writers<'t> {
    /// Of the same events as `table`.
    pub(super) fn new(events: &'t [Event], table: &'t mut [(u64, SampleLayout)]) -> Self {
        let mut writers = writers(events);
        let layouts = match (events.len() == 1 || writers.len() > table.len(), table) {
            (true, [(_, only)]) => Found::Always(only),
            (_, table) => Found::ById(Layouts::new(table)),
        };
        writers.sort_by_key(|(_, event)| event.id);
        Self { layouts, events: writers }
    }

    /// The event of a record of a known kind.
    pub(super) fn find(&self, record: RawRecord<'_>) -> Result<Owner<'_>> {
        let layout = match &self.layouts {
            Found::Always(layout) => return Ok(Owner { layout, event: None }),
            Found::ById(layouts) => layouts.as_ref().map_err(|error| *error)?.find(record)?,
        };
        let event = match (record.id(layout), self.events.as_slice()) {
            // An id that is not this event's has been refused.
            (_, &[only]) => only,
            // The layout was found by the id, so the record is truncated after it: decoding says where.
            (None, _) => return Ok(Owner { layout, event: None }),
            (Some(id), events) => {
                let place = events.binary_search_by_key(&id, |(_, event)| event.id);
                let place = place.ok().and_then(|place| events.get(place));
                *place.ok_or(Error::UnknownId { id })?
            }
        };
        Ok(Owner { layout, event: Some(event) })
    }
}
