//! Events on CPUs or tasks, opened, read and closed as one.

use std::collections::HashMap;
use std::sync::Arc;

use perf_sys::{Event, ReadFormat, RingSet};

use crate::names::EventSpec;

use crate::system::CpuList;
use crate::why::DroppedFeature;

mod add;
mod control;
mod counts;
mod error;
mod event_error;
mod event_index;
mod hotplug;
mod loss;
mod lost;
mod open;
mod open_tasks;
mod options;
mod packages;
mod plan;
mod prepare;
mod probes;
mod read;
mod record;
mod rings;
mod running;
mod scope;
mod sized_rings;
mod target;
mod unit;
mod user_only;
mod watch;

pub use counts::{Counts, EventCounts, ScopeCount};
pub use error::{EventSetError, SpawnMisuse};
pub use event_error::EventError;
pub use hotplug::Refreshed;
pub use loss::{Gap, Loss, LossKind, LossLedger, LossReport};
pub use lost::EventLost;
pub use options::EventSetOptions;
pub use record::EventSetRecord;
pub use rings::RingSize;
pub use scope::{RingKey, Scope};
pub use sized_rings::{MappedRings, SizedRingsError, map_largest, map_largest_ring};
pub use target::{EventSetTarget, Inherit};

use event_index::EventIndex;
use packages::Packages;
use plan::Plan;
use running::Switch;
use unit::Unit;
use watch::Watch;

/// Events on CPUs or tasks: opened together, enabled together, read as one table of counts and as one
/// stream of records.
///
/// An event is opened once for each online CPU on which its PMU counts, or for each thread, by its true
/// id. With rings, all events of a CPU write into one. All are opened disabled, so none counts before the
/// last is open. Dropping the set closes everything.
///
/// ```
/// use perf_session::sys::{Attr, AttrFlags, Software};
/// use perf_session::{EventSpec, EventSetOptions, EventSetTarget};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let faults = Attr::software(Software::PAGE_FAULTS).with_flags(AttrFlags::EXCLUDE_KERNEL);
/// let options = EventSetOptions::new().event(EventSpec::new(faults)).target(EventSetTarget::calling_thread());
/// let mut set = match options.open() {
///     Ok(set) => set,
///     Err(error) => return Ok(println!("{error}")), // with the event, its CPU or thread and the usual causes
/// };
/// set.enable()?;
/// let memory = vec![1_u8; 1 << 20];
/// set.disable()?;
/// for event in set.counts()?.iter() {
///     println!("{} {}", event.total().value, event.name());
/// }
/// # drop(memory);
/// # Ok(())
/// # }
/// ```
///
/// # Offline CPUs
///
/// A CPU that is offline is skipped, also if it goes offline while the events are opened;
/// [`offline`](Self::offline) returns those. An event of a CPU does not survive that the CPU goes offline
/// (kernel errata): call [`refresh`](Self::refresh) now and then, which opens the events of a CPU again
/// and notes the gap in the [ledger](Self::losses).
///
/// # Commands
///
/// A set for a [command](EventSetTarget::command) opens its events for the calling thread, inherited and
/// enabled by `exec`, because that needs no stopped child. [`spawn`](Self::spawn) starts one command a set:
/// for a second child of the thread, such events are unreliable. The kernel may exchange the events of
/// parent and child in a context switch, and then the first `exec` ends the flag of the thread's own
/// events, so that the second does not enable its copies (kernel errata).
///
/// Other children that the thread starts meanwhile are counted from their `exec` too.
///
/// # For those who know perf-agent
///
/// | package perfevent | here |
/// |---|---|
/// | `EventSpec` | [`EventSpec`], whose attr is also that of a recording |
/// | `ProbeHardwareCycles` | [`cpu_event`](crate::cpu_event), with the attr and the reason for a file or a message |
/// | `OpenAll` | [`EventSetOptions::open`]; attach a program to each of [`events`](Self::events) |
/// | `WithDeferredEnable` | always: [`enable`](Self::enable) |
/// | `Set.Close` | [`close`](Self::close), or dropping the set |
#[derive(Debug)]
pub struct EventSet {
    plan: Plan,
    units: Vec<Unit>,
    /// `None` if the set only counts.
    rings: Option<RingSet<RingKey>>,
    index: EventIndex,
    /// Events that show whether a CPU was offline, by CPU.
    watches: HashMap<u32, Watch>,
    /// Whether the closed events of a group were enabled at a scope, after a number of turns of the switch.
    before: HashMap<(usize, Scope), (u32, bool)>,
    /// Counts of events that were closed after their CPU went offline.
    retired: Vec<(usize, ScopeCount)>,
    /// Lost records of those events.
    retired_lost: Vec<EventLost>,
    packages: Packages,
    ledger: LossLedger,
    offline: CpuList,
    exited: Vec<u32>,
    unsettled: Vec<u32>,
    reads_lost: bool,
    switch: Switch,
    /// Time of the last look at the online CPUs, in ns of `CLOCK_MONOTONIC`.
    last_look: u64,
    /// The thread that opened the events.
    opener: rustix::thread::Pid,
    has_spawned: bool,
    /// Whether all events were opened once.
    is_open: bool,
    ring_size: Option<RingSize>,
    /// Features of the attrs that were dropped, by group and member.
    dropped: Vec<(usize, usize, Vec<DroppedFeature>)>,
    /// Index of the group whose events could not be opened.
    failed_group: usize,
    /// Dropped after the events: the kernel removes the tracepoint of a probe only when no event of it is open.
    options: EventSetOptions,
}

