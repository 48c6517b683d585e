//! The profile, its tables and its builder.

mod builder;
mod ids;
mod locations;
mod losses;
mod stacks;

use std::iter;

use perf_abi::{Attr, EventType, MAX_STACK_DEPTH, Sampling, Software};

pub use builder::ProfileBuilder;
pub use ids::{EventId, FunctionId, LocationId, ObjectId, StackId, StringId, ThreadId};
pub use locations::{Frame, Function, Location, Locations, Object, UNKNOWN};
pub use losses::{Losses, Reasons};

use stacks::Stacks;

/// The unit of the values of an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Number of events.
    Count,
    /// Time in ns of the event's clock.
    Nanoseconds,
}

impl Unit {
    /// Returns the name of the unit in pprof: `count`, `nanoseconds`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Nanoseconds => "nanoseconds",
        }
    }
}

/// An event whose samples are in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The perf tool's name, such as `cpu-clock:u`.
    pub name: String,
    /// Unit of the values of its samples.
    pub unit: Unit,
    /// Value of a sample without a period: the period of the attr, or 1.
    pub period: u64,
    /// True if a sample is a time span that starts at the time of the sample and lasts its value,
    /// in ns.
    pub is_span: bool,
    /// Maximum number of addresses in a callchain: `sample_max_stack` of the attr, or the default
    /// of the kernel.
    pub max_stack: u16,
}

impl Event {
    /// Creates an event of this name with the unit and period of its attr.
    pub fn new(name: impl Into<String>, attr: &Attr) -> Self {
        let clocks = [Software::CPU_CLOCK.0, Software::TASK_CLOCK.0];
        let is_clock = attr.kind == EventType::SOFTWARE && clocks.contains(&attr.config);
        let period = match attr.sampling() {
            Sampling::Period(period) => period,
            _ => 1,
        };
        let unit = if is_clock { Unit::Nanoseconds } else { Unit::Count };
        let max_stack = if attr.sample_max_stack == 0 { MAX_STACK_DEPTH } else { attr.sample_max_stack };
        Self { name: name.into(), unit, period, is_span: false, max_stack }
    }

    /// Creates an event of this name whose samples are time spans, such as waits.
    pub fn spans(name: impl Into<String>) -> Self {
        let (unit, max_stack) = (Unit::Nanoseconds, MAX_STACK_DEPTH);
        Self { name: name.into(), unit, period: 1, is_span: true, max_stack }
    }
}

/// A thread under one of its names, in one of its control groups, and if the profile
/// [splits](crate::Split) threads, on one CPU and in one slice of time. After an exec, it is a new
/// entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Thread {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The name, in the strings of [`Locations`].
    pub name: StringId,
    /// The path of the control group, in the strings of [`Locations`]; `None` if it was not
    /// recorded.
    pub cgroup: Option<StringId>,
    /// The CPU; `None` if the profile does not split threads by it, or if it was not recorded.
    pub cpu: Option<u32>,
    /// Start of the slice of time, in ns of the events' clock; `None` like the CPU.
    pub time: Option<u64>,
}

impl Thread {
    /// Creates a thread whose control group is unknown.
    pub fn new(pid: u32, tid: u32, name: StringId) -> Self {
        Self { pid, tid, name, cgroup: None, cpu: None, time: None }
    }

    /// Sets the path of the control group.
    #[must_use]
    pub fn with_cgroup(mut self, path: Option<StringId>) -> Self {
        self.cgroup = path;
        self
    }
}

/// A sample, or the sum of samples with the same event, thread and stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Index in [`Profile::events`].
    pub event: EventId,
    /// Index in [`Profile::threads`].
    pub thread: ThreadId,
    /// The stack; `None` if the samples have no address.
    pub stack: Option<StackId>,
    /// Sum of the periods in the unit of the event, saturating at `u64::MAX`.
    pub value: u64,
    /// Number of samples.
    pub count: u64,
    /// Sample time in ns of the recording's clock; `None` in a profile without times.
    pub time: Option<u64>,
    /// The CPU; `None` in a profile without times.
    pub cpu: Option<u32>,
}

