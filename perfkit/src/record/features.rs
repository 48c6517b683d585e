//! The feature sections of a recording.

use std::env;

use perf_file::format::Feature;
use perf_file::synthesize::{Host, Synthesizer, tracepoint_names, tracing_data};
use perf_file::writer::{EventGroup, Features, Inventory, RecordedEvent};
use perf_session::sys::{AttrFlags, EventType};
use perf_session::{EventSet, EventSetError, EventSetEvent};
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

/// Name of a group to which the user gave none, as in the perf tool.
const ANONYMOUS: &str = "{anon_group}";

/// The events of a set as the file describes them, and their groups.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) events: Vec<RecordedEvent>,
    groups: Vec<EventGroup>,
    /// The logical event and the PMU of each event.
    keys: Vec<(usize, Option<String>)>,
}

impl Described {
    /// Describes the events: one for each PMU, with the ids of all CPUs and threads. `group_names` has the name of
    /// the group of each logical event.
    pub(super) fn new(set: &EventSet, group_names: &[Option<&str>]) -> Result<Self, EventSetError> {
        let (mut events, mut groups) = (Vec::<RecordedEvent>::new(), Vec::<EventGroup>::new());
        let mut keys = Vec::new();
        for opened in set.events() {
            let key = key_of(&opened);
            let at = keys.iter().position(|known| *known == key).unwrap_or(events.len());
            if at == events.len() {
                let name = set.names().get(opened.index).map(ToString::to_string).unwrap_or_default();
                if let Some(group) = groups.last_mut().filter(|_| opened.is_member) {
                    group.members += 1;
                } else {
                    let name = group_names.get(opened.index).copied().flatten().unwrap_or(ANONYMOUS);
                    groups.push(EventGroup { name: name.to_owned(), leader: at as u32, members: 1 });
                }
                keys.push(key);
                events.push(RecordedEvent::new(*opened.event.attr(), name));
            }
            if let Some(event) = events.get_mut(at) {
                event.ids.push(opened.event.id()?);
            }
        }
        groups.retain(|group| group.members > 1);
        Ok(Self { events, groups, keys })
    }

    /// Adds the ids of events that were opened since, and returns them with the index of their event.
    pub(super) fn add_new_ids(&mut self, set: &EventSet) -> Result<Vec<(usize, Vec<u64>)>, EventSetError> {
        let mut added: Vec<(usize, Vec<u64>)> = Vec::new();
        for opened in set.events() {
            let (key, id) = (key_of(&opened), opened.event.id()?);
            let Some(at) = self.keys.iter().position(|known| *known == key) else { continue };
            let Some(event) = self.events.get_mut(at).filter(|event| !event.ids.contains(&id)) else {
                continue;
            };
            event.ids.push(id);
            match added.iter_mut().find(|(event, _)| *event == at) {
                Some((_, ids)) => ids.push(id),
                None => added.push((at, vec![id])),
            }
        }
        Ok(added)
    }

    /// Returns the index of the event with this id.
    pub(super) fn index_of(&self, id: u64) -> Option<usize> {
        self.events.iter().position(|event| event.ids.contains(&id))
    }

    /// Returns the name of the event with this id.
    pub(super) fn name_of(&self, id: u64) -> Option<&str> {
        self.events.get(self.index_of(id)?).map(|event| event.name.as_str())
    }

    /// Returns what is known before the first record, and notes about what could not be read.
    pub(super) fn features(&self, host: &Host, notes: &mut Vec<String>) -> Features {
        let mut features = host.features();
        features.set_text(Feature::VERSION, concat!("perfkit ", env!("CARGO_PKG_VERSION")));
        let arguments: Vec<String> =
            env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        features.set_command_line(&arguments);
        features.set_events(&self.events);
        if !self.groups.is_empty() {
            features.set_groups(&self.groups);
        }
        let clock = self.events.first().filter(|event| event.attr.flags.contains(AttrFlags::USE_CLOCKID));
        if let Some(event) = clock {
            set_clock(&mut features, event.attr.clockid.0.unsigned_abs());
        }
        let tracepoints = self.events.iter().filter(|event| event.attr.kind == EventType::TRACEPOINT);
        let ids: Vec<u64> = tracepoints.map(|event| event.attr.config).collect();
        if !ids.is_empty() {
            let names = tracepoint_names(host, &ids);
            let names = names.iter().map(|(system, name)| (system.as_str(), name.as_str()));
            match tracing_data(host, names) {
                Ok(data) => features.set_tracing_data(data),
                Err(error) => notes.push(format!("the file has no formats of tracepoints: {error}")),
            }
        }
        features
    }
}

fn key_of(opened: &EventSetEvent<'_>) -> (usize, Option<String>) {
    (opened.index, opened.spec.pmu().map(str::to_owned))
}

/// Adds what is known after the last record.
pub(super) fn add_results(
    features: &mut Features,
    described: &Described,
    inventory: &Inventory,
    synthesizer: &mut Synthesizer,
) {
    // With the ids of CPUs that came online.
    features.set_events(&described.events);
    if let Some((first, last)) = inventory.sample_times() {
        features.set_sample_time(first, last);
    }
    for (path, build_id) in inventory.files() {
        match build_id {
            Some(id) => synthesizer.add_build_id(path, id),
            None => synthesizer.add_file(path),
        }
    }
    features.set_build_ids(&synthesizer.build_ids());
}

/// Sets the time of the events' clock, which is `CLOCK_MONOTONIC`, at an instant of the wall clock.
fn set_clock(features: &mut Features, clock: u32) {
    let wall = nanoseconds(clock_gettime(ClockId::Realtime));
    let monotonic = nanoseconds(clock_gettime(ClockId::Monotonic));
    features.set_clock(clock, nanoseconds(clock_getres(ClockId::Monotonic)), wall, monotonic);
}

fn nanoseconds(time: Timespec) -> u64 {
    // Neither clock is negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
