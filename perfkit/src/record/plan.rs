//! The events to record, with the attrs that the kernel accepts.

use std::ffi::CString;
use std::io;

use perf_record::{FIELDS, NAMING, WakeupEvent};
use perf_session::ring::{
    Attr, AttrFlags, BranchSampleType, Clock, Errno, Event, EventType, SampleType, Software, Target,
};
use perf_session::{
    AttrFallback, EventSet, EventSetError, EventSetOptions, EventSetTarget, EventSpec, NamedEvent,
    ObservedTasks, System,
};

use super::Options;
use super::off_cpu;
use crate::measure::events::NamedGroup;
use crate::measure::ring_pages::{PAGE, RingPages};
use crate::measure::sampling::{CALL_STACK, CallGraph, Rate, default_event, dummy, frequency_limit, sampled};

/// Flags of the event that records side-band records.
const SIDE_BAND: AttrFlags = NAMING
    .union(AttrFlags::NAMESPACES)
    .union(AttrFlags::CGROUP)
    .union(AttrFlags::MMAP_DATA)
    .union(AttrFlags::CONTEXT_SWITCH);

/// Data pages of a ring: 512 KiB with pages of 4 KiB, as in the perf tool.
const RING_PAGES: usize = 128;

/// Data pages of a ring with all switches: 2 MiB.
const SWITCH_RING_PAGES: usize = 512;

/// The events, and notes about differences from the user's options.
#[derive(Debug)]
pub(super) struct Plan {
    groups: Vec<NamedGroup>,
    target: EventSetTarget,
    /// Data pages of each ring that the user asked for.
    ring_pages: Option<usize>,
    /// Data pages of each ring otherwise, if the limits of memory permit them.
    default_pages: usize,
    /// Whether switches are recorded, for the time off the CPU.
    has_off_cpu: bool,
    /// The event with the times of wakeups, and the index of its group.
    wakeups: Option<(usize, WakeupEvent)>,
    pub(super) notes: Vec<String>,
    /// Whether the events of a command are enabled later than at its `exec`.
    is_delayed: bool,
    /// Whether the rings are overwritten.
    is_overwrite: bool,
    /// A clause with the event that replaces the default, and the reason.
    pub(super) clause: Option<String>,
}

impl Plan {
    pub(super) fn new(options: &Options, system: &System) -> io::Result<Self> {
        let mut notes = Vec::new();
        let limit = frequency_limit(system);
        if let Some(wanted) = options.wanted_frequency().filter(|frequency| *frequency > limit) {
            if options.strict_freq {
                return Err(io::Error::other(format!(
                    "{wanted} samples per second are more than kernel.perf_event_max_sample_rate, which is {limit}"
                )));
            }
            notes.push(format!(
                "{limit} samples per second in place of {wanted}: limit of kernel.perf_event_max_sample_rate"
            ));
        }
        let (default, cause) = if options.events.is_empty() { default_event() } else { ("", None) };
        let branches = branches(options);
        if let (Some((option, _)), Some(cause)) = (branches, &cause) {
            return Err(io::Error::other(format!("{option} needs a hardware event: {cause}")));
        }
        let clause = cause.map(|cause| format!("{default} in place of cycles: {cause}"));
        let mut groups = options.events.parse(default, system)?;
        let named = groups.len();
        // Profiles have no waits.
        let waits = if options.profiles.is_used() {
            None
        } else {
            options.off_cpu.events(system, options.target.is_on_all_cpus(), &mut notes)?
        };
        let mut wakeups = None;
        if let Some(waits) = waits {
            groups.extend(waits.groups.into_iter().map(NamedGroup::from));
            wakeups = waits.wakeups.ok().map(|event| (named + event.index(), event));
        }
        let of_switches = named..groups.len();
        let common = common_attr(options, has_tracepoint(&groups), &mut notes);
        let mut carrier = 0;
        if options.control.is_used() || !carries_side_band(&groups, options, limit) {
            carrier = groups.len();
            groups.push(dummy());
        }
        for (index, group) in groups.iter_mut().enumerate() {
            // The first event of the group, which on a hybrid machine is one for each PMU.
            let mut is_carrier = index == carrier;
            // A context switch is always in the kernel.
            let has_levels = !of_switches.contains(&index);
            let is_wakeups = wakeups.as_ref().is_some_and(|(group, _)| *group == index);
            group.events = group.events.clone().map_members(|event| {
                // Each event that receives deferred callchains receives all.
                let of_one = SIDE_BAND | AttrFlags::DEFER_OUTPUT;
                let excluded = if std::mem::take(&mut is_carrier) { AttrFlags::empty() } else { of_one };
                let common = common.without_flags(excluded);
                let (common, branches) =
                    if is_wakeups { (without_stack(&common), None) } else { (common, branches) };
                event.map_specs(|spec| {
                    let spec = if has_levels { options.levels.apply(spec) } else { spec };
                    recorded(spec, options, limit, &common, branches)
                })
            });
        }
        let target = options.target.target()?.unwrap_or_else(EventSetTarget::command);
        if let Some(RingPages { pages, asked }) = options.mmap_pages.filter(|ring| ring.pages != ring.asked) {
            notes.push(format!("rings of {pages} data pages in place of {asked}: a power of two"));
        }
        let ring_pages = options.mmap_pages.map(|ring| ring.pages);
        let default_pages = default_ring_pages(options.call_graph(), options.off_cpu.is_on());
        let has_off_cpu = options.off_cpu.is_on();
        let is_delayed = options.control.delay().is_some();
        let is_overwrite = options.switch.is_overwrite();
        Ok(Self {
            groups,
            target,
            ring_pages,
            default_pages,
            has_off_cpu,
            wakeups,
            notes,
            is_delayed,
            is_overwrite,
            clause,
        })
    }

