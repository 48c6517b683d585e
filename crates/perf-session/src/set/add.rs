//! Adding events and threads to an open set.

use perf_ring::Event;

use super::opened::{PlanLengths, Unit};
use super::plan::Plan;
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
        if self.opened.options().is_one_event {
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
            EventSetOptions { groups: vec![group], probes: Vec::new(), ..self.opened.options().clone() };
        let options = options.list_inherited_probes()?;
        let plan = Plan::new(&options.groups)?;
        let before = self.opened.plan_events(plan, options.groups);
        match self.open_added(before.groups) {
            Ok(()) => self.opened.keep_probes(options.probes),
            Err(error) => {
                self.close_added(before);
                return Err(error);
            }
        }
        Ok(before.names)
    }

    fn open_added(&mut self, first: usize) -> Result<(), EventSetError> {
        let units = self.opened.open_added_tasks(first)?;
        self.add_units(units)?;
        if self.switch.is_on() {
            self.opened.control(&|unit| unit.group >= first, Event::enable)?;
        }
        self.refresh()?; // opens what is missing on CPUs, as the others are enabled or not
        self.opened.check_all_opened(&self.hotplug.offline)
    }

    fn close_added(&mut self, before: PlanLengths) {
        self.drop_units(|unit| unit.group >= before.groups);
        self.forget_groups(before.groups);
        self.opened.remove_events(before);
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
        if self.opened.options().is_one_event {
            return Err(EventSetError::NotOneEvent { events: 1 });
        }
        if !self.opened.options().target.is_tasks() || self.opened.options().target.is_command() {
            return Err(EventSetError::NotTasks);
        }
        if self.threads().contains(&tid) {
            return Ok(());
        }
        let units = self.opened.open_added_thread(tid)?;
        if units.is_empty() {
            return Err(EventSetError::NoTask { id: tid });
        }
        let first = self.opened.units().len();
        self.opened.add_thread(tid, units);
        let added = self.rings.add(&self.opened, first);
        let is_added = |unit: &Unit| unit.scope.thread_id() == Some(tid);
        let started = added.and_then(|()| {
            let is_on = self.switch.is_on();
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
        while let Some(index) = self.opened.units().iter().position(is_removed) {
            if let Some(unit) = self.opened.close_unit(index)? {
                self.rings.end(&unit, self.opened.units());
            }
        }
        Ok(())
    }

    /// Drops units and their counts. Events that were redirected stay, disabled, in their ring.
    fn drop_units(&mut self, is_dropped: impl Fn(&Unit) -> bool) {
        while let Some(unit) = self.opened.take_unit(&is_dropped) {
            for event in &unit.events {
                self.rings.index.remove(event);
                let _ = event.disable(); // the addition has already failed
            }
            self.rings.end(&unit, self.opened.units());
        }
    }
}
