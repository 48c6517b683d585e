use std::collections::HashMap;
use std::sync::Arc;

use perf_sys::{Attr, AttrFlags, Errno, Event, OpenOptions, ReadFormat, RingSet, SampleType};

use super::plan::{Plan, PlannedGroup};
use super::running::Running;
use super::{
    EventError, EventIndex, EventSet, EventSetError, EventSetOptions, Packages, Scope, Switch, Unit, Watch,
};
use crate::set::loss::{LossLedger, monotonic};
use crate::system::CpuList;
use crate::why::{AttrFallback, FallbackError};
use rustix::thread::gettid;

/// Attempts to open the events of a CPU that is online, and yet reported as missing by the kernel: it may
/// go offline and return in between.
const ATTEMPTS: usize = 10;

impl EventSet {
    pub(super) fn open(options: EventSetOptions, plan: Plan) -> Result<Self, EventSetError> {
        let mut set = Self::new(options, plan)?;
        loop {
            let error = match set.open_all() {
                Ok(()) => return Ok(set),
                Err(error) => error,
            };
            // More events than the PMU has counters.
            let may_be_too_large =
                error.event().is_some_and(|event| event.error.errno() == Some(Errno::EINVAL));
            if !may_be_too_large || !set.plan.split(set.failed_group) {
                return Err(error);
            }
            let Self { options, plan, .. } = set;
            set = Self::new(options, plan)?;
        }
    }

    fn new(options: EventSetOptions, plan: Plan) -> Result<Self, EventSetError> {
        Ok(Self {
            rings: options.ring_pages.as_ref().map(|_| RingSet::new()).transpose()?,
            options,
            plan,
            units: Vec::new(),
            index: EventIndex::default(),
            watches: HashMap::new(),
            before: HashMap::new(),
            retired: Vec::new(),
            retired_lost: Vec::new(),
            packages: Packages::default(),
            ledger: LossLedger::default(),
            offline: CpuList::default(),
            exited: Vec::new(),
            unsettled: Vec::new(),
            reads_lost: true,
            switch: Switch::default(),
            last_look: monotonic(),
            opener: gettid(),
            has_spawned: false,
            failed_group: 0,
            is_open: false,
            ring_size: None,
            dropped: Vec::new(),
        })
    }

    fn open_all(&mut self) -> Result<(), EventSetError> {
        if self.options.target.is_tasks() {
            self.open_tasks()?;
        }
        self.open_cpus()?;
        self.check_opened()?;
        self.map_rings(0)?;
        self.is_open = true;
        self.packages = Packages::read(self)?;
        Ok(())
    }

    /// Returns whether the groups of this kind are opened for CPUs.
    pub(super) fn is_on_cpus(&self, group: &PlannedGroup) -> bool {
        group.is_cpu_only || !self.options.target.is_tasks()
    }

    /// Opens the events of CPUs, until those of each online CPU of the target are open.
    fn open_cpus(&mut self) -> Result<(), EventSetError> {
        if !self.plan.groups.iter().any(|group| self.is_on_cpus(group)) {
            return Ok(());
        }
        let wanted = self.wanted_cpus()?;
        loop {
            self.last_look = monotonic();
            let online = wanted.intersection(&CpuList::online(&self.options.system)?);
            let mut is_complete = true;
            for cpu in &online {
                let missing = self.missing_groups(cpu);
                if !missing.is_empty() {
                    is_complete = false;
                    self.open_cpu(cpu, &missing)?;
                }
            }
            // The events of a CPU that went offline meanwhile are dead.
            if is_complete && self.close_dead(&online)?.intersection(&online).is_empty() {
                self.offline = wanted.difference(&online);
                return if online.is_empty() {
                    Err(EventSetError::AllOffline { cpus: wanted })
                } else {
                    Ok(())
                };
            }
        }
    }

    /// Returns the CPUs of the target, also offline ones.
    pub(super) fn wanted_cpus(&self) -> Result<CpuList, EventSetError> {
        let possible = CpuList::possible(&self.options.system)?;
        let Some(cpus) = &self.options.target.cpus else { return Ok(possible) };
        let impossible = cpus.difference(&possible);
        if impossible.is_empty() {
            Ok(cpus.clone())
        } else {
            Err(EventSetError::ImpossibleCpus { cpus: impossible })
        }
    }

