//! Adds up samples.

use rustc_hash::FxHashMap;

use super::ids::{EventId, LocationId, StackId, StringId, ThreadId};
use super::{Event, Locations, Losses, Profile, Sample, Thread};

/// Makes a [`Profile`]: add events, threads and stacks, then samples of them.
///
/// Its memory grows with the different stacks, not with the samples, unless it keeps [times](Self::with_times).
#[derive(Clone, Debug, Default)]
pub struct ProfileBuilder {
    profile: Profile,
    thread_ids: FxHashMap<Thread, ThreadId>,
    sums: FxHashMap<(EventId, ThreadId, Option<StackId>), usize>,
}

/// The index of a sum among the samples; by default, of none that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleIndex(usize);

impl Default for SampleIndex {
    fn default() -> Self {
        Self(usize::MAX)
    }
}

impl Sample {
    fn add(&mut self, other: &Self) {
        self.value = self.value.saturating_add(other.value);
        self.count = self.count.saturating_add(other.count);
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

    /// Returns the id of a thread with this name, which is added if it is new.
    pub fn thread(&mut self, pid: u32, tid: u32, name: StringId) -> ThreadId {
        let thread = Thread { pid, tid, name };
        let next = ThreadId::next(self.profile.threads.len());
        let id = *self.thread_ids.entry(thread).or_insert(next);
        if id == next {
            self.profile.threads.push(thread);
        }
        id
    }

    /// Returns the id of a stack, innermost location first, which is added if it is new; `None` without a location.
    pub fn stack(&mut self, locations: &[LocationId]) -> Option<StackId> {
        self.profile.stacks.add(locations)
    }

    /// Adds a sample with a value in the unit of its event.
    pub fn sample(&mut self, event: EventId, thread: ThreadId, stack: Option<StackId>, value: u64) {
        self.add(Sample { event, thread, stack, value, count: 1, time: None, cpu: None });
    }

    /// Adds a sample, or several with the same stack. Without [times](Self::with_times), its time and CPU are left out.
    pub fn add(&mut self, sample: Sample) {
        self.add_indexed(sample);
    }

    /// Adds a sample to the sum at an index if it has the same event, thread and stack. Returns whether it has.
    #[inline]
    pub(crate) fn add_to(&mut self, index: SampleIndex, sample: &Sample) -> bool {
        let sum = self.profile.samples.get_mut(index.0).filter(|_| !self.profile.has_times);
        let key = |sample: &Sample| (sample.event, sample.thread, sample.stack);
        let Some(sum) = sum.filter(|sum| key(sum) == key(sample)) else { return false };
        sum.add(sample);
        true
    }

    /// Adds a sample as [`add`](Self::add), and returns its index.
    pub(crate) fn add_indexed(&mut self, sample: Sample) -> SampleIndex {
        if self.profile.has_times {
            self.profile.samples.push(sample);
            return SampleIndex::default();
        }
        let samples = &mut self.profile.samples;
        let index = *self.sums.entry((sample.event, sample.thread, sample.stack)).or_insert(samples.len());
        match samples.get_mut(index) {
            Some(sum) => sum.add(&sample),
            None => samples.push(Sample { time: None, cpu: None, ..sample }),
        }
        SampleIndex(index)
    }

    /// Sets what the profile lacks.
    pub fn losses(&mut self, losses: Losses) {
        self.profile.losses = losses;
    }

    /// Returns the profile, whose threads and stacks have their strings and addresses in `locations`.
    pub fn finish(self, locations: Locations) -> Profile {
        Profile { locations, ..self.profile }
    }
}
