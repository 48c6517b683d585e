//! The events of a set: the plan, the open events, and the counts of closed ones. All of them change
//! in this file only.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use perf_ring::decode::ReadValues;
use perf_ring::sys::Result as SysResult;
use perf_ring::{
    AttrFlags, Count, Errno, Error, Event, OpenOptions, ReadFormat, SampleType, Target, read_values,
};

use super::counts::merge;
use super::hotplug::Hotplug;
use super::open_tasks::OpenedTasks;
use super::packages::Packages;
use super::plan::{Plan, PlannedGroup};
use super::running::{Look, Running};
use super::{EventError, EventLost, EventSetError, EventSetEvent, EventSetOptions, Scope, ScopeCount};
use crate::names::{EventGroup, ProbeEvent};
use crate::system::{CpuList, FileError};
use crate::why::{AttrFallback, DroppedFeature, FallbackError};

/// The events of a set, and the options with which they are opened.
#[derive(Debug)]
pub(super) struct Opened {
    plan: Plan,
    /// The groups of the plan that are open, each on a CPU or for a thread.
    units: Vec<Unit>,
    /// Counts of units that were closed, by the index of the logical event.
    closed: Vec<(usize, ScopeCount)>,
    /// Lost records of units that were closed.
    closed_lost: Vec<EventLost>,
    packages: Packages,
    /// Threads that exited before their events were open.
    exited: Vec<u32>,
    /// Threads that may or may not have inherited the events.
    unsettled: Vec<u32>,
    /// Whether events are opened with `PERF_FORMAT_LOST`: until a kernel before 6.0 refuses it.
    reads_lost: bool,
    /// Dropped after the events, because the kernel removes the tracepoint of a probe only when
    /// none of its events is open.
    options: EventSetOptions,
}

/// The numbers of logical events, of groups of the plan and of groups of the options: a state of the
/// plan to which [`Opened::remove_events`] returns.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanLengths {
    pub(super) names: usize,
    pub(super) groups: usize,
    asked: usize,
}

/// A group of the plan, opened on one CPU or for one thread.
#[derive(Debug)]
pub(super) struct Unit {
    /// Index of the group in the plan.
    pub(super) group: usize,
    pub(super) scope: Scope,
    /// The events, group leader first.
    pub(super) events: Vec<Arc<Event>>,
    /// The features of the attr of each event that were dropped.
    pub(super) dropped: Vec<Vec<DroppedFeature>>,
    pub(super) running: Running,
}

impl Unit {
    /// Returns a unit without events.
    pub(super) fn new(group: usize, scope: Scope) -> Self {
        let (events, dropped) = (Vec::new(), Vec::new());
        Self { group, scope, events, dropped, running: Running::default() }
    }

    /// Returns the CPU of a unit that observes all tasks of a CPU.
    pub(super) fn only_cpu(&self) -> Option<u32> {
        self.scope.cpu_id().filter(|_| self.scope.thread_id().is_none())
    }

    pub(super) fn leader(&self) -> Option<&Arc<Event>> {
        self.events.first()
    }

    /// Reads the counts of the events, in their order; `None` for a pinned event that could not be
    /// scheduled. A group that is read as a whole is read in one system call.
    pub(super) fn read(&self) -> Result<Vec<Option<Count>>, EventError> {
        let Some(leader) = self.leader() else { return Ok(Vec::new()) };
        if leader.attr().read_format.contains(ReadFormat::GROUP) {
            return self.read_group(leader);
        }
        let read = |(index, event): (usize, &Arc<Event>)| match Count::read(event) {
            Ok(count) => Ok(Some(count)),
            Err(Error::PinnedFailed) => Ok(None),
            Err(error) => Err(EventError::of(event, self.scope, index != 0, error)),
        };
        self.events.iter().enumerate().map(read).collect()
    }

