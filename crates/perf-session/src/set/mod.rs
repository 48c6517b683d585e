//! Events on CPUs or tasks, opened, read and closed as one.

use std::sync::Arc;

use perf_ring::{Event, ReadFormat, RingSet};

use crate::names::EventSpec;
use crate::system::CpuList;
use crate::why::DroppedFeature;

mod add;
mod attrs;
mod control;
mod counts;
mod error;
mod event_error;
mod hotplug;
mod loss;
mod observed_tasks;
mod open_tasks;
mod opened;
mod options;
mod packages;
mod plan;
mod probes;
mod read;
mod record;
mod rings;
mod running;
mod sample_repair;
mod scope;
mod sized_rings;
mod target;
mod user_only;
mod watch;

pub use counts::{CountRow, CountTable, Counts, EventCounts, Metric, MetricKind, ScopeCount};
pub use error::{EventSetError, SpawnMisuse};
pub use event_error::EventError;
pub use hotplug::Refreshed;
pub use loss::{Gap, Loss, LossKind, LossLedger, LossReport};
pub use observed_tasks::{NewTaskIds, ObservedTasks};
pub use options::EventSetOptions;
pub use read::EventLost;
pub use record::EventSetRecord;
pub use sample_repair::{RepairedSamples, SampleRepair};
pub use scope::{RingKey, Scope};
pub use sized_rings::{MappedRings, RingSize, SizedRingsError, map_largest, map_largest_ring};
pub use target::{EventSetTarget, Inherit};

use control::Switch;
use hotplug::Hotplug;
use opened::Opened;
use plan::Plan;
use rings::Rings;

/// Events on CPUs or tasks: opened together, enabled together, read as one table of counts and as
/// one stream of records.
///
/// An event is opened once for each online CPU on which its PMU counts, or for each thread, by its
/// true id. With rings, all events of a CPU write into one. All are opened disabled, so none counts
/// before the last is open. Dropping the set closes everything.
///
/// ```
/// use perf_session::ring::{Attr, AttrFlags, Software};
/// use perf_session::{EventSpec, EventSetOptions, EventSetTarget};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let faults = Attr::software(Software::PAGE_FAULTS).with_flags(AttrFlags::EXCLUDE_KERNEL);
/// let options = EventSetOptions::new().event(EventSpec::new(faults)).target(EventSetTarget::calling_thread());
/// # if options.clone().open().is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let mut set = options.open()?;
/// set.enable()?;
/// let memory = vec![1_u8; 1 << 20];
/// set.disable()?;
/// for event in set.counts()?.iter() {
///     println!("{} {}", event.total().value, event.name);
/// }
/// # drop(memory);
/// # Ok(())
/// # }
/// ```
///
/// # Offline CPUs
///
/// A CPU that is offline is skipped, also if it goes offline while the events are opened;
/// [`offline`](Self::offline) returns those. A per-CPU event dies when its CPU goes offline (kernel
/// errata). Call [`refresh`](Self::refresh) periodically to reopen events on CPUs that came back;
/// the gap is recorded in the [ledger](Self::losses).
///
/// # Commands
///
/// A set for a [command](EventSetTarget::command) opens its events for the calling thread,
/// inherited and enabled by `exec`, because that needs no stopped child. [`spawn`](Self::spawn)
/// starts one command a set: for a second child of the thread, such events are unreliable. The
/// kernel may exchange the events of parent and child in a context switch; the first `exec` then
/// clears `enable_on_exec` on the parent's own events, so a second child is never enabled (kernel
/// errata).
///
/// Other children that the thread starts are counted from their `exec` too.
///
/// # For those who know perf-agent
///
/// | package perfevent | here |
/// |---|---|
/// | `EventSpec` | [`EventSpec`], whose attr also goes into a recording |
/// | `ProbeHardwareCycles` | [`cpu_event`](crate::cpu_event), with the attr and the reason for a file or a message |
/// | `OpenAll` | [`EventSetOptions::open`]; attach a program to each of [`events`](Self::events) |
/// | `WithDeferredEnable` | always: [`enable`](Self::enable) |
/// | `Set.Close` | [`close`](Self::close), or dropping the set |
#[derive(Debug)]
pub struct EventSet {
    rings: Rings,
    hotplug: Hotplug,
    switch: Switch,
    /// The thread that opened the events, which alone can start the command.
    opener: rustix::thread::Pid,
    has_spawned: bool,
    /// Dropped after the rings, which hold events too.
    opened: Opened,
}

