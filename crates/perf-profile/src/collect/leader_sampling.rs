//! Counts in samples, converted to the increase of each event since the last sample.

use std::collections::VecDeque;

use perf_abi::{Attr, AttrFlags, SampleType};
use perf_decode::{Layout, Record, Sample};
use rustc_hash::FxHashMap;

/// Converts the counts in samples of a group leader to increases of each event.
///
/// In a group such as `{cycles,cache-misses}:S` only the leader samples, with the counts of all
/// members ([`SampleType::READ`]). Each member then has a sample at the time and with the stack of
/// the leader, whose value is the increase since the last count with the same id. The perf tool
/// does the same, also for the leader.
///
/// ```
/// use std::collections::HashMap;
///
/// use perf_abi::Attr;
/// use perf_decode::{Layout, Sample};
/// use perf_profile::{Collector, EventId, LeaderSampling};
///
/// /// Adds a sample, after the collector and the counts were updated with its record.
/// fn add<L: Layout>(
///     collector: &mut Collector,
///     counts: &mut LeaderSampling,
///     (event, attr): (EventId, &Attr),
///     by_id: &HashMap<u64, EventId>,
///     sample: &Sample<'_, L>,
/// ) {
///     match counts.members(attr, sample) {
///         None => collector.add(event, sample),
///         Some(members) => {
///             for member in members {
///                 if let Some(&event) = by_id.get(&member.id) {
///                     collector.add_value(event, sample, member.value);
///                 }
///             }
///         }
///     }
/// }
/// ```
///
/// Memory grows with the number of events, and for [inherited](AttrFlags::INHERIT) events with the
/// living threads.
#[derive(Clone, Debug, Default)]
pub struct LeaderSampling {
    /// Counts by thread. An inherited event has the same id in its threads, but counts each
    /// separately. Other events are under thread 0.
    threads: FxHashMap<u32, Counts>,
    /// The threads that exited last, oldest first.
    exited: VecDeque<u32>,
    members: Vec<MemberCount>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    /// The last count, by id.
    last: FxHashMap<u64, u64>,
    has_exited: bool,
}

/// Number of threads to keep after their exit, because the kernel samples a thread after its `EXIT`
/// record, until its last context switch. More than the number of threads that end at one time.
const MAX_EXITED: usize = if cfg!(test) { 2 } else { 512 };

/// The increase of an event in a group since the last sample of the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberCount {
    /// Id of the opened event.
    pub id: u64,
    /// The increase, in the unit of the event; never 0.
    pub value: u64,
}