    /// Restricts the recorded wakeups to wakeups of the recorded tasks.
    pub(super) fn choose_wakeups(&mut self, tasks: &ObservedTasks) {
        if let Some((index, wakeups)) = &self.wakeups
            && let Some(group) = self.groups.get_mut(*index)
        {
            group.filter = wakeups.filter(tasks);
        }
    }

    /// Returns the filter of each logical event.
    pub(super) fn filters(&self) -> Vec<Option<CString>> {
        self.groups.iter().flat_map(NamedGroup::filters).collect()
    }

    /// Returns the indexes of the logical events that are enabled and disabled on demand: all but
    /// those that never fire.
    pub(super) fn controlled(&self) -> Vec<usize> {
        let events = self.groups.iter().flat_map(|group| group.events.members());
        let samples =
            |event: &NamedEvent| !event.specs().iter().all(|spec| spec.attr().is_software(Software::DUMMY));
        events.enumerate().filter(|(_, event)| samples(event)).map(|(index, _)| index).collect()
    }

    /// Opens the events, with the largest rings that the limits of memory permit.
    pub(super) fn open(&mut self) -> Result<EventSet, EventSetError> {
        let groups = self.groups.iter().map(|group| group.events.clone());
        let deferred = if self.is_delayed { self.controlled() } else { Vec::new() };
        let options = EventSetOptions::new().groups(groups).target(self.target.clone()).deferred(deferred);
        let most = self.ring_pages.unwrap_or(self.default_pages);
        let options = if self.is_overwrite { options.overwrite() } else { options };
        let set = options.user_only_if_refused().ring_pages_within(1..=most).open()?;
        if set.is_user_only() {
            self.notes.push("recorded user space only; `perfkit doctor` reports why".to_owned());
            self.notes.extend(self.has_off_cpu.then(|| off_cpu::NO_STACKS.to_owned()));
        }
        let expected = self.ring_pages.unwrap_or(RING_PAGES);
        if let Some(size) = set.ring_size().filter(|size| size.data_pages < expected) {
            let has_no_memory = size.reason.and_then(|error| error.errno()) == Some(Errno::ENOMEM);
            let reason = if has_no_memory { "no memory for larger ones" } else { "limit of locked memory" };
            self.notes
                .push(format!("rings of {} data pages in place of {expected}: {reason}", size.data_pages));
        }
        Ok(set)
    }
}

/// Returns whether the first event can write the side-band records too.
///
/// An event of an uncore PMU is on some CPUs only, which would report no mappings of the others.
/// The losses of an event that samples each hit are compared with its count, so they must not
/// include lost side-band records.
fn carries_side_band(groups: &[NamedGroup], options: &Options, limit: u64) -> bool {
    let Some(first) = groups.first().and_then(|group| group.events.members().first()) else { return false };
    let is_each_hit = |spec: &EventSpec| match (spec.attr().sample_period, options.rate(spec.is_hit(), limit))
    {
        (0, Rate::Period(period)) => period == 1,
        (0, Rate::Frequency(_)) => false,
        (period, _) => period == 1 && !spec.attr().flags.contains(AttrFlags::FREQ),
    };
    !first.specs().iter().any(|spec| spec.is_cpu_only() || is_each_hit(spec))
}

fn has_tracepoint(groups: &[NamedGroup]) -> bool {
    let mut specs = groups.iter().flat_map(|group| group.events.members()).flat_map(NamedEvent::specs);
    specs.any(|spec| spec.attr().kind == EventType::TRACEPOINT)
}

