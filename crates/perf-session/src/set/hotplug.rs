//! CPUs that go offline and come online.

use std::iter;

use perf_ring::{Attr, AttrFlags, Clock, Event};

use super::control::Switch;
use super::loss::monotonic;
use super::opened::{Opened, Unit};
use super::running::Look;
use super::watch::Watch;
use super::{EventError, EventSet, EventSetError, Scope};
use crate::system::CpuList;

/// Attempts to open the events of a CPU that is online although the kernel reports it as missing:
/// it may go offline and return in between.
const ATTEMPTS: usize = 10;

/// The changes by an [`EventSet::refresh`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// CPUs whose events had died and were closed. Their counts are kept.
    pub closed: CpuList,
    /// CPUs whose events were opened, because they came online or had been offline in between.
    pub opened: CpuList,
}

/// The CPUs of a set: offline ones, and the state of those that have events.
#[derive(Debug)]
pub(super) struct Hotplug {
    /// Events that show whether a CPU was offline.
    watches: Vec<Watch>,
    /// The last state of closed events.
    before: Vec<Before>,
    pub(super) offline: CpuList,
    /// Time of the last look at the online CPUs, in ns of `CLOCK_MONOTONIC`.
    last_look: u64,
}

/// Whether the closed events of a group were enabled.
#[derive(Debug)]
struct Before {
    group: usize,
    scope: Scope,
    /// Turns of the switch until then.
    turns: u32,
    was_on: bool,
}

impl Hotplug {
    pub(super) fn new() -> Self {
        let offline = CpuList::default();
        Self { watches: Vec::new(), before: Vec::new(), offline, last_look: monotonic() }
    }

    /// Opens the events of CPUs, until each online CPU of the target has its events.
    pub(super) fn open_cpus(&mut self, opened: &mut Opened) -> Result<(), EventSetError> {
        if !opened.has_cpu_groups() {
            return Ok(());
        }
        let wanted = opened.wanted_cpus()?;
        loop {
            self.last_look = monotonic();
            let online = wanted.intersection(&CpuList::online(&opened.options().system)?);
            let mut is_complete = true;
            for cpu in &online {
                let missing = opened.missing_groups(cpu);
                if !missing.is_empty() {
                    is_complete = false;
                    let units = self.open_cpu(opened, cpu, &missing)?;
                    opened.add_units(units.unwrap_or_default());
                }
            }
            // A pass that opened something takes time, in which a CPU may come or go: only a pass
            // without changes is the last.
            if is_complete && !self.drop_dead(opened, &online)? {
                self.offline = wanted.difference(&online);
                return if online.is_empty() {
                    Err(EventSetError::AllOffline { cpus: wanted })
                } else {
                    Ok(())
                };
            }
        }
    }

    /// Closes events of CPUs that went offline since they were opened, before they have counted.
    /// Returns whether an online CPU is among them.
    fn drop_dead(&mut self, opened: &mut Opened, online: &CpuList) -> Result<bool, EventSetError> {
        self.look(online)?;
        let mut was_online = false;
        opened.retain_units(|unit| {
            let watch = unit.only_cpu().and_then(|cpu| self.watch_of(cpu));
            let is_dead = watch.is_some_and(|watch| watch.is_dead);
            was_online |= is_dead && unit.only_cpu().is_some_and(|cpu| online.contains(cpu));
            !is_dead
        });
        self.watches.retain(|watch| !watch.is_dead);
        Ok(was_online)
    }

    /// Opens groups of the plan on a CPU, and its watch. Returns `None` if it is offline.
    fn open_cpu(
        &mut self,
        opened: &mut Opened,
        cpu: u32,
        groups: &[usize],
    ) -> Result<Option<Vec<Unit>>, EventSetError> {
        for attempt in 1.. {
            let units: Result<Vec<Unit>, EventError> =
                groups.iter().map(|&group| opened.open_unit(group, opened.cpu_scope(group, cpu))).collect();
            let error = match units.and_then(|units| self.watch(cpu).map(|()| units)) {
                Ok(units) => return Ok(Some(units)),
                Err(error) => error,
            };
            if !error.is_of_offline_cpu() || attempt == ATTEMPTS {
                return Err(error.into());
            }
            if !CpuList::online(&opened.options().system)?.contains(cpu) {
                break;
            }
        }
        Ok(None)
    }

    /// Opens the watch of an online CPU, unless it is open.
    fn watch(&mut self, cpu: u32) -> Result<(), EventError> {
        if self.watch_of(cpu).is_none() {
            self.watches.push(Watch::open(cpu)?);
        }
        Ok(())
    }

    fn watch_of(&self, cpu: u32) -> Option<&Watch> {
        self.watches.iter().find(|watch| watch.cpu == cpu)
    }

    /// Finds the dead watches.
    fn look(&mut self, online: &CpuList) -> Result<(), EventError> {
        for watch in &mut self.watches {
            watch.look()?;
            watch.is_dead |= !online.contains(watch.cpu);
        }
        Ok(())
    }

