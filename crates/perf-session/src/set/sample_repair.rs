//! Samples that the kernel has filled with values of a foreign event: kernel errata, "Id and time
//! of another software event".
//!
//! An event that shares its samples is one of [`shares_samples`]. If one logical event of a ring
//! does, a sample with an unknown id is of this event. If several do, nothing in the sample says
//! which.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use perf_ring::{
    Attr, AttrFlags, Clock, EventType, RawRecord, RecordType, SampleLayout, SampleType, Software,
};

use super::loss::monotonic;
use super::opened::Opened;
use super::{EventSet, EventSetError, EventSetEvent, RingKey, Scope};
use crate::System;

/// The first Linux that prepares the sample of a tracepoint for each event.
const OWN_TRACEPOINTS: (u32, u32) = (6, 13);

/// The fields of a sample before [`SampleType::TIME`], one word each.
const BEFORE_TIME: SampleType = SampleType::IDENTIFIER.union(SampleType::IP).union(SampleType::TID);

/// Word index of [`SampleType::IDENTIFIER`] in a sample, after the header.
const IDENTIFIER: usize = 1;

/// Returns whether the kernel prepares one sample for all events of the kind.
fn shares_samples(attr: &Attr, tracepoints_share: bool) -> bool {
    let own = [Software::CPU_CLOCK, Software::TASK_CLOCK, Software::DUMMY, Software::BPF_OUTPUT];
    match attr.kind {
        EventType::SOFTWARE => !own.iter().any(|event| attr.is_software(*event)),
        EventType::TRACEPOINT => tracepoints_share,
        _ => false,
    }
}

/// Returns whether this kernel prepares one sample for all events of a tracepoint. `true` if its
/// release is unknown.
fn tracepoints_share(system: &System) -> bool {
    let release = system.sysctl("kernel.osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < OWN_TRACEPOINTS,
        _ => true,
    }
}

/// The logical event of a ring whose samples may have a foreign id.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sharing {
    One(Owner),
    Several,
}

/// A logical event on one PMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// Index of the event in the order of the options.
    pub(super) index: usize,
    pmu: Option<Arc<str>>,
    pub(super) layout: SampleLayout,
}

impl Owner {
    fn new(open: &EventSetEvent<'_>) -> Self {
        let layout = SampleLayout::new(open.event.attr());
        Self { index: open.index, pmu: open.spec.pmu().map(Arc::from), layout }
    }
}

/// The logical event of each ring to which samples with an unknown id belong.
#[derive(Debug, Default)]
pub(super) struct SharedSamples(HashMap<Scope, Sharing>);

impl SharedSamples {
    pub(super) fn new(opened: &Opened) -> Self {
        let mut shared = Self::default();
        let tracepoints_share = tracepoints_share(&opened.options().system);
        for open in opened.events().filter(|open| shares_samples(open.event.attr(), tracepoints_share)) {
            shared.add(open.scope.of_ring(), Owner::new(&open));
        }
        shared
    }

    fn add(&mut self, ring: Scope, owner: Owner) {
        let owner = Sharing::One(owner);
        let known = self.0.entry(ring).or_insert_with(|| owner.clone());
        // Each thread has the same logical event.
        if *known != owner {
            *known = Sharing::Several;
        }
    }

    /// Returns the event that wrote a sample with an unknown id into the ring, if only one is
    /// possible.
    pub(super) fn find(&self, ring: Scope) -> Option<&Owner> {
        match self.0.get(&ring)? {
            Sharing::One(owner) => Some(owner),
            Sharing::Several => None,
        }
    }
}

/// Repairs the samples of copied rings in which the kernel has written the id or the time of a
/// foreign event, so that they can be stored: kernel errata, "Id and time of another software
/// event".
///
/// A sample gets the id of the event of the set that wrote it, if one event of its ring is
/// possible. Otherwise it is removed and counted. The time of a sample of such an event is moved
/// between the times of the records around it in the ring, if it is not there: it may be of another
/// clock.
///
/// The events have [`IDENTIFIER`](SampleType::IDENTIFIER), as an [`EventSet`] with rings gives it
/// to them, unless the ring has one event without it. [`EventSet::drain_sorted`] attributes samples
/// in the same way, and leaves their times.
///
/// ```no_run
/// use perf_session::EventSet;
///
/// fn store(set: &mut EventSet, mut write: impl FnMut(&[u64])) -> Result<(), Box<dyn std::error::Error>> {
///     let mut repair = set.sample_repair()?;
///     let mut copy = Vec::new();
///     let (rings, ledger) = set.rings_and_ledger()?;
///     for (key, batch) in rings.ready() {
///         batch?.copy_into(&mut copy);
///         let removed = repair.repair(*key, &mut copy).removed;
///         ledger.note_unattributed(*key, removed);
///         write(&copy);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct SampleRepair {
    /// The events of the set by id.
    events: HashMap<u64, Known>,
    /// By the scope of a ring: the id of the event to which samples with an unknown id belong;
    /// `None` if there are several.
    owners: HashMap<Scope, Option<u64>>,
    /// Whether the records have ids.
    has_ids: bool,
    /// Whether the times are of `CLOCK_MONOTONIC`.
    has_monotonic_time: bool,
    /// The time of the last record of each ring whose time is certain.
    last: HashMap<RingKey, u64>,
}