    /// Checks that each logical event was opened at least at one scope.
    pub(super) fn check_opened(&self) -> Result<(), EventSetError> {
        let opened: Vec<usize> = self.events().map(|event| event.index).collect();
        let missing = self.plan.names.iter().enumerate().find(|(index, _)| !opened.contains(index));
        match missing {
            Some((_, name)) => Err(EventSetError::NoCpu {
                event: Arc::clone(name),
                target: self.wanted_cpus()?.difference(&self.offline),
            }),
            None => Ok(()),
        }
    }

    /// Opens groups of the plan on a CPU. Returns `false` if it is offline.
    pub(super) fn open_cpu(&mut self, cpu: u32, groups: &[usize]) -> Result<bool, EventSetError> {
        let mut attempts = 0;
        loop {
            let scope = Scope::cpu(cpu);
            let units: Result<Vec<Unit>, EventError> =
                groups.iter().map(|&group| self.open_unit(group, scope)).collect();
            let watch = |units| {
                let missing = (!self.watches.contains_key(&cpu)).then(|| Watch::open(cpu)).transpose()?;
                Ok((units, missing))
            };
            let error = match units.and_then(watch) {
                Ok((units, watch)) => {
                    self.watches.extend(watch.map(|watch| (cpu, watch)));
                    return self.add_units(units).map(|()| true);
                }
                Err(error) => error,
            };
            attempts += 1;
            if !error.is_of_offline_cpu() || attempts == ATTEMPTS {
                return Err(error.into());
            }
            if !CpuList::online(&self.options.system)?.contains(cpu) {
                return Ok(false);
            }
        }
    }

    /// Opens a group of the plan at `scope`. On an error, its events are closed.
    pub(super) fn open_unit(&mut self, group: usize, scope: Scope) -> Result<Unit, EventError> {
        let reads_lost = self.reads_lost;
        let mut open = |reads_lost| {
            let planned = self.plan.groups.get(group);
            let attrs =
                planned.map_or_else(Vec::new, |planned| self.options.attrs(planned, scope, reads_lost));
            self.open_events(group, &attrs, scope)
        };
        let opened = match open(reads_lost) {
            // Linux before 6.0 does not have the field.
            Err(error) if reads_lost && error.error.errno() == Some(Errno::EINVAL) => {
                let opened = open(false);
                self.reads_lost = opened.is_err();
                opened
            }
            opened => opened,
        };
        if opened.is_err() {
            self.failed_group = group;
        }
        Ok(Unit { group, scope, events: opened?, running: Running::default() })
    }

    fn open_events(
        &mut self,
        group: usize,
        attrs: &[Attr],
        scope: Scope,
    ) -> Result<Vec<Arc<Event>>, EventError> {
        let target = self.options.target.at(scope);
        let planned = self.plan.groups.get(group).map_or(&[][..], |group| &group.events);
        let mut events: Vec<Arc<Event>> = Vec::new();
        for (event, attr) in planned.iter().zip(attrs) {
            let label = event.spec.label().clone();
            let open = |attr: &Attr| match events.first() {
                Some(leader) => OpenOptions::new().leader(leader).open(attr, target),
                None => Event::open(attr, target),
            };
            let opened = fallback(attr, self.options.allows_fallback).open(open);
            match opened {
                Ok(opened) => {
                    if self.dropped_of(group, events.len()).is_empty() && !opened.dropped.is_empty() {
                        self.dropped.push((group, events.len(), opened.dropped));
                    }
                    events.push(Arc::new(opened.value.with_label(label)));
                }
                Err(FallbackError { error, attr, .. }) => {
                    let (is_member, cgroup) = (!events.is_empty(), self.options.target.cgroup_dir());
                    return Err(EventError { label, scope, attr, is_member, error, data_pages: 0, cgroup });
                }
            }
        }
        Ok(events)
    }
}

/// Returns the fallback of an attr that keeps what the set needs, or the whole attr.
fn fallback(attr: &Attr, is_allowed: bool) -> AttrFallback {
    let flags = AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC | AttrFlags::SAMPLE_ID_ALL;
    let fallback = AttrFallback::new(attr)
        .keep_flags(flags | AttrFlags::INHERIT_THREAD)
        .keep_sample_type(attr.sample_type & (SampleType::IDENTIFIER | SampleType::TIME))
        .keep_read_format(attr.read_format - ReadFormat::LOST);
    if is_allowed { fallback } else { fallback.all_or_nothing() }
}
