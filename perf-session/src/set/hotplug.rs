use std::collections::HashMap;
use std::mem;

use perf_sys::Event;

use super::counts::merge;
use super::plan::PlannedGroup;
use super::watch::Watch;
use super::{EventSet, EventSetError, Packages, Scope};
use crate::set::loss::monotonic;
use crate::system::CpuList;

/// The changes by an [`EventSet::refresh`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// CPUs whose events had died and were closed. Their counts are kept.
    pub closed: CpuList,
    /// CPUs whose events were opened: they came online, or had been offline in between.
    pub opened: CpuList,
}

/// # CPUs that come and go
impl EventSet {
    /// Looks for CPUs that went offline or came online, and opens the events of those that are online
    /// again.
    ///
    /// An event of a CPU dies when the CPU goes offline. Its count and its records remain: they are in
    /// [`counts`](Self::counts) and in the next drain. A CPU that was offline in between is found by an event
    /// of the set's own, which no caller can disable. The time without events is a gap in the
    /// [ledger](Self::losses).
    ///
    /// Events that were disabled stay disabled, whether by [`disable`](Self::disable), by
    /// [`Event::disable`](perf_sys::Event::disable), by `RingSet::disable` of [`rings`](Self::rings), or by
    /// `prctl`: those of a CPU are opened again as they were before, and not enabled if they are disabled on
    /// all other CPUs. For a cgroup the kernel does not show this. There they are as the last
    /// [`enable`](Self::enable) or [`disable`](Self::disable) of the set.
    ///
    /// A call reads one event of each CPU twice, and the events of each CPU once. On a set of tasks it does
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`EventSetOptions::open`](super::EventSetOptions::open), and if an event cannot be read.
    pub fn refresh(&mut self) -> Result<Refreshed, EventSetError> {
        self.refresh_with(|_| Ok(()))
    }

    /// As [`refresh`](Self::refresh), and calls `prepare` when all events of a CPU were opened, before
    /// they are enabled. For example, it attaches a program to them.
    ///
    /// # Errors
    ///
    /// As [`refresh`](Self::refresh), and the error of `prepare`, after which the events of that CPU stay
    /// disabled.
    pub fn refresh_with<E: From<EventSetError>>(
        &mut self,
        mut prepare: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<Refreshed, E> {
        // A caller that reads the rings by itself has drained them since the last look.
        self.remove_drained();
        let mut refreshed = Refreshed::default();
        if !self.plan.groups.iter().any(|group| self.is_on_cpus(group)) {
            return Ok(refreshed);
        }
        let wanted = self.wanted_cpus()?;
        let online =
            wanted.intersection(&CpuList::online(&self.options.system).map_err(EventSetError::from)?);
        refreshed.closed = self.close_dead(&online)?;
        let last_look = self.last_look;
        self.last_look = monotonic();
        let mut offline = wanted.difference(&online);
        for cpu in &online {
            let missing = self.missing_groups(cpu);
            if missing.is_empty() {
                self.watch_again(cpu)?;
                continue;
            }
            let scope = Scope::cpu(cpu);
            let mut wanted = Vec::new();
            for &group in &missing {
                if self.is_wanted(group, scope)? {
                    wanted.push(group);
                }
            }
            // Not for an event that is added to those of the CPU.
            if !wanted.is_empty() && self.units.iter().all(|unit| unit.scope != scope) {
                self.ledger.open_gap(scope, last_look);
            }
            if self.open_cpu(cpu, &missing)? {
                prepare(self)?;
                self.control(|unit| unit.scope == scope && wanted.contains(&unit.group), Event::enable)?;
                self.ledger.close_gap(scope, monotonic());
                self.before.retain(|(_, before), _| *before != scope);
                refreshed.opened = refreshed.opened.union(&std::iter::once(cpu).collect());
            } else {
                offline = offline.union(&std::iter::once(cpu).collect());
            }
        }
        self.offline = offline;
        if !refreshed.opened.is_empty() {
            self.packages = Packages::read(self).map_err(EventSetError::from)?;
        }
        Ok(refreshed)
    }

    /// Returns the groups that have no events on this CPU.
    pub(super) fn missing_groups(&self, cpu: u32) -> Vec<usize> {
        let scope = Scope::cpu(cpu);
        let is_open = |group: usize| self.units.iter().any(|unit| unit.group == group && unit.scope == scope);
        let is_here = |group: &PlannedGroup| self.is_on_cpus(group) && group.is_on(cpu);
        let groups = self.plan.groups.iter().enumerate().filter(|(_, group)| is_here(group));
        groups.map(|(group, _)| group).filter(|&group| !is_open(group)).collect()
    }

    /// Opens the watch of an online CPU whose events survived that it was offline.
    fn watch_again(&mut self, cpu: u32) -> Result<(), EventSetError> {
        let has_events = self.units.iter().any(|unit| unit.scope == Scope::cpu(cpu));
        if !has_events || self.watches.contains_key(&cpu) {
            return Ok(());
        }
        match Watch::open(cpu) {
            Ok(watch) => {
                self.watches.insert(cpu, watch);
                Ok(())
            }
            Err(error) if error.is_of_offline_cpu() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Closes the events that no longer count because their CPU is or was offline, and keeps their
    /// counts. Returns the CPUs.
    pub(super) fn close_dead(&mut self, online: &CpuList) -> Result<CpuList, EventSetError> {
        let mut watches = mem::take(&mut self.watches);
        let closed = self.close_unwatched(&mut watches, online);
        if closed.is_ok() {
            watches.retain(|_, watch| !watch.is_dead);
        }
        self.watches = watches;
        closed
    }

    fn close_unwatched(
        &mut self,
        watches: &mut HashMap<u32, Watch>,
        online: &CpuList,
    ) -> Result<CpuList, EventSetError> {
        for (&cpu, watch) in &mut *watches {
            watch.look()?;
            watch.is_dead |= !online.contains(cpu);
        }
        let mut closed = Vec::new();
        let mut index = 0;
        while let Some(unit) = self.units.get(index) {
            let cpu = unit.scope.cpu_id().filter(|_| unit.scope.thread_id().is_none());
            let Some(cpu) = cpu else {
                index += 1;
                continue;
            };
            let watch = watches.get(&cpu);
            // The kernel moves the events of an uncore PMU to another CPU, or they die too.
            let moves = self.plan.groups.get(unit.group).is_some_and(|group| group.is_cpu_only);
            let survives = moves && unit.is_on()? != Some(false);
            match watch {
                Some(watch) if !watch.is_dead => self.look_at(index, watch)?,
                _ if survives => {}
                watch => {
                    if let Some(watch) = watch {
                        self.look_at(index, watch)?;
                    }
                    let since = watch.map_or(self.last_look, |watch| watch.at_ns);
                    closed.extend(self.close_unit(index)?.map(|(group, scope)| (group, scope, since)));
                    continue;
                }
            }
            index += 1;
        }
        // Now that those of other dead CPUs do not look disabled.
        for &(group, scope, since) in &closed {
            if self.is_wanted(group, scope)? {
                self.ledger.open_gap(scope, since);
            }
        }
        Ok(closed.into_iter().filter_map(|(_, scope, _)| scope.cpu_id()).collect())
    }

    /// Closes the events of a unit, and keeps their counts. Their records stay in the ring. Returns its group
    /// and scope.
    pub(super) fn close_unit(&mut self, index: usize) -> Result<Option<(usize, Scope)>, EventSetError> {
        let Some(unit) = self.units.get(index) else { return Ok(None) };
        let (counts, mut lost) = (self.read_unit(unit)?, self.lost_of(unit)?);
        let unit = self.units.remove(index);
        let key = (unit.group, unit.scope);
        self.retired_lost.append(&mut lost);
        for (index, count) in counts {
            if let Some(count) = merge(&mut self.retired, index, count) {
                self.retired.push((index, count));
            }
        }
        if let Some(was_on) = unit.running.was_on {
            self.before.insert(key, (self.switch.turns(), was_on));
        }
        self.drop_ring_of(unit.scope);
        Ok(Some(key))
    }
}
