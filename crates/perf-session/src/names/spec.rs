//! Events that can be opened.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use perf_ring::{Attr, EventType, Software};

use crate::names::catalog;
use crate::names::probe::Probe;
use crate::system::CpuList;

/// One event that can be opened: its attr, its name, the CPUs on which its PMU counts, and the unit
/// of its counts.
///
/// Event strings and the catalog make it. [`EventSpec::new`] makes it from any attr.
#[derive(Clone, Debug)]
pub struct EventSpec {
    attr: Attr,
    label: Arc<str>,
    pmu: Option<Arc<str>>,
    cpus: Option<CpuList>,
    is_cpu_only: bool,
    is_system_wide: bool,
    probe_text: Option<Arc<CStr>>,
    probe: Option<Arc<Probe>>,
    scale: f64,
    unit: Arc<str>,
    is_per_package: bool,
    is_snapshot: bool,
}

impl EventSpec {
    /// Returns the event of `attr`, named as [`catalog::name_of`](crate::catalog::name_of) does:
    /// `cpu-clock`, `page-faults:u`.
    #[must_use]
    pub fn new(attr: Attr) -> Self {
        Self {
            label: catalog::name_of(&attr).into(),
            attr,
            pmu: None,
            cpus: None,
            is_cpu_only: false,
            is_system_wide: false,
            probe_text: None,
            probe: None,
            scale: 1.0,
            unit: if is_clock(&attr) { "ns" } else { "" }.into(),
            is_per_package: false,
            is_snapshot: false,
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn with_label(self, label: impl Into<Arc<str>>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Sets the name of the event's PMU.
    #[must_use]
    pub fn with_pmu(mut self, pmu: impl Into<Arc<str>>) -> Self {
        self.pmu = Some(pmu.into());
        self
    }

    /// Restricts the event to the CPUs of its PMU. If `is_cpu_only`, it cannot be opened for a
    /// task.
    #[must_use]
    pub fn with_cpus(mut self, cpus: CpuList, is_cpu_only: bool) -> Self {
        self.cpus = Some(cpus);
        self.is_cpu_only = is_cpu_only;
        self
    }

    /// Observes all tasks on all online CPUs, regardless of the target of the set: for effects on
    /// its tasks while another task runs, such as wakeups.
    ///
    /// The event has separate rings, a quarter as large as the others, so that the records of other
    /// tasks displace none of the target. The [scope](crate::Scope) of such a ring differs from the
    /// scope of another ring of the CPU. A set of tasks ends with its tasks all the same.
    #[must_use]
    pub fn system_wide(self) -> Self {
        Self { is_system_wide: true, ..self }
    }

    /// Sets the function name or the path that the PMU of a probe reads through a pointer in
    /// `config1`.
    #[must_use]
    pub fn with_probe_text(mut self, text: impl Into<Arc<CStr>>) -> Self {
        self.probe_text = Some(text.into());
        self
    }

    /// Sets the factor that turns the count into the unit, and the unit's name.
    #[must_use]
    pub fn with_scale(mut self, scale: f64, unit: impl Into<Arc<str>>) -> Self {
        self.scale = scale;
        self.unit = unit.into();
        self
    }

    /// Sets whether all CPUs of a package read the same count.
    #[must_use]
    pub fn with_per_package(mut self, is_per_package: bool) -> Self {
        self.is_per_package = is_per_package;
        self
    }

    /// Sets whether the count is a momentary value, not a sum.
    #[must_use]
    pub fn with_snapshot(mut self, is_snapshot: bool) -> Self {
        self.is_snapshot = is_snapshot;
        self
    }

    /// Returns the event with a changed attr: sample fields, period, or the wakeup of a rare event
    /// by [`with_wakeup_events(1)`](Attr::with_wakeup_events), see
    /// [`EventSet::wait`](crate::EventSet::wait).
    #[must_use]
    pub fn map_attr(mut self, change: impl FnOnce(Attr) -> Attr) -> Self {
        self.attr = change(self.attr);
        self
    }

    /// Returns the attr as the kernel gets it, with the address of the probe's text in `config1`.
    /// The address is valid while the event or a clone of it exists. The kernel reads it during the
    /// call, and with `INHERIT` also in each fork of the observed tasks, whose memory has something
    /// else there, so that the fork fails (kernel errata). An [`EventSet`](crate::EventSet) opens
    /// such an event by a tracepoint.
    pub fn attr(&self) -> Attr {
        match &self.probe_text {
            Some(text) => self.attr.with_config1(text.as_ptr().expose_provenance() as u64),
            None => self.attr,
        }
    }

    /// Sets the probe of the event, by which it can be opened as a tracepoint too.
    #[must_use]
    pub(in crate::names) fn with_probe(mut self, probe: Probe) -> Self {
        self.probe = Some(Arc::new(probe));
        self
    }

    /// Returns the probe that the event's PMU makes.
    pub(crate) fn probe(&self) -> Option<&Probe> {
        self.probe.as_deref()
    }

    /// Returns the event of the probe by this tracepoint instead of its PMU, with the same name and
    /// settings.
    #[must_use]
    pub(crate) fn by_tracepoint(self, tracepoint: &Self) -> Self {
        let Attr { kind, config, .. } = tracepoint.attr;
        let mut attr = self.attr;
        attr.kind = kind;
        attr.config = config;
        attr.config1 = 0;
        attr.config2 = 0;
        Self { attr, pmu: tracepoint.pmu.clone(), probe_text: None, probe: None, ..self }
    }

    /// Returns the name.
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// Returns the name of the PMU, if it is known.
    pub fn pmu(&self) -> Option<&str> {
        self.pmu.as_deref()
    }

    /// Returns the CPUs on which the PMU counts, or `None` for all.
    pub fn cpus(&self) -> Option<&CpuList> {
        self.cpus.as_ref()
    }

    /// Returns `true` if the event can be opened for CPUs only, not for a task (uncore PMUs).
    pub fn is_cpu_only(&self) -> bool {
        self.is_cpu_only
    }

    /// Returns `true` if the event observes all CPUs, whatever the target is.
    pub fn is_system_wide(&self) -> bool {
        self.is_system_wide
    }

    /// Returns the factor that turns the count into the [`unit`](Self::unit).
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns the unit of the scaled count, or an empty text.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns `true` for tracepoints and probes. The perf tool samples each of their hits by
    /// default.
    pub fn is_hit(&self) -> bool {
        self.attr.kind == EventType::TRACEPOINT || self.probe.is_some()
    }

    /// Returns `true` if all CPUs of a package read the same count, so that one CPU is enough.
    pub fn is_per_package(&self) -> bool {
        self.is_per_package
    }

    /// Returns `true` if the count is a momentary value, such as a temperature, not a sum.
    pub fn is_snapshot(&self) -> bool {
        self.is_snapshot
    }
}

/// Returns whether the event counts ns.
fn is_clock(attr: &Attr) -> bool {
    let clocks = [Software::CPU_CLOCK, Software::TASK_CLOCK];
    attr.kind == EventType::SOFTWARE && clocks.iter().any(|clock| attr.config == clock.0)
}

/// One event as the user named it. On a hybrid machine it is one [`EventSpec`] for each core PMU,
/// whose counts are summed unscaled; everywhere else it is one.
#[derive(Clone, Debug)]
pub struct NamedEvent {
    name: Arc<str>,
    specs: Vec<EventSpec>,
}

impl NamedEvent {
    /// Returns an event of these parts.
    pub fn new(name: impl Into<Arc<str>>, specs: Vec<EventSpec>) -> Self {
        Self { name: name.into(), specs }
    }

    /// Returns the name that the user wrote.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the event on each of its PMUs.
    pub fn specs(&self) -> &[EventSpec] {
        &self.specs
    }

    /// Returns the event, of the same name, with its spec on each PMU changed, for example the
    /// attr.
    #[must_use]
    pub fn map_specs(mut self, change: impl FnMut(EventSpec) -> EventSpec) -> Self {
        self.specs = self.specs.into_iter().map(change).collect();
        self
    }
}

impl From<EventSpec> for NamedEvent {
    fn from(spec: EventSpec) -> Self {
        Self { name: Arc::clone(spec.label()), specs: vec![spec] }
    }
}

/// Events that are opened together: those between braces in an event string, or a single event.
///
/// On a machine with several core PMUs a generic event has one [`EventSpec`](crate::EventSpec) for
/// each of them. The kernel schedules the events of one PMU together, so such a group is one group
/// for each PMU.
#[derive(Clone, Debug)]
pub struct EventGroup {
    pub(in crate::names) name: Option<Arc<str>>,
    pub(in crate::names) members: Vec<NamedEvent>,
    pub(in crate::names) is_braced: bool,
    pub(in crate::names) is_leader_sampling: bool,
    pub(in crate::names) is_weak: bool,
    pub(in crate::names) cgroup: Option<Arc<OwnedFd>>,
}

impl EventGroup {
    /// Returns a group that the kernel schedules together: all of its events count, or none.
    #[must_use]
    pub fn new(members: Vec<NamedEvent>) -> Self {
        Self { name: None, members, is_braced: true, is_leader_sampling: false, is_weak: false, cgroup: None }
    }

    /// Returns the name before the opening brace.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the events, the leader first. There is at least one if an event string made the
    /// group.
    pub fn members(&self) -> &[NamedEvent] {
        &self.members
    }

    /// Returns the events.
    pub fn into_members(self) -> Vec<NamedEvent> {
        self.members
    }

    /// Returns the group with each event changed, for example its attrs.
    #[must_use]
    pub fn map_members(mut self, change: impl FnMut(NamedEvent) -> NamedEvent) -> Self {
        self.members = self.members.into_iter().map(change).collect();
        self
    }

    /// Returns the group for the tasks of a cgroup alone, on the CPUs of the set's target, whatever
    /// tasks the target has: so the events of one set have different cgroups. `dir` is the cgroup's
    /// directory, as for [`EventSetTarget::cgroup`](crate::EventSetTarget::cgroup). Events of one
    /// cgroup share one `dir`: then [metrics](crate::Counts::metrics) are made of them.
    ///
    /// ```no_run
    /// use std::{fs::File, sync::Arc};
    /// use perf_session::{EventSetOptions, System, parse};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut options = EventSetOptions::new();
    /// for name in ["system.slice", "user.slice"] {
    ///     let dir = Arc::new(File::open(format!("/sys/fs/cgroup/{name}"))?.into());
    ///     let events = parse("cpu-clock,page-faults", &System::new())?;
    ///     options = options.groups(events.into_iter().map(|event| event.in_cgroup(Arc::clone(&dir))));
    /// }
    /// let set = options.open()?; // cpu-clock and page-faults of the first, then of the second
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[doc(alias = "PERF_FLAG_PID_CGROUP")]
    pub fn in_cgroup(self, dir: Arc<OwnedFd>) -> Self {
        Self { cgroup: Some(dir), ..self }
    }

    /// Returns the directory of the cgroup of [`in_cgroup`](Self::in_cgroup).
    pub const fn cgroup(&self) -> Option<&Arc<OwnedFd>> {
        self.cgroup.as_ref()
    }

    /// Returns `true` for events between braces, which the kernel schedules together, `false` for a
    /// single event.
    pub fn is_braced(&self) -> bool {
        self.is_braced
    }

    /// Returns `true` if only the leader samples and each sample has the counts of all members:
    /// `:S`.
    pub fn is_leader_sampling(&self) -> bool {
        self.is_leader_sampling
    }

    /// Returns `true` if the members are to be opened as single events when they do not fit the PMU
    /// together: `:W`.
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }
}

impl From<NamedEvent> for EventGroup {
    fn from(event: NamedEvent) -> Self {
        Self { is_braced: false, ..Self::new(vec![event]) }
    }
}

#[cfg(test)]
mod tests {
    use perf_ring::{AttrFlags, Software};

    use super::*;

    #[test]
    fn event_of_an_attr_has_the_name_of_the_perf_tool() {
        let label = |attr: Attr| EventSpec::new(attr).label().to_string();
        assert_eq!(label(Attr::software(Software::CPU_CLOCK)), "cpu-clock");
        let user = AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        assert_eq!(label(Attr::software(Software::PAGE_FAULTS).with_flags(user)), "page-faults:u");
        assert_eq!(label(Attr::raw(0x1a2)), "r1a2");
    }
}
