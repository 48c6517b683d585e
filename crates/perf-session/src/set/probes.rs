//! Probes by tracepoints, for events that tasks inherit.

use std::sync::Arc;

use perf_ring::EventType;

use super::{EventSetError, EventSetOptions, Inherit};
use crate::names::{EventSpec, NamedEvent, Probe};
use crate::system::{Capability, Privileges};

impl EventSetOptions {
    /// Replaces the events of probes that new tasks inherit by tracepoints, which are listed in
    /// tracefs until the set is dropped.
    ///
    /// The kernel reads the path or function of a probe's PMU anew in each fork of an observed
    /// task, from the memory of that task. There it finds something else, and the fork fails
    /// (kernel errata).
    pub(super) fn list_inherited_probes(mut self) -> Result<Self, EventSetError> {
        if !self.target.is_tasks() || self.inherits() == Inherit::Nothing {
            return Ok(self);
        }
        let privileges = Privileges::read(&self.system);
        let mut failed = None;
        let mut probes = Vec::new();
        let mut listed = |spec: EventSpec| -> EventSpec {
            let probe = spec.probe().filter(|_| may_open(&spec, &privileges));
            match probe.map(|probe| probe.tracefs_event(&self.system)) {
                None => spec,
                Some(Ok(event)) => {
                    let spec = spec.by_tracepoint(event.spec());
                    probes.push(Arc::new(event));
                    spec
                }
                Some(Err(error)) => {
                    let event = Arc::clone(spec.label());
                    failed.get_or_insert(EventSetError::Probe { event, error: Box::new(error) });
                    spec
                }
            }
        };
        let mut member = |event: NamedEvent| event.map_specs(&mut listed);
        self.groups = self.groups.into_iter().map(|group| group.map_members(&mut member)).collect();
        self.probes = probes;
        failed.map_or(Ok(self), Err)
    }
}

/// Returns `true` unless the kernel refuses the probe, with an error that says more than one of
/// tracefs.
fn may_open(spec: &EventSpec, privileges: &Privileges) -> bool {
    spec.attr().kind != EventType::TRACEPOINT
        && if spec.probe().is_some_and(Probe::is_of_kernel) {
            privileges.has_perfmon()
        } else {
            privileges.has(Capability::SYS_ADMIN)
        }
}
