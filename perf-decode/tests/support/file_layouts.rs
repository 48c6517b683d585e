//! Which event of a file wrote a record.

use perf_decode::{Error, Layouts, RawRecord, SampleLayout};

use super::perf_data::Event;

/// The layouts of a file's events. Records that a tool made have the id 0 or none and belong to no
/// event: they are written in the form of the first.
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

    /// The event that wrote `raw`; [`Layouts`] must find the same one.
    pub(crate) fn find(&self, raw: RawRecord<'_>) -> usize {
        if self.by_event.len() == 1 {
            return 0;
        }
        let mut by_id = self.by_id.clone();
        let found = Layouts::new(&mut by_id).unwrap().find(raw).copied();
        match raw.id(&self.by_event[0]) {
            None => {
                assert_eq!(found, Err(Error::NoId { kind: raw.kind() }));
                0
            }
            Some(0) => {
                assert_eq!(found, Err(Error::UnknownId { id: 0 }));
                0
            }
            id => {
                let (_, index) = self.events[self.events.partition_point(|(known, _)| Some(*known) < id)];
                assert_eq!(found, Ok(self.by_event[index]), "{raw:?}");
                index
            }
        }
    }
}