    /// Returns whether a group is to be enabled on a CPU where it has no events: as it was there
    /// before, and not if it is disabled on all other CPUs.
    fn is_wanted(
        &self,
        opened: &Opened,
        switch: &Switch,
        group: usize,
        scope: Scope,
    ) -> Result<bool, EventError> {
        // Observations before the last call of `enable` or `disable` do not apply now.
        let before = self.before.iter().rfind(|before| (before.group, before.scope) == (group, scope));
        let was_on = before.filter(|before| before.turns == switch.turns()).map(|before| before.was_on);
        Ok(match (was_on, is_running(opened, group)?) {
            (Some(false), _) | (_, Some(false)) => false,
            (Some(true), _) | (_, Some(true)) => true,
            (None, None) => switch.is_on(),
        })
    }
}

/// # CPUs that come and go
impl EventSet {
    /// Looks for CPUs that went offline or came online, and opens the events of those that are
    /// online again.
    ///
    /// A per-CPU event dies when its CPU goes offline. Its count and its records remain: they are
    /// in [`counts`](Self::counts) and in the next drain. To detect a CPU that was offline in
    /// between, the set has an extra event, which no caller can disable. The time without events is
    /// a gap in the [ledger](Self::losses).
    ///
    /// Events that were disabled stay disabled, whether by [`disable`](Self::disable), by
    /// [`Event::disable`](perf_ring::Event::disable), by `RingSet::disable` of
    /// [`rings`](Self::rings), or by `prctl`: the events of a CPU are enabled again if they were
    /// enabled before, and not if they are disabled on all other CPUs. For a cgroup the kernel does
    /// not show this; its events follow the last [`enable`](Self::enable) or
    /// [`disable`](Self::disable) of the set.
    ///
    /// A call reads one event of each CPU twice, and the events of each CPU once. On a set of tasks
    /// it does nothing.
    ///
    /// # Errors
    ///
    /// [`EventSetError::File`] if the online CPUs cannot be read, and [`EventSetError::Event`] if
    /// an event cannot be opened, mapped or read.
    pub fn refresh(&mut self) -> Result<Refreshed, EventSetError> {
        self.refresh_with(|_| Ok(()))
    }