    fn read_group(&self, leader: &Event) -> Result<Vec<Option<Count>>, EventError> {
        let format = leader.attr().read_format;
        let mut words = vec![0; ReadValues::words(format, self.events.len() as u64) as usize];
        let values = match read_values(leader, &mut words) {
            Ok(values) => values,
            Err(Error::PinnedFailed) => return Ok(vec![None; self.events.len()]),
            Err(error) => return Err(EventError::of(leader, self.scope, false, error)),
        };
        let counts = values.iter().map(|entry| Count::from_entry(&values, entry));
        Ok(counts.map(Some).collect())
    }

    /// Returns whether the events are enabled now, `None` if the kernel could not schedule a pinned
    /// one.
    pub(super) fn is_on(&self) -> Result<Option<bool>, EventError> {
        // The kernel brings the time of an enabled event up to date at each read.
        let times = (self.time_enabled()?, self.time_enabled()?);
        Ok(times.0.zip(times.1).map(|(one, other)| one != other))
    }

    /// Reads the time enabled of the leader, in ns.
    pub(super) fn time_enabled(&self) -> Result<Option<u64>, EventError> {
        Ok(self.read()?.first().and_then(|count| count.as_ref()?.time_enabled))
    }
}

impl Opened {
    pub(super) fn new(options: EventSetOptions, plan: Plan) -> Self {
        Self {
            plan,
            units: Vec::new(),
            closed: Vec::new(),
            closed_lost: Vec::new(),
            packages: Packages::default(),
            exited: Vec::new(),
            unsettled: Vec::new(),
            reads_lost: true,
            options,
        }
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) const fn options(&self) -> &EventSetOptions {
        &self.options
    }

    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(super) fn packages(&self) -> &Packages {
        &self.packages
    }

    pub(super) fn exited(&self) -> &[u32] {
        &self.exited
    }

    pub(super) fn unsettled(&self) -> &[u32] {
        &self.unsettled
    }

    /// Opens all groups of the plan for the tasks and on the CPUs of the target. A weak group that
    /// cannot be opened is split into its events.
    pub(super) fn open_all(&mut self, hotplug: &mut Hotplug) -> Result<(), EventSetError> {
        loop {
            let opened = self.open_target_tasks().and_then(|tasks| {
                self.add_tasks(tasks);
                hotplug.open_cpus(self)
            });
            match opened {
                Err(error) if self.split_weak(&error) => {}
                opened => return opened,
            }
        }
    }

    /// Adds units that were opened.
    pub(super) fn add_units(&mut self, units: Vec<Unit>) {
        self.units.extend(units);
    }

    /// Adds the units of tasks, and notes the threads without.
    pub(super) fn add_tasks(&mut self, tasks: OpenedTasks) {
        self.units.extend(tasks.units);
        self.exited.extend(tasks.exited);
        self.unsettled = tasks.unsettled;
    }

    /// Adds the units of a thread that was added. Another thread had the id if it has exited before.
    pub(super) fn add_thread(&mut self, tid: u32, units: Vec<Unit>) {
        self.exited.retain(|exited| *exited != tid);
        self.units.extend(units);
    }

    /// Drops the units that are not kept, and their counts.
    pub(super) fn retain_units(&mut self, is_kept: impl FnMut(&Unit) -> bool) {
        self.units.retain(is_kept);
    }

    /// Removes a unit without its counts.
    pub(super) fn take_unit(&mut self, is_taken: impl Fn(&Unit) -> bool) -> Option<Unit> {
        let index = self.units.iter().position(is_taken)?;
        Some(self.units.remove(index))
    }

    /// Notes the last look at a unit.
    pub(super) fn note_look(&mut self, index: usize, look: Look) {
        if let Some(unit) = self.units.get_mut(index) {
            unit.running.look(look);
        }
    }

    /// Reads the packages of the CPUs, after events of CPUs were opened.
    pub(super) fn read_packages(&mut self) -> Result<(), FileError> {
        self.packages = Packages::read(self)?;
        Ok(())
    }

