//! Adding events and threads to an open set.

use perf_ring::Event;

use super::plan::Plan;
use super::unit::Unit;
use super::user_only::user_only;
use super::{EventSet, EventSetError, EventSetOptions, SpawnMisuse};
use crate::names::{EventGroup, NamedEvent};

/// # Events and threads that are added
impl EventSet {
    /// Opens another event on the online CPUs of the set, or for its threads. Returns its index, by
    /// which [`counts`](Self::counts) and [`EventSetRecord::index`](super::EventSetRecord::index)
    /// find it.
    ///
    /// It is enabled if the last call of the set was [`enable`](Self::enable), and writes into the
    /// rings of the other events. Tasks that have inherited the events of the set since it was
    /// opened do not have it, unless they are threads of a
    /// [process](super::EventSetTarget::process) of the target.
    ///
    /// # Errors
    ///
    /// The set is as before the call after an error:
    ///
    /// - [`EventSetError::Spawn`]: the command was started already, and would not inherit the
    ///   event.
    /// - [`EventSetError::NotOneEvent`]: the set was opened with
    ///   [`EventSetOptions::one_event_a_ring`].
    /// - [`EventSetError::NoPmu`], [`EventSetError::NoCpu`]: the PMU is missing, or counts on no
    ///   CPU of the set.
    /// - [`EventSetError::Event`], [`EventSetError::Rings`], [`EventSetError::File`],
    ///   [`EventSetError::Probe`]: it cannot be opened or mapped, as by [`EventSetOptions::open`].
    pub fn add_event(&mut self, event: impl Into<NamedEvent>) -> Result<usize, EventSetError> {
        if self.opened.options.is_one_event {
            return Err(EventSetError::NotOneEvent { events: 2 });
        }
        if self.has_spawned {
            return Err(EventSetError::Spawn(SpawnMisuse::Again));
        }
        let mut group = EventGroup::from(event.into());
        if self.is_user_only() {
            group = user_only(group);
        }
        let options =
            EventSetOptions { groups: vec![group], probes: Vec::new(), ..self.opened.options.clone() };
        let mut options = options.list_inherited_probes()?;
        let mut plan = Plan::new(&options.groups)?;
        let (index, first, asked) =
            (self.opened.plan.names.len(), self.opened.plan.groups.len(), self.opened.options.groups.len());
        plan.groups.iter_mut().for_each(|group| group.first += index);
        self.opened.plan.names.append(&mut plan.names);
        self.opened.plan.groups.append(&mut plan.groups);
        self.opened.options.groups.append(&mut options.groups);
        let opened = self.open_added(first);
        if opened.is_err() {
            self.remove_groups(first);
            self.opened.plan.names.truncate(index);
            self.opened.options.groups.truncate(asked);
        } else {
            self.opened.options.probes.append(&mut options.probes);
        }
        opened.map(|()| index)
    }

    fn open_added(&mut self, first: usize) -> Result<(), EventSetError> {
        let units = self.opened.open_added_tasks(first)?;
        self.add_units(units)?;
        if self.opened.switch.is_on() {
            self.opened.control(&|unit| unit.group >= first, Event::enable)?;
        }
        self.refresh()?; // opens what is missing on CPUs, as the others are enabled or not
        self.opened.check_all_opened(&self.hotplug.offline)
    }

    fn remove_groups(&mut self, first: usize) {
        self.drop_units(|unit| unit.group >= first);
        self.opened.plan.groups.truncate(first);
        self.forget_groups(first);
    }

    /// Opens the events of the set for another thread, also for a set that is enabled and read. A
    /// thread that the set observes already is observed once; do not add one that inherits the
    /// events.
    ///
    /// # Errors
    ///
    /// The set is as before the call after an error:
    ///
    /// - [`EventSetError::NoTask`]: the thread has exited.
    /// - [`EventSetError::NotTasks`]: the set observes CPUs or a command.
    /// - [`EventSetError::NotOneEvent`]: the set was opened with
    ///   [`EventSetOptions::one_event_a_ring`].
    /// - [`EventSetError::Event`], [`EventSetError::Rings`]: an event cannot be opened, mapped or
    ///   enabled.
    pub fn add_thread(&mut self, tid: u32) -> Result<(), EventSetError> {
        if self.opened.options.is_one_event {
            return Err(EventSetError::NotOneEvent { events: 1 });
        }
        if !self.opened.options.target.is_tasks() || self.opened.options.target.is_command() {
            return Err(EventSetError::NotTasks);
        }
        if self.threads().contains(&tid) {
            return Ok(());
        }
        let units = self.opened.open_all_groups(tid)?;
        if units.is_empty() {
            return Err(EventSetError::NoTask { id: tid });
        }
        self.opened.exited.retain(|exited| *exited != tid);
        let added = self.add_units(units);
        let is_added = |unit: &Unit| unit.scope.thread_id() == Some(tid);
        let started = added.and_then(|()| {
            let is_on = self.opened.switch.is_on();
            self.opened.control(&|unit| is_on && is_added(unit), Event::enable)
        });
        if started.is_err() {
            self.drop_units(is_added);
        }
        started
    }

    /// Closes the events of a thread. Its counts are kept, and its records can be drained. In a
    /// ring that several threads share, its events are disabled and closed with the ring.
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoTask`] if the set has no events of this thread, and
    /// [`EventSetError::Event`] if one cannot be read, which is not closed then.
    pub fn remove_thread(&mut self, tid: u32) -> Result<(), EventSetError> {
        if !self.threads().contains(&tid) {
            return Err(EventSetError::NoTask { id: tid });
        }
        let is_removed = |unit: &Unit| unit.scope.thread_id() == Some(tid);
        self.opened.control(&is_removed, Event::disable)?;
        while let Some(index) = self.opened.units.iter().position(is_removed) {
            if let Some(unit) = self.opened.close_unit(index)? {
                self.rings.end(&unit, &self.opened.units);
            }
        }
        Ok(())
    }

    /// Drops units and their counts. Events that were redirected stay, disabled, in their ring.
    fn drop_units(&mut self, is_dropped: impl Fn(&Unit) -> bool) {
        while let Some(index) = self.opened.units.iter().position(&is_dropped) {
            let unit = self.opened.units.remove(index);
            for event in &unit.events {
                self.rings.index.remove(event);
                let _ = event.disable(); // the addition has already failed
            }
            self.rings.end(&unit, &self.opened.units);
        }
    }
}
