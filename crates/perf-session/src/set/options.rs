//! Options of a set.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use perf_ring::Attr;

use super::plan::Plan;
use super::user_only::is_refused;
use super::{EventSet, EventSetError, EventSetTarget, Inherit};
use crate::names::{EventGroup, NamedEvent, ProbeEvent};
use crate::system::System;

/// The events, the target and the rings of an [`EventSet`].
///
/// The default target is all online CPUs, without rings. The set controls the flags `DISABLED`,
/// `ENABLE_ON_EXEC`, `INHERIT` and `INHERIT_THREAD` of the events, so they are ignored in the
/// attrs.
#[derive(Clone, Debug)]
pub struct EventSetOptions {
    pub(super) groups: Vec<EventGroup>,
    pub(super) target: EventSetTarget,
    /// The least and the most data pages of a ring.
    pub(super) ring_pages: Option<RangeInclusive<usize>>,
    /// Whether records have no `IDENTIFIER`, because one event writes into each ring.
    pub(super) is_one_event: bool,
    /// Whether the rings are overwritten.
    pub(super) is_overwritten: bool,
    pub(super) allows_fallback: bool,
    pub(super) falls_back_to_user: bool,
    /// Whether the events were restricted to user space.
    pub(super) is_user_only: bool,
    pub(super) inherit: Option<Inherit>,
    /// The indexes of the events that do not start with the command.
    pub(super) deferred: Vec<usize>,
    pub(super) flush_interval: Duration,
    pub(super) system: System,
    /// Probes that are listed in tracefs for this set.
    pub(super) probes: Vec<Arc<ProbeEvent>>,
}

impl EventSetOptions {
    /// Returns options without events.
    #[must_use]
    pub fn new() -> Self {
        Self {
            groups: Vec::new(),
            target: EventSetTarget::all_cpus(),
            ring_pages: None,
            is_one_event: false,
            is_overwritten: false,
            allows_fallback: false,
            falls_back_to_user: false,
            is_user_only: false,
            inherit: None,
            deferred: Vec::new(),
            flush_interval: Duration::from_millis(250),
            system: System::new(),
            probes: Vec::new(),
        }
    }

    /// Adds an event. An event of a hybrid machine is opened on each of its PMUs.
    #[must_use]
    pub fn event(self, event: impl Into<NamedEvent>) -> Self {
        self.groups([EventGroup::from(event.into())])
    }

    /// Adds several events, ungrouped.
    #[must_use]
    pub fn events<E: Into<NamedEvent>>(self, events: impl IntoIterator<Item = E>) -> Self {
        events.into_iter().fold(self, Self::event)
    }

    /// Adds a group: the leader and its members, which are on the PMU at the same time or not at
    /// all. On a hybrid machine it is one group for each PMU of the leader.
    #[must_use]
    #[doc(alias = "group_fd")]
    pub fn group<E: Into<NamedEvent>>(self, events: impl IntoIterator<Item = E>) -> Self {
        self.groups([EventGroup::new(events.into_iter().map(Into::into).collect())])
    }

