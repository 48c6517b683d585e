//! Starting and stopping a set, and its command.

use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use perf_ring::Event;

use super::loss::LossLedger;
use super::opened::Unit;
use super::{EventSet, EventSetError, SpawnMisuse};

/// The last call of `EventSet::enable` or `EventSet::disable`.
#[derive(Debug, Default)]
pub(super) struct Switch {
    is_on: AtomicBool,
    turns: AtomicU32,
}

impl Switch {
    fn turn(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Returns the number of calls. An observation before the last one does not show whether events
    /// count now.
    pub(super) fn turns(&self) -> u32 {
        self.turns.load(Ordering::Relaxed)
    }
}

/// # Control
impl EventSet {
    /// Starts the counting, by `ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)` of each event or group.
    ///
    /// One system call an event, so the events do not start at the same time. A set for a command
    /// needs no call: its events start at the `exec`. [Deferred](super::EventSetOptions::deferred)
    /// events are started too.
    ///
    /// # Errors
    ///
    /// The first error. The other events are started all the same.
    #[doc(alias = "PERF_EVENT_IOC_ENABLE")]
    pub fn enable(&self) -> Result<(), EventSetError> {
        self.switch.turn(true);
        self.opened.control(&|_| true, Event::enable)
    }

    /// Stops the counting, by `ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)` of each event or group. The
    /// counts and the last records can be read.
    ///
    /// # Errors
    ///
    /// The first error. The other events are stopped all the same.
    #[doc(alias = "PERF_EVENT_IOC_DISABLE")]
    pub fn disable(&self) -> Result<(), EventSetError> {
        self.switch.turn(false);
        self.opened.control(&|_| true, Event::disable)
    }

    /// Starts the counting of some events, by their indexes in the order of the options. Members of
    /// a group count while their leader is enabled.
    ///
    /// ```no_run
    /// # fn start(set: &perf_session::EventSet) -> Result<(), perf_session::EventSetError> {
    /// let names = set.names();
    /// set.enable_events(|index| names.get(index).is_some_and(|name| &**name == "cycles"))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The first error. The other events are started all the same.
    pub fn enable_events(&self, is_chosen: impl Fn(usize) -> bool) -> Result<(), EventSetError> {
        self.switch.turn(true);
        self.opened.control_events(&is_chosen, Event::enable)
    }

    /// Stops the counting of some events, by their indexes in the order of the options.
    ///
    /// # Errors
    ///
    /// The first error. The other events are stopped all the same.
    pub fn disable_events(&self, is_chosen: impl Fn(usize) -> bool) -> Result<(), EventSetError> {
        self.switch.turn(false);
        self.opened.control_events(&is_chosen, Event::disable)
    }

    /// Starts the command of a set for a [command](super::EventSetTarget::command). Its events
    /// count from its `exec` on, unless they are [deferred](super::EventSetOptions::deferred). Call
    /// it in the thread that opened the set.
    ///
    /// Events of PMUs that count for CPUs only start before it. The rings do not hang up when the
    /// command exits, because the calling thread has the events too: wait for the child as well.
    ///
    /// # Errors
    ///
    /// - [`EventSetError::Spawn`]: the target is not a command, was started already, or another
    ///   thread opened the set.
    /// - [`EventSetError::Event`]: an event of a CPU cannot be enabled.
    /// - [`EventSetError::Command`]: the program cannot be started.
    pub fn spawn(&mut self, command: &mut Command) -> Result<Child, EventSetError> {
        if !self.opened.options().target.is_command() {
            return Err(EventSetError::Spawn(SpawnMisuse::Target));
        }
        if self.has_spawned {
            return Err(EventSetError::Spawn(SpawnMisuse::Again));
        }
        if rustix::thread::gettid() != self.opener {
            return Err(EventSetError::Spawn(SpawnMisuse::Thread));
        }
        self.has_spawned = true;
        self.switch.turn(true);
        let (plan, options) = (self.opened.plan(), self.opened.options());
        let is_deferred =
            |unit: &Unit| plan.groups.get(unit.group).is_some_and(|group| options.is_deferred(group.first));
        self.opened.control(&|unit| unit.scope.thread_id().is_none() && !is_deferred(unit), Event::enable)?;
        command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            EventSetError::Command { program, error: Arc::new(error) }
        })
    }

    /// Stops and closes everything, and returns the ledger with the last losses.
    ///
    /// Unread records are dropped and counted as discarded.
    ///
    /// # Errors
    ///
    /// The first error of a call for an event. Everything is closed all the same, as by dropping
    /// the set. Clone the [`ledger`](Self::ledger) before, to have it in that case too.
    pub fn close(mut self) -> Result<LossLedger, EventSetError> {
        let disabled = self.disable();
        let discarded = self.discard();
        let read = self.read_losses();
        disabled.and(discarded).and(read)?;
        Ok(std::mem::take(&mut self.rings.ledger))
    }
}
