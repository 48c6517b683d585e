use std::sync::Arc;

use perf_sys::Event;

/// The logical event of each open event, by the address of the event.
#[derive(Debug, Default)]
pub(super) struct EventIndex(Vec<(usize, usize)>);

impl EventIndex {
    pub(super) fn add(&mut self, event: &Arc<Event>, index: usize) {
        let address = Arc::as_ptr(event).addr();
        let at = self.0.partition_point(|&(other, _)| other < address);
        self.0.insert(at, (address, index));
    }

    pub(super) fn remove(&mut self, event: &Arc<Event>) {
        let address = Arc::as_ptr(event).addr();
        self.0.retain(|&(other, _)| other != address);
    }

    pub(super) fn find(&self, event: &Arc<Event>) -> Option<usize> {
        let address = Arc::as_ptr(event).addr();
        let at = self.0.binary_search_by_key(&address, |&(other, _)| other).ok()?;
        self.0.get(at).map(|&(_, index)| index)
    }
}