/// Returns the fields that all events have in common, without fields that the kernel does not have.
fn common_attr(options: &Options, has_tracepoint: bool, notes: &mut Vec<String>) -> Attr {
    let mut flags = SIDE_BAND | AttrFlags::SAMPLE_ID_ALL;
    flags.set(AttrFlags::NAMESPACES, options.namespaces);
    flags.set(AttrFlags::CGROUP, options.all_cgroups);
    // The perf tool finds the tables for unwinding in mappings without code.
    let has_stacks = matches!(options.call_graph(), Some(CallGraph::Stack { .. }));
    flags.set(AttrFlags::MMAP_DATA, options.fields.data || has_stacks);
    flags.set(AttrFlags::CONTEXT_SWITCH, options.switch_events || options.off_cpu.is_on());
    let mut fields = FIELDS | options.fields.sample_type();
    // The perf tool's commands for tracepoints need the CPU.
    if options.target.is_on_cpus() || has_tracepoint {
        fields |= SampleType::CPU;
    }
    fields.set(SampleType::CGROUP, options.all_cgroups);
    let mut attr = Attr::software(Software::DUMMY).with_sample_type(fields).with_flags(flags);
    if let Some(call_graph) = options.call_graph() {
        attr = call_graph.apply(attr).with_flags(options.callchain_flags());
    }
    if let Some(CallGraph::Stack { size, asked }) = options.call_graph()
        && size.bytes() != asked
    {
        notes.push(format!("{} bytes of each stack in place of {asked}: a multiple of 8", size.bytes()));
    }
    let attr = attr.with_clock(Clock::MONOTONIC);
    // This tests only the fields. The set tests whether the kernel may be recorded.
    let user = attr.with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
    let fallback = AttrFallback::new(&user)
        .keep_sample_type(attr.sample_type)
        .keep_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
    match fallback.open(|attr| Event::open(attr, Target::calling_thread())) {
        Ok(opened) => {
            notes.extend(opened.dropped.iter().map(ToString::to_string));
            opened.attr.without_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
        }
        // The set reports the error, with the event.
        Err(_) => attr,
    }
}

/// Returns the default data pages of a ring: 512 KiB, and more for copies of the stack, so that a
/// ring has space for 64 samples. At 1000 samples per second it is full after 64 ms. Context
/// switches have no frequency, so a ring has space for thousands.
fn default_ring_pages(call_graph: Option<CallGraph>, has_switches: bool) -> usize {
    let least = if has_switches { SWITCH_RING_PAGES } else { RING_PAGES };
    match call_graph {
        Some(CallGraph::Stack { size, .. }) => {
            let bytes = 64 * size.bytes() as usize;
            bytes.div_ceil(PAGE).next_power_of_two().max(least)
        }
        _ => least,
    }
}

/// Returns the branches to record, with the option that asks for them.
fn branches(options: &Options) -> Option<(&'static str, BranchSampleType)> {
    match (options.branches.branches(), options.call_graph()) {
        (None, Some(CallGraph::BranchStack)) => Some(("--call-graph lbr", CALL_STACK)),
        // The kernel has one branch stack for both.
        (Some((option, branches)), Some(CallGraph::BranchStack)) => Some((option, branches | CALL_STACK)),
        (branches, _) => branches,
    }
}

/// Returns the attr without callchains and copies of the stack.
fn without_stack(common: &Attr) -> Attr {
    let stack = SampleType::CALLCHAIN | SampleType::REGS_USER | SampleType::STACK_USER;
    let attr = common.replace_sample_type(common.sample_type - stack);
    let attr = attr.without_flags(AttrFlags::DEFER_CALLCHAIN);
    attr.with(|attr| {
        attr.sample_regs_user = 0;
        attr.sample_stack_user = 0;
    })
}

fn recorded(
    spec: EventSpec,
    options: &Options,
    limit: u64,
    common: &Attr,
    branches: Option<(&'static str, BranchSampleType)>,
) -> EventSpec {
    let is_tracepoint = spec.is_hit();
    spec.map_attr(|attr| {
        let attr = sampled(attr, options.rate(is_tracepoint, limit), common);
        let mut fields = attr.sample_type;
        // With a fixed period, this field makes every hit of a tracepoint a sample. The set adds it
        // for a period of 1.
        let has_period =
            attr.flags.contains(AttrFlags::FREQ) || (options.fields.has_period() && !is_tracepoint);
        fields.set(SampleType::PERIOD, has_period);
        if is_tracepoint {
            fields |= SampleType::RAW;
        }
        let attr = attr.replace_sample_type(fields);
        match branches {
            // An event that has no samples has no branches either, and the kernel refuses them.
            Some((_, branches)) if !attr.is_software(Software::DUMMY) => {
                attr.with_sample_type(SampleType::BRANCH_STACK).with_branch_sample_type(branches)
            }
            _ => attr,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sampling::call_graph;

    #[test]
    fn rings_have_space_for_many_stacks() {
        let pages = |text| default_ring_pages(Some(call_graph(text).unwrap()), false);
        assert_eq!([default_ring_pages(None, false), default_ring_pages(None, true)], [128, 512]);
        assert_eq!(
            [pages("fp"), pages("dwarf,8"), pages("dwarf"), pages("dwarf,64000")],
            [128, 128, 128, 1024]
        );
    }
}
