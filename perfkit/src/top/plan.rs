//! The events that are sampled.

use std::ffi::CString;
use std::io;

use perf_record::{FIELDS, NAMING};
use perf_session::ring::{Attr, AttrFlags, Clock, SampleType, Software};
use perf_session::{EventSet, EventSetError, EventSetOptions, EventSetTarget, EventSpec, NamedEvent, System};

use super::Options;
use crate::measure::events::NamedGroup;
use crate::measure::sampling::{CallGraph, Rate, default_event, dummy, frequency_limit, rate, sampled};
use crate::report::sort::SortKey;

/// Data pages of a ring at most: 512 KiB with pages of 4 KiB. Copies of stacks get 4 MiB.
const RING_PAGES: usize = 128;

/// The events before they are opened.
#[derive(Debug)]
pub(super) struct Plan {
    groups: Vec<NamedGroup>,
    target: EventSetTarget,
    /// Number of logical events, without the event of side-band records.
    pub(super) wanted: usize,
    /// The distance of samples as text.
    pub(super) rate: String,
    ring_pages: usize,
}

impl Plan {
    pub(super) fn new(options: &Options, system: &System) -> io::Result<Self> {
        let limit = frequency_limit(system);
        let default = if options.events.is_empty() { default_event().0 } else { "" };
        let mut groups = options.events.parse(default, system)?;
        let wanted = groups.iter().map(|group| group.events.members().len()).sum();
        // Side-band records have their own event, because other events may be on some CPUs only, or
        // sample each hit.
        groups.push(dummy());
        let common = Attr::software(Software::DUMMY).with_sample_type(FIELDS | SampleType::PERIOD);
        let common = common.with_flags(AttrFlags::SAMPLE_ID_ALL).with_clock(Clock::MONOTONIC);
        let common = options.call_graph().map_or(common, |call_graph| call_graph.apply(common));
        let (common, naming) = if options.needs_cgroups() {
            (common.with_sample_type(SampleType::CGROUP), NAMING | AttrFlags::CGROUP)
        } else {
            (common, NAMING)
        };
        if options.sort.contains(&SortKey::TIME) {
            return Err(io::Error::other("-s time: a table is about now; perfkit record and report -s time"));
        }
        let is_by_cpu = options.sort.contains(&SortKey::CPU);
        let common = if is_by_cpu { common.with_sample_type(SampleType::CPU) } else { common };
        let last = groups.len() - 1;
        for (index, group) in groups.iter_mut().enumerate() {
            let flags = if index == last { naming } else { AttrFlags::empty() };
            group.events = group.events.clone().map_members(|event| {
                event.map_specs(|spec| {
                    let rate = rate(options.frequency, options.period, spec.is_hit(), limit);
                    options.levels.apply(spec).map_attr(|attr| sampled(attr, rate, &common).with_flags(flags))
                })
            });
        }
        let is_hit = groups.first().and_then(|group| group.events.members().first()).is_some_and(is_hit);
        let rate = match rate(options.frequency, options.period, is_hit, limit) {
            Rate::Frequency(frequency) => format!("at {frequency} Hz"),
            Rate::Period(period) => format!("each {period}"),
        };
        let ring_pages = match options.call_graph() {
            Some(CallGraph::Stack { .. }) => 8 * RING_PAGES,
            _ => RING_PAGES,
        };
        let target = options.target.target()?.unwrap_or_else(EventSetTarget::all_cpus);
        Ok(Self { groups, target, wanted, rate, ring_pages })
    }

    /// Opens the events, with the largest rings that the limits of memory permit.
    pub(super) fn open(&self) -> Result<EventSet, EventSetError> {
        EventSetOptions::new()
            .groups(self.groups.iter().map(|group| group.events.clone()))
            .target(self.target.clone())
            .allow_fallback()
            .user_only_if_refused()
            .ring_pages_within(1..=self.ring_pages)
            .open()
    }

    /// Returns the filter of each logical event.
    pub(super) fn filters(&self) -> Vec<Option<CString>> {
        self.groups.iter().flat_map(NamedGroup::filters).collect()
    }
}

fn is_hit(event: &NamedEvent) -> bool {
    event.specs().iter().any(EventSpec::is_hit)
}