/// An open event of an [`EventSet`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventSetEvent<'s> {
    /// The open event, which the set owns.
    pub event: &'s Arc<Event>,
    /// The thread or CPU that it observes.
    pub scope: Scope,
    /// Index of the logical event, in the order of the options.
    pub index: usize,
    /// The event as it was asked for.
    pub spec: &'s EventSpec,
    /// Whether it is a member of a group, not its leader.
    pub is_member: bool,
    /// The [name](crate::EventGroup::name) of its group.
    pub group: Option<&'s str>,
    /// The features of the attr that were dropped, if the options
    /// [allow](EventSetOptions::allow_fallback) it.
    pub dropped: &'s [DroppedFeature],
}

impl EventSetEvent<'_> {
    /// Returns the error of a call for this event.
    fn failed(&self, error: impl Into<perf_ring::Error>) -> EventError {
        EventError::of(self.event, self.scope, self.is_member, error)
    }
}

impl EventSet {
    /// Opens all events of a plan, disabled, and maps their rings.
    fn open(options: EventSetOptions, plan: Plan) -> Result<Self, EventSetError> {
        let set = options.ring_pages.is_some().then(RingSet::new).transpose()?;
        let (mut opened, mut hotplug) = (Opened::new(options, plan), Hotplug::new());
        opened.open_all(&mut hotplug)?;
        opened.check_all_opened(&hotplug.offline)?;
        let mut rings = Rings::new(set);
        rings.add(&opened, 0)?;
        opened.read_packages()?;
        let (switch, opener) = (Switch::default(), rustix::thread::gettid());
        Ok(Self { rings, hotplug, switch, opened, opener, has_spawned: false })
    }

    /// Iterates over the open events: for each group on each CPU or thread the leader, then its
    /// members.
    pub fn events(&self) -> impl Iterator<Item = EventSetEvent<'_>> {
        self.opened.events()
    }

    /// Returns the names of the logical events, in the order of the options.
    pub fn names(&self) -> &[Arc<str>] {
        &self.opened.plan().names
    }

    /// Returns the CPUs of events that observe CPUs, or tasks on one CPU.
    pub fn cpus(&self) -> CpuList {
        self.opened.units().iter().filter_map(|unit| unit.scope.cpu_id()).collect()
    }

    /// Returns the threads for which events were opened, ascending. Later threads, which have
    /// inherited the events, are not in it.
    pub fn threads(&self) -> Vec<u32> {
        self.opened.threads()
    }

    /// Returns the CPUs of the target that were offline when the set was opened or last
    /// [refreshed](Self::refresh).
    pub const fn offline(&self) -> &CpuList {
        &self.hotplug.offline
    }

    /// Returns the threads that exited before their events were open.
    pub fn exited(&self) -> &[u32] {
        self.opened.exited()
    }

    /// Returns the threads that may or may not have inherited the events: the process started
    /// threads so fast that in each of several attempts one started while events were opened. They
    /// were not opened separately, so that nothing is counted twice.
    pub fn unsettled(&self) -> &[u32] {
        self.opened.unsettled()
    }

    /// Returns whether the kernel counts the lost samples of each event. Since Linux 6.0.
    pub fn reads_lost(&self) -> bool {
        self.events().all(|event| event.event.attr().read_format.contains(ReadFormat::LOST))
    }

    /// Returns the size of the rings, without those of [system-wide](EventSpec::system_wide)
    /// events, or `None` if the set only counts.
    pub const fn ring_size(&self) -> Option<RingSize> {
        self.rings.size
    }
}

/// A set may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<EventSet>();
};
