use perf_sys::Event;

use super::plan::Plan;
use super::user_only::user_only;
use super::{EventSet, EventSetError, EventSetOptions, SpawnMisuse};
use crate::names::{EventGroup, NamedEvent};

/// # Events and threads that are added
impl EventSet {
    /// Opens another event on the online CPUs of the set, or for its threads. Returns its
    /// index, by which [`counts`](Self::counts) and [`EventSetRecord::index`](super::EventSetRecord::index) find it.
    ///
    /// It is enabled if the last call of the set was [`enable`](Self::enable), and writes into the rings of
    /// the other events. Tasks that have inherited the events of the set since it was opened do not have it,
    /// unless they are threads of a [process](super::EventSetTarget::process) of the target.
    ///
    /// # Errors
    ///
    /// As [`EventSetOptions::open`], and [`EventSetError::Spawn`] after the command was started, because it would not
    /// inherit the event. [`EventSetError::NotOneEvent`] with [`EventSetOptions::one_event_a_ring`]. The set is as before then.
    pub fn add_event(&mut self, event: impl Into<NamedEvent>) -> Result<usize, EventSetError> {
        if self.options.is_one_event {
            return Err(EventSetError::NotOneEvent { events: 2 });
        }
        if self.has_spawned {
            return Err(EventSetError::Spawn(SpawnMisuse::Again));
        }
        let mut group = EventGroup::from(event.into());
        if self.is_user_only() {
            group = user_only(group);
        }
        let options = EventSetOptions { groups: vec![group], probes: Vec::new(), ..self.options.clone() };
        let mut options = options.list_inherited_probes()?;
        let mut plan = Plan::new(&options.groups)?;
        let (index, first, asked) =
            (self.plan.names.len(), self.plan.groups.len(), self.options.groups.len());
        for event in plan.groups.iter_mut().flat_map(|group| &mut group.events) {
            event.index += index;
        }
        self.plan.names.append(&mut plan.names);
        self.plan.groups.append(&mut plan.groups);
        self.options.groups.append(&mut options.groups);
        let opened = self.open_added(first);
        if opened.is_err() {
            self.remove_groups(first);
            self.plan.names.truncate(index);
            self.options.groups.truncate(asked);
        } else {
            self.options.probes.append(&mut options.probes);
        }
        opened.map(|()| index)
    }

    fn open_added(&mut self, first: usize) -> Result<(), EventSetError> {
        let units = self.open_task_groups(first)?;
        self.add_units(units)?;
        if self.switch.is_on() {
            let is_added = |group: usize| group >= first;
            self.control(|unit| is_added(unit.group), Event::enable)?;
        }
        self.refresh()?; // opens what is missing on CPUs, as the others are enabled or not
        self.check_opened()
    }

    fn remove_groups(&mut self, first: usize) {
        while let Some(index) = self.units.iter().position(|unit| unit.group >= first) {
            self.drop_unit(index);
        }
        self.plan.groups.truncate(first);
        self.dropped.retain(|(group, ..)| *group < first);
        self.before.retain(|(group, _), _| *group < first);
    }

    /// Opens the events of the set for another thread, also for a set that is enabled and read. A thread that
    /// the set observes already is observed once; do not add one that inherits the events.
    ///
    /// # Errors
    ///
    /// As [`EventSetOptions::open`], [`EventSetError::NoTask`] if the thread has exited, and [`EventSetError::NotTasks`] if the
    /// set observes CPUs or a command. [`EventSetError::NotOneEvent`] with [`EventSetOptions::one_event_a_ring`]. The set is as
    /// before then.
    pub fn add_thread(&mut self, tid: u32) -> Result<(), EventSetError> {
        if self.options.is_one_event {
            return Err(EventSetError::NotOneEvent { events: 1 });
        }
        if !self.options.target.is_tasks() || self.options.target.is_command() {
            return Err(EventSetError::NotTasks);
        }
        if self.threads().contains(&tid) {
            return Ok(());
        }
        let units = self.open_one_thread(tid)?;
        if units.is_empty() {
            return Err(EventSetError::NoTask { id: tid });
        }
        self.exited.retain(|exited| *exited != tid);
        let added = self.add_units(units);
        let is_added = |thread: Option<u32>| thread == Some(tid);
        let started = added.and_then(|()| {
            let is_on = self.switch.is_on();
            self.control(|unit| is_on && is_added(unit.scope.thread_id()), Event::enable)
        });
        if started.is_err() {
            while let Some(index) = self.units.iter().position(|unit| is_added(unit.scope.thread_id())) {
                self.drop_unit(index);
            }
        }
        started
    }

    /// Closes the events of a thread. Its counts are kept, and its records can be drained. In a ring that
    /// several threads share, its events are disabled and closed with the ring.
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoTask`] if the set has no events of this thread, and [`EventSetError::Event`] if one cannot be
    /// read, which is not closed then.
    pub fn remove_thread(&mut self, tid: u32) -> Result<(), EventSetError> {
        if !self.threads().contains(&tid) {
            return Err(EventSetError::NoTask { id: tid });
        }
        self.control(|unit| unit.scope.thread_id() == Some(tid), Event::disable)?;
        while let Some(index) = self.units.iter().position(|unit| unit.scope.thread_id() == Some(tid)) {
            self.close_unit(index)?;
        }
        Ok(())
    }

    /// Drops the events of a unit and their counts. Those that were redirected stay, disabled, in their ring.
    fn drop_unit(&mut self, index: usize) {
        let unit = self.units.remove(index);
        for event in &unit.events {
            self.index.remove(event);
            let _ = event.disable(); // the addition has already failed
        }
        self.drop_ring_of(unit.scope);
    }
}
