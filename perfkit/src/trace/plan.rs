//! The events to trace: the two tracepoints of all system calls, with a filter for the chosen
//! calls, and other tracepoints.

use std::ffi::CString;
use std::io;
use std::time::Duration;

use perf_session::ring::{Attr, AttrFlags, Clock, SampleType, Software};
use perf_session::{
    EventSet, EventSetError, EventSetOptions, EventSetTarget, EventSpec, Glob, Privileges,
    SyscallTracepoints, System, Tracefs, Tracepoint,
};
use perf_tracepoint::SyscallTable;

use super::Options;
use crate::out::message::nearest;
use crate::out::message::shown;

/// Data pages of a ring: 2 MiB with pages of 4 KiB, for bursts of 20000 calls.
const RING_PAGES: usize = 512;

/// Interval at which calls are printed.
const FLUSH: Duration = Duration::from_millis(10);

/// The fields of all samples.
const FIELDS: SampleType =
    SampleType::TID.union(SampleType::TIME).union(SampleType::CPU).union(SampleType::RAW);

/// The side-band records with names and exits of threads, from an event that never fires.
const SIDE_BAND: AttrFlags = AttrFlags::COMM.union(AttrFlags::COMM_EXEC).union(AttrFlags::TASK);

/// The system calls to trace.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) points: SyscallTracepoints,
    pub(super) table: SyscallTable,
}

/// The events, with the filter of each.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) calls: Option<Calls>,
    /// The tracepoint of signals that are delivered, and the index of its event in the set.
    pub(super) signals: Option<(usize, Tracepoint)>,
    /// Tracepoints other than these.
    pub(super) tracepoints: Vec<Tracepoint>,
    /// The event of side-band records, then the two tracepoints of system calls, then the one of
    /// signals, then [`tracepoints`](Self::tracepoints).
    specs: Vec<EventSpec>,
    filters: Vec<Option<String>>,
}

impl Plan {
    pub(super) fn new(options: &Options, system: &System) -> io::Result<Self> {
        let tracefs = Tracefs::find(system).map_err(io::Error::other)?;
        let table = tracefs.syscall_table().map_err(io::Error::other)?;
        // User space only, so that an error names an event that the user chose.
        let user_only = AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        let dummy = Attr::software(Software::DUMMY).with_flags(SIDE_BAND | user_only);
        let mut plan = Self {
            calls: None,
            signals: None,
            tracepoints: Vec::new(),
            specs: vec![EventSpec::new(dummy)],
            filters: vec![None],
        };
        let mut of_tracepoints = Vec::new();
        let mut of_calls: Vec<Option<String>> = Vec::new();
        for (text, filter) in options.events.texts() {
            let filter = filter.map(|filter| filter.to_string_lossy().into_owned());
            let Wanted { has_calls, filter: calls, patterns } = Wanted::parse(text, &table)?;
            if has_calls {
                of_calls.push(both(calls, filter.clone()));
            }
            for pattern in patterns {
                let found = tracefs.matching(pattern).map_err(io::Error::other)?;
                of_tracepoints.resize(of_tracepoints.len() + found.len(), filter.clone());
                plan.tracepoints.extend(found);
            }
        }
        if options.events.is_empty() {
            of_calls.push(None);
        }
        if !of_calls.is_empty() {
            let points = SyscallTracepoints::find(&tracefs).map_err(io::Error::other)?;
            // One `-e` without a filter chooses all calls, whatever the others choose.
            let filters: Option<Vec<String>> = of_calls.into_iter().collect();
            let filter = filters.map(|filters| filters.join(" || "));
            plan.specs.extend(points.event_specs());
            plan.filters.extend([filter.clone(), filter]);
            plan.calls = Some(Calls { points, table });
        }
        // As strace does, if all calls are wanted. A kernel without it has system calls all the same.
        if options.events.is_empty()
            && options.prints_calls()
            && let Ok(signals) = tracefs.tracepoint("signal", "signal_deliver")
        {
            let spec = signals.event_spec();
            plan.signals = Some((plan.specs.len(), signals));
            plan.specs.push(spec);
            plan.filters.push(None);
        }
        plan.specs.extend(plan.tracepoints.iter().map(Tracepoint::event_spec));
        plan.filters.extend(of_tracepoints);
        if options.target.is_on_cpus() {
            plan.exclude_own(system);
        }
        Ok(plan)
    }

    /// Leaves out the calls of this program, which would print a line for each line that it prints.
    fn exclude_own(&mut self, system: &System) {
        // The filter compares ids of the initial PID namespace. In other namespaces, the calls of
        // this program are skipped when they are read.
        if Privileges::read(system).in_initial_pid_namespace().is_ok_and(|is_initial| is_initial) {
            let own = format!("common_pid != {}", std::process::id());
            // Skip the event of side-band records.
            for filter in self.filters.iter_mut().skip(1) {
                *filter = both(Some(own.clone()), filter.take());
            }
        }
    }