/// An open event of an [`EventSet`].
#[derive(Clone, Copy, Debug)]
pub struct EventSetEvent<'s> {
    /// The event.
    pub event: &'s Arc<Event>,
    /// The thread or CPU that it observes.
    pub scope: Scope,
    /// Index of the logical event, in the order of the options.
    pub index: usize,
    /// The event as it was asked for.
    pub spec: &'s EventSpec,
    /// Whether it is a member of a group, not its leader.
    pub is_member: bool,
    /// The features of the attr that were dropped, if the options [allow](EventSetOptions::allow_fallback) it.
    pub dropped: &'s [DroppedFeature],
}

impl EventSet {
    /// Returns the options of a set without events.
    #[must_use]
    pub fn options() -> EventSetOptions {
        EventSetOptions::new()
    }

    /// Iterates over the open events: for each group on each CPU or thread the leader, then its members.
    pub fn events(&self) -> impl Iterator<Item = EventSetEvent<'_>> {
        self.units.iter().flat_map(move |unit| {
            let planned = self.plan.groups.get(unit.group).map_or(&[][..], |group| &group.events);
            let events = unit.events.iter().zip(planned).enumerate();
            events.map(move |(member, (event, planned))| EventSetEvent {
                event,
                scope: unit.scope,
                index: planned.index,
                spec: &planned.spec,
                is_member: member != 0,
                dropped: self.dropped_of(unit.group, member),
            })
        })
    }

    /// Returns the names of the logical events, in the order of the options.
    pub fn names(&self) -> &[Arc<str>] {
        &self.plan.names
    }

    /// Returns the CPUs on which the set has events of CPUs, or of tasks on one CPU.
    pub fn cpus(&self) -> CpuList {
        self.units.iter().filter_map(|unit| unit.scope.cpu_id()).collect()
    }

    /// Returns the threads for which events were opened, in the order in which they were found. Inherited
    /// copies of later threads are not in it.
    pub fn threads(&self) -> Vec<u32> {
        let mut threads: Vec<u32> = self.units.iter().filter_map(|unit| unit.scope.thread_id()).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// Returns the CPUs of the target that were offline when the set was opened or last
    /// [refreshed](Self::refresh).
    pub const fn offline(&self) -> &CpuList {
        &self.offline
    }

    /// Returns the threads that exited before their events were open.
    pub fn exited(&self) -> &[u32] {
        &self.exited
    }

    /// Returns the threads of which it is not certain whether they have inherited the events: the process
    /// started threads so fast that in each of several attempts one started while events were opened.
    /// They were not opened separately, so that nothing is counted twice.
    pub fn unsettled(&self) -> &[u32] {
        &self.unsettled
    }

    /// Returns whether the kernel counts the lost samples of each event. Since Linux 6.0.
    pub fn reads_lost(&self) -> bool {
        self.events().all(|event| event.event.attr().read_format.contains(ReadFormat::LOST))
    }

    /// Returns the size of the rings, or `None` if the set only counts.
    pub const fn ring_size(&self) -> Option<RingSize> {
        self.ring_size
    }

    fn dropped_of(&self, group: usize, member: usize) -> &[DroppedFeature] {
        let found = self.dropped.iter().find(|(of, index, _)| (*of, *index) == (group, member));
        found.map_or(&[], |(.., dropped)| dropped)
    }
}

/// A set may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<EventSet>();
};
