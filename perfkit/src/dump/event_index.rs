//! The event that wrote a record.

use perf_abi::SampleType;
use perf_decode::testing::capture::Event;
use perf_decode::{Layouts, RawRecord, Result, SampleLayout};

/// The layout of a record and its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'t> {
    pub(super) layout: &'t SampleLayout,
    /// The event with its index in the file; `None` if it is the only one, or unknown.
    pub(super) event: Option<(usize, &'t Event)>,
}

/// The events of a ring, to find those of its records.
#[derive(Debug)]
pub(super) struct EventIndex<'t> {
    lookup: Lookup,
    /// Sorted by id, with their indices in the file.
    events: Vec<(usize, &'t Event)>,
}

#[derive(Debug)]
enum Lookup {
    /// The layout of all records: there is one event, or several with one layout and without ids.
    Single(SampleLayout),
    /// By the ids in the records, or the reason why the events cannot be distinguished.
    ById(Result<Layouts<Vec<(u64, SampleLayout)>>>),
}

impl<'t> EventIndex<'t> {
    pub(super) fn new(events: &'t [Event]) -> Self {
        let is_single = events.len() == 1;
        let mut events = with_records(events);
        events.sort_by_key(|(_, event)| event.id);
        let layout = |(_, event): &(usize, &Event)| SampleLayout::new(&event.attr);
        let has_id = |(_, event): &(usize, &Event)| event.attr.sample_type.intersects(ID);
        let are_equal = events.len() > 1
            && !events.iter().any(has_id)
            && events.iter().all(|event| events.first().map(layout) == Some(layout(event)));
        let lookup = match events.first() {
            Some(only) if is_single || are_equal => Lookup::Single(layout(only)),
            _ => Lookup::ById(Layouts::from_sorted(
                events.iter().map(|indexed| (indexed.1.id, layout(indexed))).collect(),
            )),
        };
        Self { lookup, events }
    }

    /// Returns the origin of a record of a known kind.
    ///
    /// # Errors
    ///
    /// Those of [`Layouts::new`] and [`Layouts::find`].
    pub(super) fn find(&self, record: RawRecord<'_>) -> Result<Origin<'_>> {
        match &self.lookup {
            Lookup::Single(layout) => Ok(Origin { layout, event: None }),
            Lookup::ById(Ok(layouts)) => {
                let event = self.events.get(layouts.find_entry(record)?.0).copied();
                Ok(Origin { layout: layouts.find(record)?, event })
            }
            Lookup::ById(Err(error)) => Err(*error),
        }
    }
}

/// Fields that identify the event.
const ID: SampleType = SampleType::IDENTIFIER.union(SampleType::ID);

/// Returns the events that can have records in the ring, each with its index in the file.
///
/// Siblings that only count have an empty `sample_type` and no records. If some events can be found
/// by their ids, those that cannot are left out.
fn with_records(events: &[Event]) -> Vec<(usize, &Event)> {
    let with = |fields: SampleType| -> Vec<_> {
        events.iter().enumerate().filter(|(_, event)| event.attr.sample_type.intersects(fields)).collect()
    };
    [SampleType::IDENTIFIER, SampleType::ID, SampleType::all()]
        .into_iter()
        .map(with)
        .find(|found| events.len() > 1 && !found.is_empty())
        .unwrap_or_else(|| events.iter().enumerate().collect())
}
