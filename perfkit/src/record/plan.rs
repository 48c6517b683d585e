//! The events to record, with the attrs that the kernel accepts.

use std::io;

use perf_events::sys::{Attr, AttrFlags, Call, Clock, Errno, Event, EventType, SampleType, Software, Target};
use perf_events::{
    EventGroup, EventSpec, LogicalEvent, Negotiation, Privileges, Set, SetError, SetOptions, SetTarget,
    System, cycles_or_clock,
};

use super::Options;
use super::options::Rate;

/// Fields of every sample: with the same ones up to `TIME`, records of all events have their times at the
/// same place.
const FIELDS: SampleType =
    SampleType::IDENTIFIER.union(SampleType::IP).union(SampleType::TID).union(SampleType::TIME);

/// Flags of the event that records side-band records.
const SIDE_BAND: AttrFlags = AttrFlags::MMAP
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::TASK)
    .union(AttrFlags::KSYMBOL)
    .union(AttrFlags::BPF_EVENT)
    .union(AttrFlags::BUILD_ID)
    .union(AttrFlags::NAMESPACES)
    .union(AttrFlags::CGROUP);

/// Data pages of a ring: 512 KiB with pages of 4 KiB, as in the perf tool.
const RING_PAGES: usize = 128;

/// Nanoseconds between two samples of cpu-clock that replaces cycles with a period.
const CLOCK_PERIOD: u64 = 1_000_000;

/// The events, and what the user should know about them.
#[derive(Debug)]
pub(super) struct Plan {
    groups: Vec<EventGroup>,
    target: SetTarget,
    pub(super) notes: Vec<String>,
}

impl Plan {
    pub(super) fn new(options: &Options, system: &System) -> io::Result<Self> {
        let mut notes = Vec::new();
        let limit = frequency_limit(system);
        if options.wanted_frequency().is_some_and(|frequency| frequency > limit) {
            notes.push(format!("{limit} samples per second at most: kernel.perf_event_max_sample_rate"));
        }
        let common = common_attr(options, system, &mut notes);
        let names = if options.events.is_empty() {
            vec![default_event(&common, &mut notes)]
        } else {
            options.events.clone()
        };
        let mut groups = Vec::new();
        for name in &names {
            groups.extend(perf_events::parse(name, system).map_err(io::Error::other)?);
        }
        // An event of an uncore PMU is on some CPUs only, which would report no mappings of the others.
        let first = groups.first().and_then(|group: &EventGroup| group.members().first());
        if first.is_none_or(|event| event.specs().iter().any(EventSpec::is_cpu_only)) {
            groups.insert(0, dummy());
        }
        let first = groups.first().and_then(|group| group.members().first());
        // On a hybrid machine the first event is one for each PMU.
        let mut side_band = first.map_or(0, |event| event.specs().len());
        let mut change = |spec: EventSpec| {
            let excluded = if side_band > 0 { AttrFlags::empty() } else { SIDE_BAND };
            side_band = side_band.saturating_sub(1);
            sampled(spec, options, limit, &common.without_flags(excluded))
        };
        let mut of_event = |event: LogicalEvent| {
            LogicalEvent::new(event.name(), event.specs().iter().cloned().map(&mut change).collect())
        };
        let groups = groups.into_iter().map(|group| group.map_members(&mut of_event)).collect();
        Ok(Self { groups, target: target(options), notes })
    }

    /// Returns the name of the group of each logical event, `None` if the user gave none.
    pub(super) fn group_names(&self) -> Vec<Option<&str>> {
        self.groups.iter().flat_map(|group| group.members().iter().map(|_| group.name())).collect()
    }

    /// Opens the events, with the largest rings that the limits of memory permit.
    pub(super) fn open(&mut self) -> Result<Set, SetError> {
        let mut pages = RING_PAGES;
        loop {
            let set = SetOptions::new().groups(self.groups.clone()).target(self.target.clone());
            match set.ring_pages(pages).open() {
                Err(error) if is_memory_limit(&error) && pages > 1 => pages /= 2,
                opened => {
                    if pages < RING_PAGES && opened.is_ok() {
                        self.notes.push(format!(
                            "rings of {pages} data pages in place of {RING_PAGES}: limit of locked memory"
                        ));
                    }
                    return opened;
                }
            }
        }
    }
}

