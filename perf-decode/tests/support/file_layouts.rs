//! The event of a file that wrote a record.

use perf_decode::{Error, Layouts, RawRecord, SampleLayout};

use super::perf_data::Event;

/// The layouts of a file's events. Records that a tool made have the id 0 or no id, and the layout
/// of the first event.
pub(crate) struct FileLayouts {
    pub(crate) by_event: Vec<SampleLayout>,
    by_id: Vec<(u64, SampleLayout)>,
    events: Vec<(u64, usize)>,
}

impl FileLayouts {
    pub(crate) fn new(events: &[Event]) -> Self {
        let by_event: Vec<_> = events.iter().map(|event| SampleLayout::new(&event.attr)).collect();
        let of_event = |index: usize| events[index].ids.iter().map(move |id| (*id, index));
        let mut events: Vec<_> = (0..events.len()).flat_map(of_event).collect();
        events.sort_unstable();
        let mut by_id: Vec<_> = events.iter().map(|&(id, index)| (id, by_event[index])).collect();
        if by_event.len() > 1 {
            Layouts::new(&mut by_id).expect("events of a file that agree on their ids");
        }
        Self { by_event, by_id, events }
    }

    /// Returns the event that wrote `raw`. [`Layouts`] must find the same one.
    pub(crate) fn find(&self, raw: RawRecord<'_>) -> usize {
        if self.by_event.len() == 1 {
            return 0;
        }
        let mut by_id = self.by_id.clone();
        let found = Layouts::new(&mut by_id).unwrap().find(raw).copied();
        // The layout of another event can be longer than the record, which then has no id by it.
        let ids = || self.by_event.iter().map(|layout| raw.id(layout)).enumerate();
        let own = |&(index, id): &(usize, Option<u64>)| {
            id.is_some_and(|id| self.events.binary_search(&(id, index)).is_ok())
        };
        if let Some((index, _)) = ids().find(own) {
            assert_eq!(found, Ok(self.by_event[index]), "{raw:?}");
            return index;
        }
        let expected = match ids().find_map(|(_, id)| id) {
            None => Error::NoId { kind: raw.kind() },
            Some(id) => Error::UnknownId { id },
        };
        assert_eq!(found, Err(expected), "{raw:?}");
        assert!(matches!(expected, Error::NoId { .. } | Error::UnknownId { id: 0 }), "{expected:?}");
        0
    }
}