    /// Adds events to the plan. Returns its lengths before.
    pub(super) fn plan_events(&mut self, mut plan: Plan, groups: Vec<EventGroup>) -> PlanLengths {
        let (names, asked) = (self.plan.names.len(), self.options.groups.len());
        let before = PlanLengths { names, groups: self.plan.groups.len(), asked };
        plan.groups.iter_mut().for_each(|group| group.first += names);
        self.plan.names.append(&mut plan.names);
        self.plan.groups.append(&mut plan.groups);
        self.options.groups.extend(groups);
        before
    }

    /// Removes the events that were added to the plan since. They are not open.
    pub(super) fn remove_events(&mut self, before: PlanLengths) {
        self.plan.names.truncate(before.names);
        self.plan.groups.truncate(before.groups);
        self.options.groups.truncate(before.asked);
    }

    /// Keeps probes until the set is dropped.
    pub(super) fn keep_probes(&mut self, probes: Vec<Arc<ProbeEvent>>) {
        self.options.probes.extend(probes);
    }

    /// Iterates over the open events: for each unit the leader, then its members.
    pub(super) fn events(&self) -> impl Iterator<Item = EventSetEvent<'_>> {
        self.units.iter().flat_map(|unit| self.events_of(unit))
    }

    /// Iterates over the events of a unit, the leader first.
    pub(super) fn events_of<'s>(&'s self, unit: &'s Unit) -> impl Iterator<Item = EventSetEvent<'s>> {
        let group = self.plan.groups.get(unit.group);
        let name = group.and_then(|group| group.name.as_deref());
        let specs = group.into_iter().flat_map(PlannedGroup::events);
        let events = unit.events.iter().zip(&unit.dropped).zip(specs).enumerate();
        events.map(move |(member, ((event, dropped), (index, spec)))| EventSetEvent {
            event,
            scope: unit.scope,
            index,
            spec,
            is_member: member != 0,
            group: name,
            dropped,
        })
    }

    pub(super) fn threads(&self) -> Vec<u32> {
        let mut threads: Vec<u32> = self.units.iter().filter_map(|unit| unit.scope.thread_id()).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// Returns whether the groups of this kind are opened for CPUs.
    pub(super) fn is_on_cpus(&self, group: &PlannedGroup) -> bool {
        let is_for_all = group.is_cpu_only || group.is_system_wide;
        is_for_all || group.cgroup.is_some() || !self.options.target.is_tasks()
    }

    /// Returns the directory of the cgroup whose tasks a group observes.
    pub(super) fn cgroup<'s>(&'s self, group: &'s PlannedGroup) -> Option<&'s Arc<OwnedFd>> {
        let of_target = || self.options.target.cgroup_dir().filter(|_| !group.is_system_wide);
        group.cgroup.as_ref().or_else(of_target)
    }

    /// Returns the scope of a group that is opened for CPUs on one of them.
    pub(super) fn cpu_scope(&self, group: usize, cpu: u32) -> Scope {
        let is_system_wide = self.plan.groups.get(group).is_some_and(|group| group.is_system_wide);
        if is_system_wide { Scope::system_wide(cpu) } else { Scope::cpu(cpu) }
    }

    /// Returns whether a group of the plan is opened for CPUs.
    pub(super) fn has_cpu_groups(&self) -> bool {
        self.plan.groups.iter().any(|group| self.is_on_cpus(group))
    }

    /// Returns the CPUs of the target, also offline ones; all CPUs if a group is system-wide.
    pub(super) fn wanted_cpus(&self) -> Result<CpuList, EventSetError> {
        let possible = CpuList::possible(&self.options.system)?;
        let Some(cpus) = &self.options.target.cpus else { return Ok(possible) };
        let impossible = cpus.difference(&possible);
        if !impossible.is_empty() {
            return Err(EventSetError::ImpossibleCpus { cpus: impossible });
        }
        let has_all = self.plan.groups.iter().any(|group| group.is_system_wide);
        Ok(if has_all { possible } else { cpus.clone() })
    }

    /// Returns the groups for CPUs that are not open on this one.
    pub(super) fn missing_groups(&self, cpu: u32) -> Vec<usize> {
        let is_open = |group: usize| {
            let scope = self.cpu_scope(group, cpu);
            self.units.iter().any(|unit| unit.group == group && unit.scope == scope)
        };
        let is_of_target = self.options.target.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu));
        let is_here = |group: &PlannedGroup| {
            self.is_on_cpus(group) && group.is_on(cpu) && (is_of_target || group.is_system_wide)
        };
        let groups = self.plan.groups.iter().enumerate().filter(|(_, group)| is_here(group));
        groups.map(|(group, _)| group).filter(|&group| !is_open(group)).collect()
    }

    /// Checks that each logical event is open for at least one CPU or thread.
    pub(super) fn check_all_opened(&self, offline: &CpuList) -> Result<(), EventSetError> {
        let opened: Vec<usize> = self.events().map(|event| event.index).collect();
        let missing = self.plan.names.iter().enumerate().find(|(index, _)| !opened.contains(index));
        match missing {
            Some((_, name)) => {
                let target = self.wanted_cpus()?.difference(offline);
                Err(EventSetError::NoCpu { event: Arc::clone(name), target })
            }
            None => Ok(()),
        }
    }

    /// Opens a group of the plan. On an error, its events are closed.
    pub(super) fn open_unit(&mut self, group: usize, scope: Scope) -> Result<Unit, EventError> {
        let opened = match self.open_group(group, scope, self.reads_lost) {
            // A kernel before 6.0 may have refused the read format. If it refuses the group without
            // it too, the reason is different, and the next group tries again.
            Err(error) if self.reads_lost && error.error.errno() == Some(Errno::EINVAL) => {
                let opened = self.open_group(group, scope, false);
                self.reads_lost = opened.is_err();
                opened
            }
            opened => opened,
        };
        opened.map_err(|error| EventError { group: Some(group), ..error })
    }

    fn open_group(&self, group: usize, scope: Scope, reads_lost: bool) -> Result<Unit, EventError> {
        let mut unit = Unit::new(group, scope);
        let Some(planned) = self.plan.groups.get(group) else { return Ok(unit) };
        let cgroup = self.cgroup(planned);
        let target = match (cgroup, scope.cpu_id()) {
            (Some(dir), Some(cpu)) => Target::cgroup(dir, cpu),
            _ => self.options.target.at(scope),
        };
        for (spec, attr) in planned.specs.iter().zip(self.options.attrs(planned, scope, reads_lost)) {
            let label = Arc::clone(spec.label());
            let opened = fallback(&attr, self.options.allows_fallback).open(|attr| match unit.leader() {
                Some(leader) => OpenOptions::new().leader(leader).open(attr, target),
                None => Event::open(attr, target),
            });
            match opened {
                Ok(opened) => {
                    unit.events.push(Arc::new(opened.value.with_name(label)));
                    unit.dropped.push(opened.dropped);
                }
                Err(FallbackError { error, attr, .. }) => {
                    let failed = EventError::new(label, &attr, scope, !unit.events.is_empty(), error);
                    return Err(EventError { cgroup: cgroup.cloned(), ..failed });
                }
            }
        }
        Ok(unit)
    }

    /// After an error: plans the members of a weak group separately, and closes everything, because
    /// the groups then have other indexes. Returns `false` if the error has another reason.
    fn split_weak(&mut self, error: &EventSetError) -> bool {
        // The kernel returns EINVAL for more events than the PMU has counters.
        let too_large = error.event().filter(|event| event.error.errno() == Some(Errno::EINVAL));
        let group = too_large.and_then(|event| event.group);
        let is_split = group.is_some_and(|group| self.plan.split(group));
        if is_split {
            self.units.clear();
            self.exited.clear();
        }
        is_split
    }

    /// Closes the events of a unit, and keeps their counts.
    pub(super) fn close_unit(&mut self, index: usize) -> Result<Option<Unit>, EventSetError> {
        let Some(unit) = self.units.get(index) else { return Ok(None) };
        // Both are read before anything changes, so that an error leaves the unit open.
        let (counts, lost) = (self.counts_of(unit)?, self.lost_of(unit)?);
        self.closed_lost.extend(lost);
        for (index, count) in counts {
            if let Some(count) = merge(&mut self.closed, index, count) {
                self.closed.push((index, count));
            }
        }
        Ok(Some(self.units.remove(index)))
    }

    /// Calls `control` for the leader of each chosen unit, also after an error. Returns the first
    /// error.
    pub(super) fn control(
        &self,
        is_chosen: &dyn Fn(&Unit) -> bool,
        control: fn(&Event) -> SysResult<()>,
    ) -> Result<(), EventSetError> {
        let mut result = Ok(());
        for unit in self.units.iter().filter(|unit| is_chosen(unit)) {
            let Some(leader) = unit.leader() else { continue };
            let failed = |error| EventError::of(leader, unit.scope, false, error).into();
            result = result.and(control(leader).map_err(failed));
        }
        result
    }

    /// Calls `control` for each event with one of these indexes. Returns the first error.
    pub(super) fn control_events(
        &self,
        is_chosen: &dyn Fn(usize) -> bool,
        control: fn(&Event) -> SysResult<()>,
    ) -> Result<(), EventSetError> {
        let mut result = Ok(());
        for open in self.events().filter(|open| is_chosen(open.index)) {
            result = result.and(control(open.event).map_err(|error| open.failed(error).into()));
        }
        result
    }

    /// Reads the counts of all events, also of closed ones: one for each logical event, scope and
    /// PMU.
    pub(super) fn read_counts(&self) -> Result<Vec<(usize, ScopeCount)>, EventSetError> {
        // The count of an event that was closed and opened again is the sum of both.
        let mut closed = self.closed.clone();
        let mut all = Vec::new();
        for unit in &self.units {
            for (index, new) in self.counts_of(unit)? {
                if let Some(new) = merge(&mut closed, index, new) {
                    all.push((index, new));
                }
            }
        }
        all.append(&mut closed);
        all.sort_by(|(one, a), (other, b)| (one, a.scope).cmp(&(other, b.scope)));
        Ok(all)
    }

    /// Reads the lost records of all events, also of closed ones.
    pub(super) fn read_lost(&self) -> Result<Vec<EventLost>, EventSetError> {
        let mut all = self.closed_lost.clone();
        for unit in &self.units {
            all.append(&mut self.lost_of(unit)?);
        }
        Ok(all)
    }

    fn counts_of(&self, unit: &Unit) -> Result<Vec<(usize, ScopeCount)>, EventSetError> {
        let counts = self.events_of(unit).zip(unit.read()?);
        Ok(counts.map(|(open, read)| (open.index, ScopeCount::new(open.scope, open.spec, read))).collect())
    }

    fn lost_of(&self, unit: &Unit) -> Result<Vec<EventLost>, EventSetError> {
        let lost =
            self.events_of(unit).zip(unit.read()?).filter_map(|(open, read)| Some((open, read?.lost?)));
        let of_event = |(open, lost): (EventSetEvent<'_>, u64)| {
            let id = open.event.id().map_err(|error| open.failed(error))?;
            Ok(EventLost { id, scope: open.scope, index: open.index, lost })
        };
        lost.map(of_event).collect()
    }
}

/// Returns the fallback of an attr that keeps what the set needs, or the whole attr.
fn fallback(attr: &perf_ring::Attr, is_allowed: bool) -> AttrFallback {
    let flags = AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC | AttrFlags::SAMPLE_ID_ALL;
    let fallback = AttrFallback::new(attr)
        .keep_flags(flags | AttrFlags::INHERIT_THREAD)
        .keep_sample_type(attr.sample_type & (SampleType::IDENTIFIER | SampleType::TIME))
        .keep_read_format(attr.read_format - ReadFormat::LOST);
    if is_allowed { fallback } else { fallback.all_or_nothing() }
}