impl LeaderSampling {
    /// Creates it before the first sample.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a record. Pass all records in time order.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        match record {
            // A new thread reuses the id.
            Record::Fork(fork) => drop(self.threads.remove(&fork.tid())),
            Record::Exit(exit) => {
                let Some(counts) = self.threads.get_mut(&exit.tid()) else { return };
                counts.has_exited = true;
                self.exited.push_back(exit.tid());
                let oldest = if self.exited.len() > MAX_EXITED { self.exited.pop_front() } else { None };
                if let Some(tid) = oldest
                    && self.threads.get(&tid).is_some_and(|counts| counts.has_exited)
                {
                    self.threads.remove(&tid);
                }
            }
            _ => {}
        }
    }

    /// Returns the ids of the events that counted something since the last sample, with their
    /// increases. Returns `None` if the sample has no counts, so that it belongs to the event that
    /// wrote it, with its period. Pass all samples in time order, even unwanted ones.
    ///
    /// A count below the previous count has restarted at 0.
    pub fn members<L: Layout>(&mut self, attr: &Attr, sample: &Sample<'_, L>) -> Option<&[MemberCount]> {
        let counts = sample.read().filter(|_| attr.sample_type.contains(SampleType::READ))?;
        let is_inherited = attr.flags.contains(AttrFlags::INHERIT);
        let tid = sample.tid().filter(|_| is_inherited).unwrap_or(0);
        let Counts { last, .. } = self.threads.entry(tid).or_default();
        self.members.clear();
        let own = sample.identifier().or(sample.id());
        for (index, count) in counts.iter().enumerate() {
            // Without ids, only the first count can be attributed: to the event that sampled.
            let Some(id) = count.id.or(own.filter(|_| index == 0)) else { break };
            let before = last.insert(id, count.value).unwrap_or(0);
            let value = count.value.checked_sub(before).unwrap_or(count.value);
            if value > 0 {
                self.members.push(MemberCount { id, value });
            }
        }
        Some(&self.members)
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Misc, ReadFormat, RecordType, Software};
    use perf_decode::testing::builder::{ReadValue, ReadValues, RecordBuilder, SampleBuilder};
    use perf_decode::{RawRecord, SampleLayout};
    use proptest::prelude::*;

    use super::*;

    fn attr(flags: AttrFlags) -> Attr {
        let fields = SampleType::TID | SampleType::IDENTIFIER | SampleType::READ;
        let format = ReadFormat::GROUP | ReadFormat::ID;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        attr.with_read_format(format).with_flags(flags)
    }

    /// Returns the ids and increases of the members, or of no counts.
    fn members(
        counts: &mut LeaderSampling,
        attr: &Attr,
        tid: u32,
        values: &[(u64, u64)],
    ) -> Option<Vec<(u64, u64)>> {
        let values = values.iter().map(|&(id, value)| ReadValue { value, id, lost: 0 }).collect();
        let read = ReadValues { values, ..ReadValues::default() };
        let words = SampleBuilder::new(attr).identifier(7).tid(tid, tid).read(read).finish();
        let layout = SampleLayout::new(attr);
        let Record::Sample(sample) = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap() else {
            panic!("a sample")
        };
        let members = counts.members(attr, &sample)?;
        Some(members.iter().map(|member| (member.id, member.value)).collect())
    }

    /// Applies the fork or exit of a thread.
    fn update(counts: &mut LeaderSampling, attr: &Attr, kind: RecordType, tid: u32) {
        let task = RecordBuilder::new(kind, Misc::empty()).pair(1, 1).pair(tid, 1).words(&[0]).finish();
        let layout = SampleLayout::new(attr);
        counts.update(&RawRecord::from_words(&task).unwrap().decode(&layout).unwrap());
    }

    #[test]
    fn members_have_what_they_counted_since_the_last_sample() {
        let attr = attr(AttrFlags::empty());
        let mut counts = LeaderSampling::new();
        assert_eq!(members(&mut counts, &attr, 1, &[(7, 100), (8, 3)]), Some(vec![(7, 100), (8, 3)]));
        // Other threads continue the first thread's count. A member that counted nothing is left
        // out.
        assert_eq!(members(&mut counts, &attr, 2, &[(7, 250), (8, 3)]), Some(vec![(7, 150)]));
        // The ids of another CPU.
        assert_eq!(members(&mut counts, &attr, 1, &[(17, 5), (18, 1)]), Some(vec![(17, 5), (18, 1)]));
        // The counter was reset.
        assert_eq!(members(&mut counts, &attr, 1, &[(7, 20), (8, 4)]), Some(vec![(7, 20), (8, 1)]));
        let mut without = attr;
        without.sample_type = SampleType::TID | SampleType::IDENTIFIER;
        assert_eq!(members(&mut counts, &without, 1, &[]), None);
    }

    #[test]
    fn inherited_events_count_each_thread_by_itself() {
        let attr = attr(AttrFlags::INHERIT);
        let mut counts = LeaderSampling::new();
        let value = |counts: &mut LeaderSampling, tid, value| {
            members(counts, &attr, tid, &[(7, value)]).unwrap().first().map(|&(_, value)| value)
        };
        assert_eq!(value(&mut counts, 1, 100), Some(100));
        assert_eq!(value(&mut counts, 2, 120), Some(120));
        assert_eq!(value(&mut counts, 1, 130), Some(30));
        // After its exit, a thread has samples until its last context switch.
        update(&mut counts, &attr, RecordType::EXIT, 2);
        assert_eq!(value(&mut counts, 2, 140), Some(20));
        // Another thread reuses the id.
        update(&mut counts, &attr, RecordType::FORK, 2);
        assert_eq!(value(&mut counts, 2, 150), Some(150));
        for tid in 3..9 {
            assert_eq!(value(&mut counts, tid, 7), Some(7));
            update(&mut counts, &attr, RecordType::EXIT, tid);
        }
        // Threads 1 and 2, and the threads that exited last.
        assert_eq!(counts.threads.len(), 4);
        assert_eq!(value(&mut counts, 1, 131), Some(1));
        assert_eq!(value(&mut counts, 2, 151), Some(1));
        assert_eq!(value(&mut counts, 8, 8), Some(1));
    }

    #[test]
    fn count_without_an_id_is_that_of_the_event_that_sampled() {
        for format in [ReadFormat::TOTAL_TIME_ENABLED, ReadFormat::GROUP] {
            let mut attr = attr(AttrFlags::empty());
            attr.read_format = format;
            let mut counts = LeaderSampling::new();
            assert_eq!(members(&mut counts, &attr, 1, &[(0, 40), (0, 5)]), Some(vec![(7, 40)]));
        }
    }

    proptest! {
        #[test]
        fn values_of_a_member_add_up_to_its_count(steps in prop::collection::vec((0u64..3, 0u64..9, 0u64..9), 0..40)) {
            let attr = attr(AttrFlags::empty());
            let mut counts = LeaderSampling::new();
            let (mut counted, mut summed) = ([0; 6], [0; 6]);
            for (cpu, leader, member) in steps {
                counted[cpu as usize] += leader;
                counted[cpu as usize + 3] += member;
                let now = [(cpu, counted[cpu as usize]), (cpu + 3, counted[cpu as usize + 3])];
                for (id, value) in members(&mut counts, &attr, 1, &now).unwrap() {
                    summed[id as usize] += value;
                }
            }
            prop_assert_eq!(counted, summed);
        }
    }
}