/// An event of the set.
#[derive(Clone, Copy, Debug)]
struct Known {
    layout: SampleLayout,
    /// Word index of the time in a sample, if it may be of another clock.
    doubtful_time: Option<usize>,
}

/// The result of [`SampleRepair::repair`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairedSamples {
    /// Samples that have got the id of their event.
    pub attributed: u64,
    /// Samples that were removed, because several events may have written them.
    pub removed: u64,
}

/// The time of a sample that may be of another clock.
#[derive(Debug)]
struct Doubtful {
    /// Word index of the time.
    index: usize,
    /// Time of the record before the sample.
    earliest: u64,
}

impl SampleRepair {
    /// Learns the events that were opened since, as by [`EventSet::refresh`].
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an id cannot be read.
    pub fn update(&mut self, set: &EventSet) -> Result<(), EventSetError> {
        let tracepoints_share = tracepoints_share(&set.opened.options().system);
        let shared = SharedSamples::new(&set.opened);
        self.owners.clear();
        for open in set.events() {
            let id = open.event.id().map_err(|error| open.failed(error))?;
            let attr = open.event.attr();
            let time = 1 + (attr.sample_type & BEFORE_TIME).bits().count_ones() as usize;
            let is_doubtful =
                attr.sample_type.contains(SampleType::TIME) && shares_samples(attr, tracepoints_share);
            let doubtful_time = is_doubtful.then_some(time);
            self.events.insert(id, Known { layout: SampleLayout::new(attr), doubtful_time });
            let ring = open.scope.of_ring();
            let is_owner = shared.find(ring).is_some_and(|owner| *owner == Owner::new(&open));
            let owner = self.owners.entry(ring).or_default();
            *owner = owner.or(is_owner.then_some(id));
        }
        Ok(())
    }

    /// Repairs the records of a ring, in the order in which the ring has them. Call it with all
    /// records of the ring, part after part.
    pub fn repair(&mut self, ring: RingKey, words: &mut Vec<u64>) -> RepairedSamples {
        let mut repaired = RepairedSamples::default();
        if !self.has_ids {
            return repaired;
        }
        let owner = self.owner(ring);
        let mut last = self.last.get(&ring).copied().unwrap_or(0);
        let (mut doubtful, mut removed) = (Vec::new(), Vec::new());
        let mut start = 0;
        while let Some((record, _)) = words.get(start..).and_then(|rest| RawRecord::split_first(rest).ok()) {
            let is_sample = record.kind() == RecordType::SAMPLE;
            let end = start + record.words().len();
            // In the trailer of other records, it is the last word.
            let id_index = if is_sample { start + IDENTIFIER } else { end - 1 };
            let id = words.get(id_index).copied().unwrap_or(0);
            let is_foreign = is_sample && !self.events.contains_key(&id);
            let id = if is_foreign { owner } else { Some(id) };
            let known = id.and_then(|id| self.events.get(&id));
            if let Some(index) = known.and_then(|known| known.doubtful_time.filter(|_| is_sample)) {
                doubtful.push(Doubtful { index: start + index, earliest: last });
            } else if let Some(time) = known.and_then(|known| record.time(&known.layout)) {
                settle(words, &mut doubtful, time);
                last = time;
            }
            if is_foreign {
                if let (Some(owner), Some(id)) = (id, words.get_mut(id_index)) {
                    *id = owner;
                    repaired.attributed += 1;
                } else {
                    removed.push(start..end);
                    repaired.removed += 1;
                }
            }
            start = end;
        }
        // The records were in the ring before it was copied.
        settle(words, &mut doubtful, if self.has_monotonic_time { monotonic() } else { u64::MAX });
        self.last.insert(ring, last);
        remove(words, &removed);
        repaired
    }

    /// Gives a sample the id of the event of the set that wrote it. Returns whether it is known: if
    /// not, the sample is as it was.
    pub fn attribute(&self, ring: RingKey, sample: &mut [u64]) -> bool {
        match (sample.get_mut(IDENTIFIER), self.owner(ring)) {
            _ if !self.has_ids => true,
            (Some(id), _) if self.events.contains_key(id) => true,
            (Some(id), Some(owner)) => {
                *id = owner;
                true
            }
            _ => false,
        }
    }

