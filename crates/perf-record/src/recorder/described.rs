//! The events and the feature sections of a recording.

use std::env;
use std::os::unix::ffi::OsStringExt;

use perf_file::FeatureData;
use perf_file::feature::{ClockData, GroupDesc, SampleTime};
use perf_file::format::Feature;
use perf_file::writer::{Features, Inventory, RecordedEvent};
use perf_session::ring::abi::Clock;
use perf_session::ring::{AttrFlags, EventType, SampleType};
use perf_session::{EventSet, EventSetError, EventSetEvent, System};
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

use crate::synthesize::{Missing, Synthesizer, add_tracing_data, machine_features};

/// Name of a group to which the user gave no name, as in the perf tool.
const ANONYMOUS: &str = "{anon_group}";

/// The events and groups of a set as the file describes them.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) events: Vec<RecordedEvent>,
    /// Name, index of the leader and number of members of each group.
    groups: Vec<(String, u32, u32)>,
    /// The logical event and the PMU of each event.
    keys: Vec<(usize, Option<String>)>,
}

impl Described {
    /// Describes the events: one for each PMU, with the ids of all CPUs and threads.
    pub(super) fn new(set: &EventSet) -> Result<Self, EventSetError> {
        let (mut events, mut groups) = (Vec::<RecordedEvent>::new(), Vec::<(String, u32, u32)>::new());
        let mut keys = Vec::new();
        for opened in set.events() {
            let key = key_of(&opened);
            let at = keys.iter().position(|known| *known == key).unwrap_or(events.len());
            if at == events.len() {
                let name = set.names().get(opened.index).map(ToString::to_string).unwrap_or_default();
                if let Some((.., members)) = groups.last_mut().filter(|_| opened.is_member) {
                    *members += 1;
                } else {
                    groups.push((opened.group.unwrap_or(ANONYMOUS).to_owned(), at as u32, 1));
                }
                keys.push(key);
                events.push(RecordedEvent::new(*opened.event.attr(), name));
            }
            if let Some(event) = events.get_mut(at) {
                event.ids.push(opened.event.id()?);
            }
        }
        groups.retain(|(.., members)| *members > 1);
        Ok(Self { events, groups, keys })
    }

    /// Adds the ids of events that were opened in the meantime, and returns them with the index of
    /// their event.
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

    /// Returns the sections that are known before the first record, and adds to `missing` what
    /// could not be read.
    pub(super) fn features(&self, system: &System, missing: &mut Vec<Missing>) -> Features {
        let (mut features, unread) = machine_features(system);
        missing.extend(unread.map(Missing::Machine));
        let version = concat!("perf-record ", env!("CARGO_PKG_VERSION")).as_bytes();
        features.set(Feature::VERSION, &FeatureData::Text(version));
        let arguments: Vec<Vec<u8>> = env::args_os().map(OsStringExt::into_vec).collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        features.set(Feature::CMDLINE, &FeatureData::CommandLine(arguments.as_slice().into()));
        features.set_events(&self.events);
        let groups: Vec<GroupDesc<'_>> = self
            .groups
            .iter()
            .map(|(name, leader, members)| GroupDesc {
                name: name.as_bytes(),
                leader: *leader,
                members: *members,
            })
            .collect();
        if !groups.is_empty() {
            features.set(Feature::GROUP_DESC, &FeatureData::Groups(groups.as_slice().into()));
        }
        let has_branches = |event: &RecordedEvent| event.attr.sample_type.contains(SampleType::BRANCH_STACK);
        if self.events.iter().any(has_branches) {
            features.set(Feature::BRANCH_STACK, &FeatureData::Marker);
        }
        let clock = self.events.first().filter(|event| event.attr.flags.contains(AttrFlags::USE_CLOCKID));
        if let Some(event) = clock {
            set_clock(&mut features, event.attr.clockid);
        }
        let tracepoints = self.events.iter().filter(|event| event.attr.kind == EventType::TRACEPOINT);
        let ids: Vec<u64> = tracepoints.map(|event| event.attr.config).collect();
        if !ids.is_empty() {
            let added = add_tracing_data(&mut features, system, &ids);
            missing.extend(added.err().map(Missing::TracepointFormats));
        }
        features
    }

    /// Adds the sections that are known after the last record.
    pub(super) fn add_results(
        &self,
        features: &mut Features,
        inventory: &Inventory,
        synthesizer: &mut Synthesizer,
    ) {
        // Includes the ids on CPUs that came online.
        features.set_events(&self.events);
        if let Some((first, mut last)) = inventory.sample_times {
            // A thread that waits until the end of the recording writes no record there.
            let has_switches = |event: &RecordedEvent| {
                event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH | AttrFlags::USE_CLOCKID)
            };
            if self.events.iter().any(has_switches) {
                last = last.max(monotonic_time());
            }
            features.set(Feature::SAMPLE_TIME, &FeatureData::SampleTime(SampleTime { first, last }));
        }
        for (path, build_id) in &inventory.files {
            match build_id {
                Some(id) => synthesizer.add_build_id(path, id),
                None => synthesizer.add_file(path),
            }
        }
        let build_ids = synthesizer.build_ids();
        features.set(Feature::BUILD_ID, &FeatureData::BuildIds(build_ids.as_slice().into()));
    }
}

fn key_of(opened: &EventSetEvent<'_>) -> (usize, Option<String>) {
    (opened.index, opened.spec.pmu().map(str::to_owned))
}

/// Sets the time of the events' clock, which is `CLOCK_MONOTONIC`, at an instant of the wall clock.
fn set_clock(features: &mut Features, clock: Clock) {
    let resolution = nanoseconds(clock_getres(ClockId::Monotonic));
    let wall_clock_time = nanoseconds(clock_gettime(ClockId::Realtime));
    let clock_time = monotonic_time();
    let clocks = ClockData { clock, wall_clock_time, clock_time };
    features.set(Feature::CLOCKID, &FeatureData::ClockResolution(resolution));
    features.set(Feature::CLOCK_DATA, &FeatureData::ClockData(clocks));
}

/// Returns the time of `CLOCK_MONOTONIC` in ns.
pub(super) fn monotonic_time() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

fn nanoseconds(time: Timespec) -> u64 {
    // Neither clock is negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