fn is_memory_limit(error: &SetError) -> bool {
    error.call().is_some_and(|error| error.call() == Some(Call::Mmap) && error.errno() == Some(Errno::EPERM))
}

fn target(options: &Options) -> SetTarget {
    if let Some(cpus) = &options.cpus {
        SetTarget::cpus(cpus.clone())
    } else if let Some(pid) = options.pid {
        SetTarget::process(pid)
    } else if options.all_cpus {
        SetTarget::all_cpus()
    } else {
        SetTarget::command()
    }
}

/// An event that never fires, for side-band records.
fn dummy() -> EventGroup {
    LogicalEvent::from(EventSpec::new(Attr::software(Software::DUMMY))).into()
}

/// Returns the fields that all events have in common, as far as the kernel has them.
fn common_attr(options: &Options, system: &System, notes: &mut Vec<String>) -> Attr {
    let mut flags = SIDE_BAND | AttrFlags::SAMPLE_ID_ALL;
    flags.set(AttrFlags::NAMESPACES, options.namespaces);
    flags.set(AttrFlags::CGROUP, options.all_cgroups);
    let privileges = Privileges::read(system);
    if !privileges.has_perfmon() && privileges.paranoid().is_ok_and(|level| level > 1) {
        flags |= AttrFlags::EXCLUDE_KERNEL;
        notes.push(
            "user space only: kernel.perf_event_paranoid permits the kernel only with CAP_PERFMON".to_owned(),
        );
    }
    let mut fields = FIELDS;
    fields.set(SampleType::CALLCHAIN, options.callchains);
    fields.set(SampleType::CPU, options.is_on_cpus());
    fields.set(SampleType::CGROUP, options.all_cgroups);
    let attr = Attr::software(Software::DUMMY).with_sample_type(fields).with_flags(flags);
    let attr = attr.with_clock(Clock::MONOTONIC);
    let negotiation = Negotiation::new(&attr).keep_sample_type(fields).keep_flags(AttrFlags::SAMPLE_ID_ALL);
    match negotiation.open(|attr| Event::open(attr, Target::calling_thread())) {
        Ok(opened) => {
            notes.extend(opened.concessions.iter().map(ToString::to_string));
            opened.attr
        }
        // The set reports it, with the event.
        Err(_) => attr,
    }
}

/// Returns the name of the event that is recorded if the user names none.
fn default_event(common: &Attr, notes: &mut Vec<String>) -> String {
    let attr = Attr::default().with_period(CLOCK_PERIOD).with_flags(common.flags & AttrFlags::EXCLUDE_KERNEL);
    let opened = cycles_or_clock(&attr, CLOCK_PERIOD, |attr| Event::open(attr, Target::calling_thread()));
    match opened {
        Ok(opened) if opened.is_cycles() => "cycles".to_owned(),
        Ok(opened) => {
            notes.extend(opened.refused.map(|error| format!("cpu-clock in place of cycles: {error}")));
            "cpu-clock".to_owned()
        }
        // The set reports it, with the event.
        Err(_) => "cpu-clock".to_owned(),
    }
}

/// Returns the largest frequency that the kernel takes now. It lowers this limit itself when samples take
/// too much time.
fn frequency_limit(system: &System) -> u64 {
    let limit = system.read("/proc/sys/kernel/perf_event_max_sample_rate").ok();
    limit.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX)
}

fn sampled(spec: EventSpec, options: &Options, limit: u64, common: &Attr) -> EventSpec {
    spec.map_attr(|attr| {
        let is_tracepoint = attr.kind == EventType::TRACEPOINT;
        let attr = match options.rate(is_tracepoint, limit) {
            _ if attr.sample_period != 0 => attr,
            Rate::Frequency(frequency) => attr.with_frequency(frequency),
            Rate::Period(period) => attr.with_period(period),
        };
        let mut fields = attr.sample_type | common.sample_type;
        // With this field and no frequency, the kernel makes every hit of a software event or tracepoint a sample,
        // whatever the period. A period of 1 needs that: without it, a hit that counts n, such as n ns, is n samples.
        let is_every_hit = attr.sample_period == 1;
        fields.set(SampleType::PERIOD, attr.flags.contains(AttrFlags::FREQ) || is_every_hit);
        if is_tracepoint {
            fields |= SampleType::RAW;
        }
        Attr { clockid: common.clockid, ..attr }.replace_sample_type(fields).with_flags(common.flags)
    })
}
