//! Adds up samples.

use std::iter;

use rustc_hash::FxHashMap;

use super::ids::{EventId, LocationId, StackId, StringId, ThreadId};
use super::{Event, Locations, Losses, Profile, Sample, Thread, saturating_sum};

/// Makes a [`Profile`]: add events, threads and stacks, then samples of them.
///
/// Its memory grows with the different stacks, not with the samples, unless it keeps
/// [times](Self::with_times).
#[derive(Clone, Debug, Default)]
pub struct ProfileBuilder {
    profile: Profile,
    thread_ids: FxHashMap<Thread, ThreadId>,
    /// The first sum of each stack. Most stacks have one thread and event, so that few sums need
    /// the map.
    firsts: Vec<SampleIndex>,
    /// Indices of the remaining sums.
    sums: FxHashMap<(EventId, ThreadId, Option<StackId>), SampleIndex>,
}

/// The index of a sum among the samples; by default, of none that is known.
#[derive(Clone, Copy, Debug)]
struct SampleIndex(u32);

impl Default for SampleIndex {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl SampleIndex {
    fn new(index: usize) -> Self {
        u32::try_from(index).map_or_else(|_| Self::default(), Self)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Sample {
    /// Adds samples with the same stack.
    pub(crate) fn add(&mut self, value: u64, count: u64) {
        self.value = self.value.saturating_add(value);
        self.count = self.count.saturating_add(count);
    }
}

impl ProfileBuilder {
    /// Makes an empty profile that adds up samples with the same event, thread and stack.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps each sample with its time and CPU: for a timeline. 56 bytes a sample.
    #[must_use]
    pub fn with_times(mut self) -> Self {
        self.profile.has_times = true;
        self
    }

    /// Adds an event.
    pub fn event(&mut self, event: Event) -> EventId {
        let id = EventId::next(self.profile.events.len());
        self.profile.events.push(event);
        id
    }

    /// Returns an event.
    pub fn get_event(&self, id: EventId) -> Option<&Event> {
        self.profile.event(id)
    }

    /// Returns the threads.
    pub(crate) fn threads(&self) -> &[Thread] {
        &self.profile.threads
    }

    /// Returns the id of a thread with this name, which is added if it is new.
    pub fn thread(&mut self, pid: u32, tid: u32, name: StringId) -> ThreadId {
        self.add_thread(Thread::new(pid, tid, name))
    }

    /// Returns the id of a thread with all its properties, adding it if it is new.
    pub fn add_thread(&mut self, thread: Thread) -> ThreadId {
        let next = ThreadId::next(self.profile.threads.len());
        let id = *self.thread_ids.entry(thread).or_insert(next);
        if id == next {
            self.profile.threads.push(thread);
        }
        id
    }

    /// Returns the id of a stack, innermost location first, which is added if it is new; `None`
    /// without a location.
    pub fn stack(&mut self, locations: &[LocationId]) -> Option<StackId> {
        self.profile.stacks.add(0, locations.iter().rev().copied())
    }

    /// Returns the id of a stack, outermost location first, like [`stack`](Self::stack). Faster if
    /// the stack resembles the last stacks of the thread.
    pub(crate) fn stack_of(&mut self, thread: ThreadId, outermost_first: &[LocationId]) -> Option<StackId> {
        self.profile.stacks.add(thread.index(), outermost_first.iter().copied())
    }

    /// Returns the locations of a stack, the innermost first.
    pub(crate) fn stack_locations(&self, stack: Option<StackId>) -> impl Iterator<Item = LocationId> {
        let mut next = stack;
        iter::from_fn(move || {
            let (location, caller) = self.profile.stacks.get(next?)?;
            next = caller;
            Some(location)
        })
    }

    /// Returns the number of samples whose stacks have one of some locations.
    pub(crate) fn count_samples(&self, has: impl Fn(LocationId) -> bool) -> u64 {
        let mut has_one: Vec<bool> = Vec::with_capacity(self.profile.stacks.iter().len());
        for (location, caller) in self.profile.stacks.iter() {
            // The caller comes earlier.
            let is_in_caller =
                caller.and_then(|caller| has_one.get(caller.index()).copied()).unwrap_or(false);
            has_one.push(is_in_caller || has(location));
        }
        let has_one = |stack: StackId| has_one.get(stack.index()).copied().unwrap_or(false);
        let samples = self.profile.samples.iter().filter(|sample| sample.stack.is_some_and(has_one));
        saturating_sum(samples.map(|sample| sample.count))
    }

    /// Returns the name of a thread.
    pub(crate) fn thread_name(&self, id: ThreadId) -> Option<StringId> {
        self.profile.thread(id).map(|thread| thread.name)
    }

    /// Adds a sample with a value in the unit of its event.
    pub fn sample(&mut self, event: EventId, thread: ThreadId, stack: Option<StackId>, value: u64) {
        self.add(Sample { event, thread, stack, value, count: 1, time: None, cpu: None });
    }

    /// Adds a sample, or several with the same stack. Without [times](Self::with_times), its time
    /// and CPU are left out.
    pub fn add(&mut self, sample: Sample) {
        let next = SampleIndex::new(self.profile.samples.len());
        if self.profile.has_times {
            self.profile.samples.push(sample);
            return;
        }
        let place = sample.stack.map_or(0, |stack| stack.index() + 1);
        if self.firsts.len() <= place {
            self.firsts.resize(place + 1, SampleIndex::default());
        }
        let first = self.firsts.get(place).copied().unwrap_or_default();
        if self.add_to(first, &sample) {
            return;
        }
        if first.0 == u32::MAX {
            if let Some(first) = self.firsts.get_mut(place) {
                *first = next;
            }
        } else {
            let index = *self.sums.entry((sample.event, sample.thread, sample.stack)).or_insert(next);
            if self.add_to(index, &sample) {
                return;
            }
        }
        self.profile.samples.push(Sample { time: None, cpu: None, ..sample });
    }

    /// Makes an empty one with the same events, under their ids, which keeps times if this one
    /// does.
    pub(crate) fn with_same_events(&self) -> Self {
        let Profile { events, has_times, .. } = &self.profile;
        let profile = Profile { events: events.clone(), has_times: *has_times, ..Profile::default() };
        Self { profile, ..Self::default() }
    }

    /// Adds a sample to the sum at an index if it has the same event, thread and stack. Returns
    /// whether it has.
    fn add_to(&mut self, index: SampleIndex, sample: &Sample) -> bool {
        let sum = self.profile.samples.get_mut(index.index());
        let key = |sample: &Sample| (sample.event, sample.thread, sample.stack);
        let Some(sum) = sum.filter(|sum| key(sum) == key(sample)) else { return false };
        sum.add(sample.value, sample.count);
        true
    }

    /// Sets what the profile lacks.
    pub fn losses(&mut self, losses: Losses) {
        self.profile.losses = losses;
    }

    /// Returns the profile, whose threads and stacks have their strings and addresses in
    /// `locations`.
    pub fn finish(self, locations: Locations) -> Profile {
        Profile { locations, ..self.profile }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use perf_abi::{Attr, Software};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn samples_are_the_sums_by_event_thread_and_stack(
            added in prop::collection::vec((0usize..2, 0u32..3, 0usize..4, 0u64..100), 0..80)
        ) {
            let mut locations = Locations::new();
            let name = locations.intern("x");
            let addresses: Vec<_> = (0..3).map(|address| locations.add(None, address)).collect();
            let mut builder = ProfileBuilder::new();
            let attr = Attr::software(Software::CPU_CLOCK);
            let events = [builder.event(Event::new("a", &attr)), builder.event(Event::new("b", &attr))];
            let mut model = HashMap::<_, (u64, u64)>::new();
            for (event, tid, depth, value) in added {
                let thread = builder.thread(1, tid, name);
                let stack = builder.stack(&addresses[..depth]);
                builder.sample(events[event], thread, stack, value);
                let sum = model.entry((events[event], thread, stack)).or_default();
                *sum = (sum.0 + value, sum.1 + 1);
            }
            let profile = builder.finish(locations);
            prop_assert_eq!(profile.samples().len(), model.len());
            for sample in profile.samples() {
                let sum = model.get(&(sample.event, sample.thread, sample.stack));
                prop_assert_eq!(sum, Some(&(sample.value, sample.count)));
            }
        }
    }
}
