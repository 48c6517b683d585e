use std::collections::HashMap;

use perf_sys::Event;

use super::counts::merge;
use super::plan::PlannedGroup;
use super::{Packages, Place, Set, SetError, Unit};
use crate::CpuList;
use crate::loss::monotonic;

/// A sign that an event is alive: its time enabled, and when it was first read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    time_enabled: u64,
    /// In ns of `CLOCK_MONOTONIC`.
    at_ns: u64,
}

/// An enabled event whose time enabled does not advance for this many ns is dead. The kernel updates the time
/// when the event is read.
const PULSE: u64 = 1_000_000;

/// The changes by a [`Set::refresh`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// CPUs whose events had died and were closed. Their counts are kept.
    pub closed: CpuList,
    /// CPUs whose events were opened: they came online, or had been offline in between.
    pub opened: CpuList,
}

/// # CPUs that come and go
impl Set {
    /// Looks for CPUs that went offline or came online, and opens the events of those that are online
    /// again.
    ///
    /// An event of a CPU dies when the CPU goes offline. Its count and its records remain: they are in
    /// [`counts`](Self::counts) and in the next drain. An event whose CPU was offline in between is found
    /// because its time enabled no longer advances; this needs two calls, at least 1 ms apart, while the
    /// set is enabled. A call reads one event of each CPU. For a cgroup that is a separate event of all tasks.
    /// The time without events is a gap in the [ledger](Self::losses).
    ///
    /// # Errors
    ///
    /// As [`SetOptions::open`](super::SetOptions::open), and if an event cannot be read.
    pub fn refresh(&mut self) -> Result<Refreshed, SetError> {
        self.refresh_with(|_| Ok(()))
    }

    /// As [`refresh`](Self::refresh), and calls `prepare` when all events of a CPU were opened, before
    /// they are enabled. For example, it attaches a program to them.
    ///
    /// # Errors
    ///
    /// As [`refresh`](Self::refresh), and the error of `prepare`, after which the events of that CPU stay
    /// disabled.
    pub fn refresh_with<E: From<SetError>>(
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
        let online = wanted.intersection(&CpuList::online(&self.options.system).map_err(SetError::from)?);
        refreshed.closed = self.close_dead(&online)?;
        let last_look = self.last_look;
        self.last_look = monotonic();
        let mut offline = wanted.difference(&online);
        for cpu in &online {
            let missing = self.missing_groups(cpu);
            if missing.is_empty() {
                continue;
            }
            if self.is_enabled {
                self.ledger.open_gap(Place::cpu(cpu), last_look);
            }
            if self.open_cpu(cpu, &missing)? {
                prepare(self)?;
                self.start(cpu)?;
                refreshed.opened = refreshed.opened.union(&std::iter::once(cpu).collect());
            } else {
                offline = offline.union(&std::iter::once(cpu).collect());
            }
        }
        self.offline = offline;
        if !refreshed.opened.is_empty() {
            self.packages = Packages::read(self).map_err(SetError::from)?;
        }
        Ok(refreshed)
    }

    /// Returns the groups that have no events on this CPU.
    pub(super) fn missing_groups(&self, cpu: u32) -> Vec<usize> {
        let place = Place::cpu(cpu);
        let is_open = |group: usize| self.units.iter().any(|unit| unit.group == group && unit.place == place);
        let is_here = |group: &PlannedGroup| self.is_on_cpus(group) && group.is_on(cpu);
        let groups = self.plan.groups.iter().enumerate().filter(|(_, group)| is_here(group));
        groups.map(|(group, _)| group).filter(|&group| !is_open(group)).collect()
    }

    /// Enables the events of a CPU that was opened after the others, and ends its gap.
    fn start(&mut self, cpu: u32) -> Result<(), SetError> {
        if self.is_enabled {
            self.control(|unit| unit.place == Place::cpu(cpu), Event::enable)?;
            self.ledger.close_gap(Place::cpu(cpu), monotonic());
        }
        Ok(())
    }

    /// Closes the events that no longer count because their CPU is or was offline, and keeps their
    /// counts. Returns the CPUs.
    ///
    /// The events of a CPU die together, so it reads one of them. The kernel moves those of an uncore PMU to
    /// another CPU, so it reads each.
    pub(super) fn close_dead(&mut self, online: &CpuList) -> Result<CpuList, SetError> {
        let mut closed = Vec::new();
        let mut known: HashMap<u32, Pulse> = HashMap::new();
        let mut index = 0;
        while let Some(unit) = self.units.get(index) {
            let cpu = unit.place.cpu_id().filter(|_| unit.place.thread_id().is_none());
            let Some(cpu) = cpu else {
                index += 1;
                continue;
            };
            let moves = self.plan.groups.get(unit.group).is_some_and(|group| group.is_cpu_only);
            let pulse = match known.get(&cpu).filter(|_| !moves) {
                Some(Pulse::Alive(_)) => Pulse::Alive(None),
                Some(&dead) => dead,
                None => self.pulse(self.watched(unit, cpu), moves || online.contains(cpu))?,
            };
            if !moves && !matches!(pulse, Pulse::Alive(None)) {
                known.entry(cpu).or_insert(pulse);
            }
            match pulse {
                Pulse::Alive(sign) => {
                    let watched = self.watches.get_mut(&cpu).or_else(|| self.units.get_mut(index));
                    if let Some(watched) = watched.filter(|_| sign.is_some()) {
                        watched.alive = sign;
                    }
                    index += 1;
                }
                Pulse::DeadSince(time) => {
                    self.watches.remove(&cpu);
                    self.retire(index, time)?;
                    closed.push(cpu);
                }
            }
        }
        Ok(closed.into_iter().collect())
    }

    /// Finds out whether the events of a unit still count.
    fn pulse(&self, unit: &Unit, may_be_alive: bool) -> Result<Pulse, SetError> {
        if !may_be_alive {
            return Ok(Pulse::DeadSince(unit.alive.map_or(self.last_look, |last| last.at_ns)));
        }
        if !self.is_enabled {
            return Ok(Pulse::Alive(None));
        }
        let time_enabled = unit.read()?.first().and_then(|count| count.as_ref()?.time_enabled);
        let now = time_enabled.map(|time_enabled| Sign { time_enabled, at_ns: monotonic() });
        Ok(match unit.alive.zip(now) {
            Some((last, now)) if now.time_enabled != last.time_enabled => Pulse::Alive(Some(now)),
            Some((last, now)) if now.at_ns - last.at_ns >= PULSE => Pulse::DeadSince(last.at_ns),
            Some((last, _)) => Pulse::Alive(Some(last)),
            None => Pulse::Alive(now),
        })
    }

    /// Closes the events of a unit and keeps their counts. Their records stay in the ring.
    fn retire(&mut self, index: usize, since: u64) -> Result<(), SetError> {
        let unit = self.units.remove(index);
        self.retired_lost.append(&mut self.lost_of(&unit)?);
        for (index, count) in self.read_unit(&unit)? {
            if let Some(count) = merge(&mut self.retired, index, count) {
                self.retired.push((index, count));
            }
        }
        if self.is_enabled {
            self.ledger.open_gap(unit.place, since);
        }
        self.drop_ring_of(unit.place);
        Ok(())
    }
}

/// The result of a look at an event.
#[derive(Clone, Copy, Debug)]
enum Pulse {
    Alive(Option<Sign>),
    /// In ns of `CLOCK_MONOTONIC`.
    DeadSince(u64),
}
