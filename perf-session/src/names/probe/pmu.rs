//! Probes by their PMUs. Since Linux 4.17.

use std::sync::Arc;

use perf_sys::Attr;

use super::{Location, Probe, ProbeError};
use crate::names::pmu::{Pmu, PmuTerm};
use crate::names::spec::EventSpec;
use crate::system::System;

impl Probe {
    /// Returns the event of the probe by the PMU `kprobe` or `uprobe`. The probe lives as long as the event
    /// is open.
    ///
    /// # Errors
    ///
    /// The kernel has no such PMU, the place of the reference counter does not fit, or a file cannot be
    /// read or is malformed.
    pub fn event_spec(&self, system: &System) -> Result<EventSpec, ProbeError> {
        if self.ref_counter.is_some() && !matches!(self.location, Location::File { .. }) {
            return Err(ProbeError::KernelRefCounter);
        }
        let pmu = Pmu::named(system, self.pmu())?;
        let counter = self.ref_counter.map(|offset| format!("{offset:#x}"));
        let is_return = self.is_return.then_some(PmuTerm { name: "retprobe", value: None });
        let counter =
            counter.as_deref().map(|offset| PmuTerm { name: "ref_ctr_offset", value: Some(offset) });
        let terms: Vec<_> = is_return.into_iter().chain(counter).collect();
        let spec = pmu.event_spec(&terms)?.with_label(self.to_string()).with_probe(self.clone());
        Ok(match &self.location {
            Location::Function { name: text, offset } | Location::File { path: text, offset, .. } => {
                spec.with_probe_text(Arc::clone(text)).map_attr(|attr: Attr| attr.with_config2(*offset))
            }
            Location::Address(address) => spec.map_attr(|attr| attr.with_config2(*address)),
        })
    }
}