    fn owner(&self, ring: RingKey) -> Option<u64> {
        self.owners.get(&ring.scope()).copied().flatten()
    }
}

/// Moves the times of doubtful samples between the times of the records before and after them.
fn settle(words: &mut [u64], doubtful: &mut Vec<Doubtful>, latest: u64) {
    for Doubtful { index, earliest } in doubtful.drain(..) {
        if let Some(time) = words.get_mut(index) {
            // An interrupt may write an earlier time after a later one.
            *time = (*time).clamp(earliest, latest.max(earliest));
        }
    }
}

/// Removes ascending ranges.
fn remove(words: &mut Vec<u64>, ranges: &[Range<usize>]) {
    let Some(first) = ranges.first() else { return };
    let mut to = first.start;
    for (index, range) in ranges.iter().enumerate() {
        let next = ranges.get(index + 1).map_or(words.len(), |next| next.start);
        words.copy_within(range.end..next, to);
        to += next - range.end;
    }
    words.truncate(to);
}

impl EventSet {
    /// Returns the repair of samples of software events that other programs sample, too.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an id cannot be read.
    pub fn sample_repair(&self) -> Result<SampleRepair, EventSetError> {
        let attr = self.events().next().map(|open| *open.event.attr()).unwrap_or_default();
        let mut repair = SampleRepair {
            events: HashMap::new(),
            owners: HashMap::new(),
            has_ids: attr.sample_type.contains(SampleType::IDENTIFIER),
            has_monotonic_time: attr.flags.contains(AttrFlags::USE_CLOCKID)
                && attr.clockid == Clock::MONOTONIC,
            last: HashMap::new(),
        };
        repair.update(self)?;
        Ok(repair)
    }
}

#[cfg(test)]
mod tests {
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
    use perf_ring::abi::Misc;
    use proptest::prelude::*;

    use super::super::loss::LossLedger;
    use super::*;

    /// Ids of the events of the set: a clock, and one whose samples are shared.
    const CLOCK: u64 = 1;
    const SWITCHES: u64 = 2;
    /// The id of a foreign event.
    const FOREIGN: u64 = 9;

    fn attr(event: Software) -> Attr {
        let fields = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
        let attr = Attr::software(event).with_sample_type(fields).with_period(1);
        attr.with_flags(AttrFlags::SAMPLE_ID_ALL)
    }

    fn ring() -> RingKey {
        LossLedger::default().add_ring(Scope::cpu(3))
    }

    /// The repair of a ring with these owners of foreign samples.
    fn repair(owner: Option<u64>) -> SampleRepair {
        let known = |event, doubtful_time| Known { layout: SampleLayout::new(&attr(event)), doubtful_time };
        let events = [
            (CLOCK, known(Software::CPU_CLOCK, None)),
            (SWITCHES, known(Software::CONTEXT_SWITCHES, Some(4))),
        ];
        SampleRepair {
            events: events.into(),
            owners: [(Scope::cpu(3), owner)].into(),
            has_ids: true,
            has_monotonic_time: false,
            last: HashMap::new(),
        }
    }

    fn sample(id: u64, time: u64) -> Vec<u64> {
        SampleBuilder::new(&attr(Software::CPU_CLOCK)).identifier(id).ip(1).tid(5, 6).time(time).finish()
    }

    fn switch(time: u64) -> Vec<u64> {
        let values = SampleIdValues { identifier: CLOCK, time, ..SampleIdValues::default() };
        RecordBuilder::new(RecordType::SWITCH, Misc::empty())
            .with_trailer(&attr(Software::CPU_CLOCK), &values)
            .finish()
    }

    /// Returns the id and the time of each record.
    fn content(words: &[u64]) -> Vec<(u64, u64)> {
        let layout = SampleLayout::new(&attr(Software::CPU_CLOCK));
        let mut rest = words;
        let mut content = Vec::new();
        while let Ok((record, after)) = RawRecord::split_first(rest) {
            content.push((record.id(&layout).unwrap(), record.time(&layout).unwrap()));
            rest = after;
        }
        assert_eq!(rest, [0; 0]);
        content
    }

    #[test]
    fn sample_with_a_foreign_id_is_of_the_only_event_that_may_have_it() {
        let mut words = [switch(10), sample(FOREIGN, 11), sample(CLOCK, 12), sample(SWITCHES, 13)].concat();
        let repaired = repair(Some(SWITCHES)).repair(ring(), &mut words);
        assert_eq!(repaired, RepairedSamples { attributed: 1, removed: 0 });
        assert_eq!(content(&words), [(CLOCK, 10), (SWITCHES, 11), (CLOCK, 12), (SWITCHES, 13)]);
    }