/// Returns the saturating sum, because recordings can contain any numbers.
pub(crate) fn saturating_sum(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, u64::saturating_add)
}

/// A profile: events, threads, locations with names, stacks, and samples with values.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Event, Locations, ProfileBuilder};
///
/// let mut locations = Locations::new();
/// let address = locations.add(None, 0x1234);
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let stack = builder.stack(&[address]);
/// builder.sample(event, thread, stack, 1_000_000);
/// builder.sample(event, thread, stack, 1_000_000);
///
/// let profile = builder.finish(locations);
/// assert_eq!(profile.samples()[0].value, 2_000_000);
/// assert_eq!(profile.samples()[0].count, 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Profile {
    locations: Locations,
    events: Vec<Event>,
    threads: Vec<Thread>,
    stacks: Stacks,
    samples: Vec<Sample>,
    has_times: bool,
    losses: Losses,
}

impl Profile {
    /// Returns the strings, objects, functions and locations.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    pub(crate) fn locations_mut(&mut self) -> &mut Locations {
        &mut self.locations
    }

    /// Returns the events in the order of their ids.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the event with this id, if the profile has it.
    pub fn event(&self, id: EventId) -> Option<&Event> {
        self.events.get(id.index())
    }

    /// Iterates over the events with their ids.
    pub fn event_ids(&self) -> impl ExactSizeIterator<Item = (EventId, &Event)> {
        self.events.iter().enumerate().map(|(index, event)| (EventId::next(index), event))
    }

    /// Returns the threads in the order of their ids.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Returns the thread with this id, if the profile has it.
    pub fn thread(&self, id: ThreadId) -> Option<Thread> {
        self.threads.get(id.index()).copied()
    }

    /// Returns the name of a thread; [`UNKNOWN`] for an id of another profile.
    pub fn thread_name(&self, id: ThreadId) -> &str {
        self.thread(id).map_or(UNKNOWN, |thread| self.locations.string(thread.name))
    }

    /// Returns the path of a thread's control group, if it was recorded.
    pub fn cgroup(&self, id: ThreadId) -> Option<&str> {
        Some(self.locations.string(self.thread(id)?.cgroup?))
    }

    /// Returns the samples. With [times](Self::has_times), each sample in insertion order;
    /// otherwise their sums.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    pub(crate) fn samples_mut(&mut self) -> &mut Vec<Sample> {
        &mut self.samples
    }

    /// Adds a location of a frame that is a label, not a function. The caller must not add a label
    /// twice.
    pub(crate) fn label(&mut self, name: &str) -> LocationId {
        let name = self.locations.intern(name);
        let function = self.locations.add_function(Function { name, file: None });
        let location = self.locations.add(None, 0);
        self.locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
        location
    }

    /// Returns the stack of a location and the stack of its caller, adding it if it is new.
    pub(crate) fn stack_with(&mut self, caller: Option<StackId>, location: LocationId) -> StackId {
        self.stacks.callee(caller, location)
    }

    /// Returns true if samples are kept separately with their times.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// Iterates over all stacks in the order of their ids, as the innermost location and the
    /// caller's stack, which has a smaller id.
    pub fn stacks(&self) -> impl ExactSizeIterator<Item = (LocationId, Option<StackId>)> {
        self.stacks.iter()
    }

    /// Iterates over the locations of a stack, innermost first.
    pub fn stack(&self, stack: Option<StackId>) -> impl Iterator<Item = LocationId> {
        let first = stack.and_then(|id| self.innermost(id));
        let chain = iter::successors(first, |&(_, caller)| self.innermost(caller?));
        chain.map(|(location, _)| location)
    }

    /// Returns the innermost location of a stack and the stack of its caller.
    pub(crate) fn innermost(&self, stack: StackId) -> Option<(LocationId, Option<StackId>)> {
        self.stacks.get(stack)
    }

    /// Returns the sum of an event's values, saturating at `u64::MAX`.
    pub fn total(&self, event: EventId) -> u64 {
        saturating_sum(self.samples.iter().filter(|sample| sample.event == event).map(|sample| sample.value))
    }

    /// Returns the number of an event's samples, including summed ones.
    pub fn sample_count(&self, event: EventId) -> u64 {
        saturating_sum(self.samples.iter().filter(|sample| sample.event == event).map(|sample| sample.count))
    }

    /// Removes all events for which `is_wanted` returns false, and their samples. The remaining
    /// events get new ids in the same order.
    ///
    /// ```
    /// use perf_abi::{Attr, Software};
    /// use perf_profile::{Event, Locations, ProfileBuilder};
    ///
    /// let mut locations = Locations::new();
    /// let mut builder = ProfileBuilder::new();
    /// let clock = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
    /// let faults = builder.event(Event::new("page-faults", &Attr::software(Software::PAGE_FAULTS)));
    /// let thread = builder.thread(7, 7, locations.intern("sort"));
    /// builder.sample(clock, thread, None, 1_000_000);
    /// builder.sample(faults, thread, None, 2);
    /// let mut profile = builder.finish(locations);
    ///
    /// profile.retain_events(|event| event.name == "page-faults");
    /// let (faults, _) = profile.event_ids().next().unwrap();
    /// assert_eq!(profile.total(faults), 2);
    /// ```
    pub fn retain_events(&mut self, mut is_wanted: impl FnMut(&Event) -> bool) {
        let mut kept = 0;
        let mut ids = Vec::with_capacity(self.events.len());
        self.events.retain(|event| {
            let is_kept = is_wanted(event);
            ids.push(is_kept.then(|| EventId::next(kept)));
            kept += usize::from(is_kept);
            is_kept
        });
        self.samples.retain_mut(|sample| match ids.get(sample.event.index()) {
            Some(&Some(id)) => {
                sample.event = id;
                true
            }
            _ => false,
        });
    }

    /// Removes the samples of all threads for which `is_wanted` returns false.
    ///
    /// ```
    /// use perf_abi::{Attr, Software};
    /// use perf_profile::{Event, Locations, ProfileBuilder};
    ///
    /// let mut locations = Locations::new();
    /// let mut builder = ProfileBuilder::new();
    /// let clock = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
    /// let name = locations.intern("sort");
    /// for (tid, value) in [(7, 1_000_000), (8, 2_000_000)] {
    ///     let thread = builder.thread(7, tid, name);
    ///     builder.sample(clock, thread, None, value);
    /// }
    /// let mut profile = builder.finish(locations);
    ///
    /// profile.retain_threads(|thread| thread.tid == 8);
    /// assert_eq!(profile.total(clock), 2_000_000);
    /// ```
    pub fn retain_threads(&mut self, mut is_wanted: impl FnMut(Thread) -> bool) {
        let is_kept: Vec<bool> = self.threads.iter().map(|&thread| is_wanted(thread)).collect();
        self.samples.retain(|sample| is_kept.get(sample.thread.index()).copied().unwrap_or(false));
    }

    /// Keeps the `most` samples with the largest weights. Returns the number of removed samples.
    pub(crate) fn keep_largest(&mut self, most: usize, weight: impl Fn(&Sample) -> f64) -> usize {
        let removed = self.samples.len().saturating_sub(most);
        if removed > 0 {
            self.samples.select_nth_unstable_by(most, |a, b| weight(b).total_cmp(&weight(a)));
            self.samples.truncate(most);
        }
        removed
    }

    pub(crate) fn losses_mut(&mut self) -> &mut Losses {
        &mut self.losses
    }

    /// Returns the losses of the recording, and the counts of incomplete stacks and names.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}
