//! Generic events on the PMUs of the kinds of CPU cores.

use perf_sys::abi::HW_EVENT_MASK;
use perf_sys::{Attr, EventType};

use super::resolver::Resolver;
use crate::names::catalog;
use crate::names::expression::{Event, ParseError, Problem, Span};
use crate::names::pmu::Pmu;
use crate::names::spec::EventSpec;

impl Resolver<'_> {
    /// Returns a generic or raw event: on a machine with several core PMUs one for each of them.
    pub(super) fn on_core_pmus(&self, event: &Event, attr: Attr) -> Result<Vec<EventSpec>, ParseError> {
        let spec = self.with_terms(EventSpec::new(attr), event.terms())?;
        if !is_of_cores(&spec.attr()) {
            return Ok(vec![spec]);
        }
        let cores = self.core_pmus(event.source.span)?;
        if cores.len() < 2 {
            return Ok(vec![spec]);
        }
        Ok(cores.iter().map(|pmu| on(pmu, spec.clone())).collect())
    }

    /// Returns a generic event on one core PMU: `cpu_core/cycles/`. `None` if no term is a generic event, or if the
    /// PMU has an event or a term of this name itself.
    pub(super) fn generic_on(&self, event: &Event, pmu: &Pmu) -> Result<Option<EventSpec>, ParseError> {
        let of_file = |error| self.error(event.source.span, Problem::File(error));
        for (index, term) in event.terms().iter().enumerate() {
            let name = term.name.node.as_str();
            let attr = catalog::attr_of(name).filter(|_| term.value.is_none());
            let Some(attr) = attr.filter(|attr| pmu.is_core() && is_of_cores(attr)) else { continue };
            let is_own =
                pmu.event(name).map_err(of_file)?.is_some() || pmu.format(name).map_err(of_file)?.is_some();
            if is_own {
                return Ok(None);
            }
            // The other terms apply to the attr of the generic event, not to formats of the PMU.
            let mut others = event.terms().to_vec();
            others.remove(index);
            let spec = self.with_terms(EventSpec::new(attr), &others)?;
            let is_hybrid = self.core_pmus(event.source.span)?.len() > 1;
            return Ok(Some(if is_hybrid { on(pmu, spec) } else { spec.with_pmu(pmu.name()) }));
        }
        Ok(None)
    }

    fn core_pmus(&self, span: Span) -> Result<Vec<&Pmu>, ParseError> {
        Ok(self.pmus(span)?.iter().filter(|pmu| pmu.is_core()).collect())
    }
}

/// Returns `true` for events of the CPU's PMU that do not name the PMU.
fn is_of_cores(attr: &Attr) -> bool {
    match attr.kind {
        EventType::RAW => true,
        EventType::HARDWARE | EventType::HW_CACHE => attr.config <= HW_EVENT_MASK,
        _ => false,
    }
}

/// Returns the event on one of several core PMUs.
fn on(pmu: &Pmu, spec: EventSpec) -> EventSpec {
    let spec = spec.with_pmu(pmu.name()).map_attr(|attr| match attr.kind {
        EventType::RAW => Attr { kind: pmu.kind(), ..attr },
        _ => attr.with_hybrid_pmu(pmu.kind().0),
    });
    match pmu.cpus() {
        Some(cpus) => spec.with_cpus(cpus.clone(), pmu.is_cpu_only()),
        None => spec,
    }
}