    #[test]
    fn sample_that_several_events_may_have_written_is_removed_and_counted() {
        let parts =
            [sample(FOREIGN, 1), switch(10), sample(FOREIGN, 11), sample(FOREIGN, 12), sample(CLOCK, 13)];
        let mut words = parts.concat();
        let repaired = repair(None).repair(ring(), &mut words);
        assert_eq!(repaired, RepairedSamples { attributed: 0, removed: 3 });
        assert_eq!(content(&words), [(CLOCK, 10), (CLOCK, 13)]);
        let mut sample = sample(FOREIGN, 1);
        assert!(
            !repair(None).attribute(ring(), &mut sample)
                && repair(Some(SWITCHES)).attribute(ring(), &mut sample)
        );
        assert_eq!(content(&sample), [(SWITCHES, 1)]);
    }

    #[test]
    fn time_of_another_clock_is_moved_between_the_records_around_it() {
        let mut repair = repair(Some(SWITCHES));
        // The clock of the other event is slow, then fast.
        let mut words =
            [switch(100), sample(SWITCHES, 3), switch(120), sample(FOREIGN, 900), switch(140)].concat();
        repair.repair(ring(), &mut words);
        let times = content(&words).into_iter().map(|(_, time)| time);
        assert!(times.eq([100, 100, 120, 140, 140]), "{:?}", content(&words));
        // A clock's own time stays, and is known in the next part of the ring.
        let mut words = [sample(CLOCK, 160), sample(SWITCHES, 170)].concat();
        repair.repair(ring(), &mut words);
        assert_eq!(content(&words), [(CLOCK, 160), (SWITCHES, 170)]);
        let mut words = sample(SWITCHES, 7);
        repair.repair(ring(), &mut words);
        assert_eq!(content(&words), [(SWITCHES, 160)]);
    }

    #[test]
    fn events_whose_samples_are_shared_are_those_of_the_kernels_code() {
        let shares = |event| shares_samples(&Attr::software(event), false);
        assert!(shares(Software::CONTEXT_SWITCHES) && shares(Software::PAGE_FAULTS));
        assert!(![Software::CPU_CLOCK, Software::TASK_CLOCK, Software::DUMMY].into_iter().any(shares));
        let mut tracepoint = Attr::default();
        tracepoint.kind = EventType::TRACEPOINT;
        assert_eq!([true, false].map(|old| shares_samples(&tracepoint, old)), [true, false]);
        let tree = crate::system::tree::Tree::new();
        for (release, expected) in
            [("6.12.9-amd64\n", true), ("6.13-rc1", false), ("7.0.1", false), ("x", true)]
        {
            tree.file("/proc/sys/kernel/osrelease", release);
            assert_eq!(tracepoints_share(tree.system()), expected, "{release}");
        }
    }

    proptest! {
        #[test]
        fn parts_of_a_ring_are_repaired_as_the_whole(
            records in prop::collection::vec((0..4u64, 0..1000u64), 0..30),
            cut in any::<prop::sample::Index>(),
            has_owner in any::<bool>(),
        ) {
            let owner = has_owner.then_some(SWITCHES);
            let mut now = 0;
            let records: Vec<_> = records.into_iter().map(|(kind, time)| {
                now += 10;
                match kind {
                    0 => switch(now),
                    1 => sample(CLOCK, now),
                    2 => sample(SWITCHES, time),
                    _ => sample(FOREIGN, time),
                }
            }).collect();
            let mut whole = records.concat();
            let all = repair(owner).repair(ring(), &mut whole);
            let (first, second) = records.split_at(cut.index(records.len() + 1));
            let (mut first, mut second) = (first.concat(), second.concat());
            let (mut parts, ring) = (repair(owner), ring());
            let counts = [parts.repair(ring, &mut first), parts.repair(ring, &mut second)];
            prop_assert_eq!(counts[0].attributed + counts[1].attributed, all.attributed);
            prop_assert_eq!(counts[0].removed + counts[1].removed, all.removed);
            // Which records are there does not depend on the parts; the times that are not doubtful
            // neither.
            let [whole, parts] = [whole, [first, second].concat()].map(|words| content(&words));
            prop_assert_eq!(whole.len(), parts.len());
            let certain = |content: &[(u64, u64)]| content.iter().copied().filter(|(id, _)| *id == CLOCK).collect::<Vec<_>>();
            prop_assert_eq!(certain(&whole), certain(&parts));
            prop_assert!(whole.iter().all(|(id, _)| *id != FOREIGN));
            for (index, &(_, time)) in whole.iter().enumerate() {
                let before = certain(&whole[..index]).last().map_or(0, |(_, time)| *time);
                let after = certain(&whole[index + 1..]).first().map_or(u64::MAX, |(_, time)| *time);
                prop_assert!(before <= time && time <= after, "{}: {:?}", index, whole);
            }
        }
    }
}