    /// Adds the events of an event string: those between braces as a group, the others each by
    /// itself.
    ///
    /// The leader of a group with [leader sampling](EventGroup::is_leader_sampling) samples with
    /// the counts of all members, and the members do not sample. A [weak](EventGroup::is_weak)
    /// group that the PMU does not take is opened as single events.
    ///
    /// ```
    /// use perf_session::{EventSetOptions, System, parse};
    ///
    /// # fn main() -> Result<(), perf_session::ParseError> {
    /// let events = parse("{task-clock,page-faults},context-switches", &System::new())?;
    /// let options = EventSetOptions::new().groups(events);
    /// # let _ = options;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = EventGroup>) -> Self {
        for group in groups {
            if group.is_braced() {
                self.groups.push(group);
            } else {
                let cgroup = group.cgroup().cloned();
                let single = |event| match &cgroup {
                    Some(dir) => EventGroup::from(event).in_cgroup(Arc::clone(dir)),
                    None => EventGroup::from(event),
                };
                self.groups.extend(group.into_members().into_iter().map(single));
            }
        }
        self
    }

    /// Changes the attrs of all events that were added until now.
    ///
    /// ```
    /// use perf_session::ring::SampleType;
    /// use perf_session::{EventSetOptions, System, parse};
    ///
    /// # fn main() -> Result<(), perf_session::ParseError> {
    /// let events = parse("cpu-clock/freq=99/,page-faults/period=1/", &System::new())?;
    /// let options = EventSetOptions::new().groups(events);
    /// let options = options.map_attrs(|attr| attr.with_sample_type(SampleType::TID | SampleType::IP));
    /// # let _ = options;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn map_attrs(mut self, mut change: impl FnMut(Attr) -> Attr) -> Self {
        let mut of_event = |event: NamedEvent| event.map_specs(|spec| spec.map_attr(&mut change));
        self.groups = self.groups.into_iter().map(|group| group.map_members(&mut of_event)).collect();
        self
    }

    /// Sets the tasks and CPUs.
    #[must_use]
    pub fn target(self, target: EventSetTarget) -> Self {
        Self { target, ..self }
    }

    /// Maps rings, of `data_pages` pages of data each, a power of two. Without it, the set only
    /// counts.
    ///
    /// The kernel wakes a reader when a ring is half full, unless an attr sets another watermark
    /// ([`with_wakeup_watermark`](Attr::with_wakeup_watermark)) or a number of samples
    /// ([`with_wakeup_events`](Attr::with_wakeup_events)). See [`EventSet::wait`] for events that
    /// are rare.
    ///
    /// The set adds `IDENTIFIER` and `TIME` to the sample types, and `SAMPLE_ID_ALL` to the flags
    /// of all events, by which their records are attributed and sorted;
    /// [`one_event_a_ring`](Self::one_event_a_ring) leaves `IDENTIFIER` out. If all events that
    /// sample have one sample type, the others get it too, so that all records of a ring have one
    /// layout.
    ///
    /// A tracepoint with a period of 1 gets `PERIOD`, so that each hit is one sample with its
    /// count. A tracepoint may count more than 1 at a hit (kernel errata), nanoseconds for example.
    ///
    /// The kernel may write the id of a foreign event into the samples of a software event, if
    /// another program samples it too (kernel errata). [`EventSetRecord`](super::EventSetRecord)
    /// and [`SampleRepair`](super::SampleRepair) find the event if only one event of the ring can
    /// have such samples. The samples of several have no known event, and are decoded only if all
    /// events of the ring have one layout.
    ///
    /// The events of a task that follow new tasks are opened for each CPU, because the kernel maps
    /// no ring for an inherited event on any CPU.
    #[must_use]
    pub fn ring_pages(self, data_pages: usize) -> Self {
        self.ring_pages_within(data_pages..=data_pages)
    }

    /// Like [`ring_pages`](Self::ring_pages), but halves the size from the end of the range down to
    /// its start until all rings fit the limits of locked memory.
    /// [`EventSet::ring_size`](EventSet::ring_size) returns the outcome.
    #[must_use]
    pub fn ring_pages_within(self, data_pages: RangeInclusive<usize>) -> Self {
        Self { ring_pages: Some(data_pages), ..self }
    }

    /// Lets the kernel overwrite the oldest records of full rings, and drop none: a flight
    /// recorder. [`EventSet::snapshots`] copies what the rings hold; all other ways to read records
    /// find nothing. Since Linux 4.7.
    #[must_use]
    #[doc(alias = "write_backward")]
    pub fn overwrite(self) -> Self {
        Self { is_overwritten: true, ..self }
    }

    /// Leaves `IDENTIFIER` out of the records, which [`ring_pages`](Self::ring_pages) adds: 8 bytes
    /// a record. Only one event may write into a ring then, so the set has one event, on CPUs, for
    /// a cgroup, a command or a single thread, and no event or thread can be added. All records
    /// have the layout of the event.
    ///
    /// ```no_run
    /// use perf_session::ring::SampleType;
    /// use perf_session::{EventSetOptions, System, parse};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = parse("cpu-clock/freq=99/", &System::new())?;
    /// let options = EventSetOptions::new().groups(clock).ring_pages(128).one_event_a_ring();
    /// let set = options.map_attrs(|attr| attr.with_sample_type(SampleType::IP)).open()?;
    /// # drop(set);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[doc(alias = "PERF_SAMPLE_IDENTIFIER")]
    pub fn one_event_a_ring(self) -> Self {
        Self { is_one_event: true, ..self }
    }

    /// Sets the time after which [`EventSet::wait`] returns for unread records that did not cause a
    /// wakeup, because they are below the watermark of their ring: 250 ms by default.
    /// [`Duration::MAX`] leaves it to the kernel.
    #[must_use]
    pub fn flush_interval(self, interval: Duration) -> Self {
        Self { flush_interval: interval, ..self }
    }

    /// Allows attr features that this kernel or PMU rejects to be dropped, as by
    /// [`AttrFallback`](crate::AttrFallback).
    /// [`EventSetEvent::dropped`](crate::EventSetEvent::dropped) lists them.
    #[must_use]
    pub fn allow_fallback(self) -> Self {
        Self { allows_fallback: true, ..self }
    }

    /// Leaves events of a command disabled at its `exec`, by their indexes in the order in which
    /// they are added, for a group the index of its leader. [`EventSet::enable_events`] starts them
    /// later.
    ///
    /// ```
    /// use perf_session::{EventSetOptions, EventSetTarget, System, parse};
    ///
    /// # fn main() -> Result<(), perf_session::ParseError> {
    /// // The dummy event records mappings from the start.
    /// let events = parse("cpu-clock,dummy", &System::new())?;
    /// let options = EventSetOptions::new().groups(events).target(EventSetTarget::command()).deferred([0]);
    /// # let _ = options;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[doc(alias = "enable_on_exec")]
    pub fn deferred(self, events: impl IntoIterator<Item = usize>) -> Self {
        Self { deferred: events.into_iter().collect(), ..self }
    }

    /// Sets the new tasks that the events of a task follow, instead of the target's default:
    /// [`Inherit::Tasks`] for a process or a command, [`Inherit::Nothing`] for a thread. Events of
    /// CPUs ignore it. A command accepts [`Inherit::Tasks`] only, because it is itself a new task.
    ///
    /// An inherited probe is opened by a tracepoint, which is listed in tracefs until the set and
    /// its events are dropped: with the PMU, the observed tasks could not fork (kernel errata).
    #[must_use]
    pub fn inherit(self, inherit: Inherit) -> Self {
        Self { inherit: Some(inherit), ..self }
    }

    /// Sets the system whose `/proc` and `/sys` have the CPUs and threads. The events are opened on
    /// the running system in any case.
    #[must_use]
    pub fn system(self, system: System) -> Self {
        Self { system, ..self }
    }

    /// Opens all events, disabled. Nothing counts before [`EventSet::enable`] or, for a command,
    /// before its `exec`.
    ///
    /// # Errors
    ///
    /// No event stays open after an error. [`EventSetError::explain`] explains the first one:
    ///
    /// - [`EventSetError::Event`]: the kernel refused to open an event, or to map its ring.
    /// - [`EventSetError::NoEvents`], [`EventSetError::NoPmu`], [`EventSetError::GroupPmu`]: the
    ///   events cannot be opened together, or at all.
    /// - [`EventSetError::NoCpu`], [`EventSetError::ImpossibleCpus`],
    ///   [`EventSetError::AllOffline`]: the CPUs of the target do not suit the events or the
    ///   machine.
    /// - [`EventSetError::NoTask`]: a task of the target has exited.
    /// - [`EventSetError::CommandInherit`], [`EventSetError::NotOneEvent`]: the options contradict
    ///   each other.
    /// - [`EventSetError::Probe`]: an inherited probe cannot be listed in tracefs.
    /// - [`EventSetError::File`], [`EventSetError::Rings`]: the CPUs or threads cannot be read, or
    ///   the rings not be polled.
    pub fn open(self) -> Result<EventSet, EventSetError> {
        if self.target.is_command() && self.inherits() != Inherit::Tasks {
            return Err(EventSetError::CommandInherit { inherit: self.inherits() });
        }
        if self.is_one_event {
            self.check_one_event()?;
        }
        let user_only = self.if_refused();
        match (self.open_as_asked(), user_only) {
            // If user space is refused too, return its error, because its cause applies to both.
            (Err(error), Some(options)) if is_refused(&error) => options.open_as_asked(),
            (opened, _) => opened,
        }
    }

    fn open_as_asked(self) -> Result<EventSet, EventSetError> {
        let options = self.list_inherited_probes()?;
        let plan = Plan::new(&options.groups)?;
        EventSet::open(options, plan)
    }

    /// Checks that one event writes into each ring.
    fn check_one_event(&self) -> Result<(), EventSetError> {
        let members = self.groups.iter().flat_map(EventGroup::members);
        let events = members.map(|event| event.specs().len()).sum();
        if events > 1 || !self.target.is_one_event_a_ring() {
            return Err(EventSetError::NotOneEvent { events });
        }
        Ok(())
    }

    pub(super) fn is_deferred(&self, index: usize) -> bool {
        self.deferred.contains(&index)
    }

    pub(super) fn inherits(&self) -> Inherit {
        self.inherit.unwrap_or_else(|| self.target.default_inherit())
    }
}

impl Default for EventSetOptions {
    fn default() -> Self {
        Self::new()
    }
}