    /// Returns the index of the first event of [`tracepoints`](Self::tracepoints) in the set.
    pub(super) fn first_tracepoint(&self) -> usize {
        self.specs.len() - self.tracepoints.len()
    }

    /// Returns the filter of each event of the set.
    pub(super) fn filters(&self) -> io::Result<Vec<Option<CString>>> {
        let filters = self.filters.iter().cloned();
        filters.map(|filter| filter.map(CString::new).transpose().map_err(io::Error::other)).collect()
    }

    /// Opens the events, with the largest rings that the limits of memory permit.
    pub(super) fn open(&self, options: &Options, target: EventSetTarget) -> Result<EventSet, EventSetError> {
        let most = options.mmap_pages.map_or(RING_PAGES, |ring| ring.pages);
        let specs = self.specs.iter().enumerate().map(|(index, spec)| {
            spec.clone().map_attr(|attr| {
                // Each hit is a sample, but the event of side-band records samples nothing.
                let attr = if index == 0 { attr } else { attr.with_period(1) };
                attr.with_sample_type(FIELDS).with_clock(Clock::MONOTONIC)
            })
        });
        let set = EventSetOptions::new().events(specs).target(target).ring_pages_within(1..=most);
        // Texts are read from processes that run meanwhile, so the sooner the better.
        let set = if options.prints_calls() { set.flush_interval(FLUSH) } else { set };
        set.open()
    }
}

/// Returns a filter that matches if both parts match.
fn both(left: Option<String>, right: Option<String>) -> Option<String> {
    match (left, right) {
        (Some(left), Some(right)) => Some(format!("({left}) && ({right})")),
        (left, right) => left.or(right),
    }
}

/// The value of one `-e`.
#[derive(Debug, PartialEq)]
struct Wanted<'t> {
    has_calls: bool,
    /// The filter of the system calls, `None` for all.
    filter: Option<String>,
    /// Patterns of tracepoints.
    patterns: Vec<&'t str>,
}

impl<'t> Wanted<'t> {
    fn parse(text: &'t str, table: &SyscallTable) -> io::Result<Self> {
        // strace has `trace=` before the list.
        let text = text.strip_prefix("trace=").unwrap_or(text);
        let (list, is_negated) = text.strip_prefix('!').map_or((text, false), |list| (list, true));
        let (mut numbers, mut patterns) = (Vec::new(), Vec::new());
        let (mut has_calls, mut has_all) = (false, false);
        for part in list.split(',').map(str::trim) {
            // `!mmap,!openat` is what users of the perf tool write.
            let part = if is_negated { part.strip_prefix('!').unwrap_or(part) } else { part };
            match part {
                "*" | "all" | "%all" | "syscalls:*" | "raw_syscalls:*" | "raw_syscalls:sys_*" => {
                    (has_calls, has_all) = (true, true);
                }
                _ if part.contains(':') && !is_negated => patterns.push(part),
                _ if part.starts_with('%') && SyscallTable::HAS_NAMES => {
                    let Some(found) = table.class(part) else {
                        let classes = SyscallTable::CLASSES;
                        return Err(io::Error::other(format!(
                            "{}: no class of system calls has this name{}; the classes are {}",
                            shown(part),
                            nearest(part, classes.iter().copied()),
                            classes.join(", ")
                        )));
                    };
                    has_calls = true;
                    numbers.extend(found);
                }
                _ => {
                    if !SyscallTable::HAS_NAMES {
                        let reason = "names of system calls are not known on this architecture";
                        let advice = "without -e, all calls are printed by their numbers";
                        return Err(io::Error::other(format!("{}: {reason}; {advice}", shown(part))));
                    }
                    let pattern = Glob::new(part);
                    let found = table.matching(|name| pattern.matches(name));
                    if found.is_empty() {
                        let near = nearest(part, table.names());
                        return Err(io::Error::other(format!(
                            "{}: no system call has this name{near}; a tracepoint is named CATEGORY:NAME",
                            shown(part)
                        )));
                    }
                    has_calls = true;
                    numbers.extend(found);
                }
            }
        }
        let filter = match (is_negated, has_all) {
            (false, true) => None,
            (false, false) => Some(SyscallTable::filter(&numbers)),
            (true, true) => Some(SyscallTable::filter(&[])),
            (true, false) => Some(format!("!({})", SyscallTable::filter(&numbers))),
        };
        Ok(Self { has_calls, filter, patterns })
    }
}