    /// Refreshes as [`refresh`](Self::refresh) does, and calls `prepare` when all events of a CPU
    /// were opened, before they are enabled. For example, it attaches a program to them.
    ///
    /// # Errors
    ///
    /// The errors of [`refresh`](Self::refresh), and the error of `prepare`, after which the events
    /// of that CPU stay disabled.
    pub fn refresh_with<E: From<EventSetError>>(
        &mut self,
        mut prepare: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<Refreshed, E> {
        // A caller that reads the rings itself has drained them since the last look.
        self.rings.remove_drained();
        let mut refreshed = Refreshed::default();
        if !self.opened.has_cpu_groups() {
            return Ok(refreshed);
        }
        let wanted = self.opened.wanted_cpus()?;
        let online = CpuList::online(&self.opened.options().system).map_err(EventSetError::from)?;
        let online = wanted.intersection(&online);
        refreshed.closed = self.close_dead(&online)?;
        let last_look = self.hotplug.last_look;
        self.hotplug.last_look = monotonic();
        let mut offline = wanted.difference(&online);
        for cpu in &online {
            let this = iter::once(cpu).collect();
            match self.reopen(cpu, last_look)? {
                Reopened::Nothing => {}
                Reopened::Offline => offline = offline.union(&this),
                Reopened::Groups(enabled) => {
                    prepare(self)?;
                    let is_chosen =
                        |unit: &Unit| unit.only_cpu() == Some(cpu) && enabled.contains(&unit.group);
                    self.opened.control(&is_chosen, Event::enable)?;
                    self.rings.ledger.close_gap(Scope::cpu(cpu), monotonic());
                    self.hotplug.before.retain(|before| before.scope.cpu_id() != Some(cpu));
                    refreshed.opened = refreshed.opened.union(&this);
                }
            }
        }
        self.hotplug.offline = offline;
        if !refreshed.opened.is_empty() {
            self.opened.read_packages().map_err(EventSetError::from)?;
        }
        Ok(refreshed)
    }

    /// Opens the missing events on an online CPU, disabled.
    fn reopen(&mut self, cpu: u32, last_look: u64) -> Result<Reopened, EventSetError> {
        let Self { opened, switch, hotplug, rings, .. } = self;
        let missing = opened.missing_groups(cpu);
        let has_events = opened.units().iter().any(|unit| unit.only_cpu() == Some(cpu));
        if missing.is_empty() {
            // Its events survived that it was offline, but its watch did not.
            let watched = if has_events { hotplug.watch(cpu) } else { Ok(()) };
            return match watched {
                Err(error) if !error.is_of_offline_cpu() => Err(error.into()),
                _ => Ok(Reopened::Nothing),
            };
        }
        let mut enabled = Vec::new();
        for &group in &missing {
            if hotplug.is_wanted(opened, switch, group, opened.cpu_scope(group, cpu))? {
                enabled.push(group);
            }
        }
        // An event that is added to others of the CPU leaves no gap.
        if !enabled.is_empty() && !has_events {
            rings.ledger.open_gap(Scope::cpu(cpu), last_look);
        }
        let Some(units) = hotplug.open_cpu(opened, cpu, &missing)? else { return Ok(Reopened::Offline) };
        self.add_units(units)?;
        Ok(Reopened::Groups(enabled))
    }

    /// Closes the events that no longer count because their CPU is or was offline, and keeps their
    /// counts. Returns the CPUs.
    fn close_dead(&mut self, online: &CpuList) -> Result<CpuList, EventSetError> {
        let Self { opened, switch, hotplug, rings, .. } = self;
        hotplug.look(online)?;
        let mut closed = Vec::new();
        let mut index = 0;
        while let Some(unit) = opened.units().get(index) {
            let Some(cpu) = unit.only_cpu() else {
                index += 1;
                continue;
            };
            let watch = hotplug.watch_of(cpu);
            // The last record of a CPU with many is later than the last look.
            let has_time = unit.leader().is_some_and(|leader| has_monotonic_time(leader.attr()));
            let last_record = rings.ledger.last_time(unit.scope.of_ring()).filter(|_| has_time).unwrap_or(0);
            let is_alive = watch.is_some_and(|watch| !watch.is_dead);
            // The kernel moves the events of an uncore PMU to another CPU, or they die too.
            let moves = opened.plan().groups.get(unit.group).is_some_and(|group| group.is_cpu_only);
            if !is_alive && moves && unit.is_on()? != Some(false) {
                index += 1;
                continue;
            }
            // Before it is closed: the last look shows whether it was enabled until its CPU went
            // offline.
            if let Some(look) = watch.map(|watch| look(opened, unit, watch, switch)).transpose()?.flatten() {
                opened.note_look(index, look);
            }
            if is_alive {
                index += 1;
                continue;
            }
            let since = watch.map_or(hotplug.last_look, |watch| watch.at_ns);
            let since = since.max(last_record);
            if let Some(unit) = opened.close_unit(index)? {
                if let Some(was_on) = unit.running.was_on {
                    let (group, scope, turns) = (unit.group, unit.scope, switch.turns());
                    hotplug.before.push(Before { group, scope, turns, was_on });
                }
                rings.end(&unit, opened.units());
                closed.push((unit.group, unit.scope, cpu, since));
            }
        }
        // Only now, because events of other dead CPUs looked disabled.
        for &(group, scope, cpu, since) in &closed {
            if hotplug.is_wanted(opened, switch, group, scope)? {
                rings.ledger.open_gap(Scope::cpu(cpu), since);
            }
        }
        // After an error the dead watches stay, so that the next call closes the rest.
        hotplug.watches.retain(|watch| !watch.is_dead);
        Ok(closed.into_iter().map(|(_, _, cpu, _)| cpu).collect())
    }

    /// Adds opened events to the set, and maps their rings.
    pub(super) fn add_units(&mut self, units: Vec<Unit>) -> Result<(), EventSetError> {
        let first = self.opened.units().len();
        self.opened.add_units(units);
        self.rings.add(&self.opened, first)
    }

    /// Forgets whether the events of these groups were enabled.
    pub(super) fn forget_groups(&mut self, first: usize) {
        self.hotplug.before.retain(|before| before.group < first);
    }
}

/// Looks at the times of a unit and of the watch of its CPU. Returns `None` if they do not show
/// whether the unit was enabled.
fn look(opened: &Opened, unit: &Unit, watch: &Watch, switch: &Switch) -> Result<Option<Look>, EventError> {
    let turns = switch.turns();
    // The time of a cgroup stops between its tasks.
    if is_of_cgroup(opened, unit.group) {
        return Ok(None);
    }
    let Some(time) = unit.time_enabled()? else { return Ok(None) };
    let slack = if watch.is_dead { 0 } else { monotonic().saturating_sub(watch.at_ns) };
    Ok(Some(Look { turns, time, watch: watch.time, slack }))
}

fn is_of_cgroup(opened: &Opened, group: usize) -> bool {
    opened.plan().groups.get(group).is_some_and(|group| opened.cgroup(group).is_some())
}

/// Returns whether the events of a group are enabled on the CPUs on which it is open, `None` if that
/// differs or is not known.
fn is_running(opened: &Opened, group: usize) -> Result<Option<bool>, EventError> {
    if is_of_cgroup(opened, group) {
        return Ok(None);
    }
    let mut all = None;
    for unit in opened.units().iter().filter(|unit| unit.group == group && unit.only_cpu().is_some()) {
        let one = unit.is_on()?;
        if one.is_none() || all.is_some_and(|all| Some(all) != one) {
            return Ok(None);
        }
        all = one;
    }
    Ok(all)
}

/// Returns whether the times of an event's records are of the clock of gaps.
fn has_monotonic_time(attr: &Attr) -> bool {
    attr.flags.contains(AttrFlags::USE_CLOCKID) && attr.clockid == Clock::MONOTONIC
}

/// The outcome of opening the missing events on a CPU.
enum Reopened {
    Nothing,
    Offline,
    /// Something was opened; these groups are to be enabled.
    Groups(Vec<usize>),
}
