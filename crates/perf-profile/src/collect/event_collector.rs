//! Collects the records of several events into one profile.

use perf_abi::Attr;
use perf_decode::{Layout, Record, Sample};
use rustc_hash::FxHashMap;

use crate::collect::{Collector, LeaderSampling};
use crate::profile::{Event, EventId};

/// Collects the records of the events of a measurement: a sample goes to the event that wrote it,
/// or to each event of a group in which only the leader samples.
///
/// ```no_run
/// use perf_abi::{Attr, Software};
/// use perf_decode::{Layout, Record};
/// use perf_profile::{Collector, Event, EventCollector, ProfileBuilder, Resolver};
///
/// # fn records() -> Vec<(Record<'static, &'static perf_decode::SampleLayout>, Option<usize>)> { Vec::new() }
/// # fn collect(resolver: Resolver) {
/// let mut events = EventCollector::new(Collector::new(resolver, ProfileBuilder::new()));
/// let clock = Attr::software(Software::CPU_CLOCK);
/// let index = events.add_event(clock, Some(Event::new("cpu-clock", &clock)));
/// let mut unknown = 0;
/// for (record, event) in records() {
///     unknown += events.add(&record, event, |_sample| true);
/// }
/// # let _ = index;
/// # }
/// ```
#[derive(Debug)]
pub struct EventCollector {
    collector: Collector,
    /// The counts of members of groups in which only the leader samples.
    counts: LeaderSampling,
    /// The attr of each event, and the event of the profile, if its samples are kept.
    events: Vec<(Attr, Option<EventId>)>,
    /// The index of each event by its ids.
    ids: FxHashMap<u64, usize>,
}

impl EventCollector {
    /// Creates a collector without events.
    pub fn new(collector: Collector) -> Self {
        Self { collector, counts: LeaderSampling::new(), events: Vec::new(), ids: FxHashMap::default() }
    }

    /// Adds an event, and returns its index. Without an event of the profile, its samples are not
    /// kept.
    pub fn add_event(&mut self, attr: Attr, event: Option<Event>) -> usize {
        let event = event.map(|event| self.collector.event(event));
        self.events.push((attr, event));
        self.events.len() - 1
    }

    /// Adds ids of the event with this index, one for each CPU or thread on which it was opened.
    pub fn add_ids(&mut self, index: usize, ids: impl IntoIterator<Item = u64>) {
        self.ids.extend(ids.into_iter().map(|id| (id, index)));
    }

    /// Returns the index of the event with an id.
    pub fn index_of(&self, id: u64) -> Option<usize> {
        self.ids.get(&id).copied()
    }

    /// Returns the collector of all events.
    pub fn collector_mut(&mut self) -> &mut Collector {
        &mut self.collector
    }

    /// Applies a record. Pass all records in time order, with the index of the event that wrote
    /// them; records other than samples need none. Samples of which `is_wanted` returns false are
    /// not kept.
    ///
    /// Returns the number of samples that are not in the profile because their event is unknown.
    pub fn add<L: Layout>(
        &mut self,
        record: &Record<'_, L>,
        index: Option<usize>,
        is_wanted: impl FnOnce(&Sample<'_, L>) -> bool,
    ) -> u64 {
        self.collector.update(record);
        self.counts.update(record);
        let Record::Sample(sample) = record else { return 0 };
        let Some(index) = index else { return 1 };
        let Some(&(attr, Some(event))) = self.events.get(index) else { return 0 };
        // Counts are the increase since the last sample, also since an unwanted one.
        let members = self.counts.members(&attr, sample);
        if !is_wanted(sample) {
            return 0;
        }
        let Some(members) = members else {
            self.collector.add(event, sample);
            return 0;
        };
        let mut unknown = 0;
        for member in members {
            match self.ids.get(&member.id).and_then(|&index| self.events.get(index)) {
                Some(&(_, Some(event))) => self.collector.add_value(event, sample, member.value),
                _ => unknown += 1,
            }
        }
        unknown
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{SampleType, Software};
    use perf_decode::testing::builder::SampleBuilder;
    use perf_decode::{RawRecord, SampleLayout};
    use perf_symbols::FileFinder;

    use super::*;
    use crate::collect::Resolver;
    use crate::profile::ProfileBuilder;

    #[test]
    fn sample_goes_to_the_event_that_wrote_it() {
        let attr = Attr::software(Software::CPU_CLOCK)
            .with_period(10)
            .with_sample_type(SampleType::IDENTIFIER | SampleType::TID);
        let resolver = Resolver::without_lines(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut events = EventCollector::new(Collector::new(resolver, ProfileBuilder::new()));
        let clock = events.add_event(attr, Some(Event::new("clock", &attr)));
        let faults = events.add_event(attr, Some(Event::new("faults", &attr)));
        let side_band = events.add_event(attr, None);
        events.add_ids(faults, [7, 8]);
        assert_eq!([events.index_of(8), events.index_of(9)], [Some(faults), None]);
        let words = SampleBuilder::new(&attr).identifier(7).tid(1, 1).finish();
        let layout = SampleLayout::new(&attr);
        let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
        let mut add = |index, is_wanted| events.add(&record, index, |_| is_wanted);
        assert_eq!(add(Some(faults), true), 0);
        assert_eq!(add(Some(faults), true), 0);
        assert_eq!(add(Some(clock), true), 0);
        assert_eq!(add(Some(clock), false), 0);
        assert_eq!(add(Some(side_band), true), 0);
        assert_eq!(add(None, true), 1, "the event is unknown");
        let profile = events.collector_mut().take().wait();
        let samples: Vec<_> = profile.event_ids().map(|(id, _)| profile.sample_count(id)).collect();
        assert_eq!(samples, [1, 2]);
    }
}
