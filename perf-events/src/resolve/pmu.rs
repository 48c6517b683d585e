use perf_sys::abi::HW_EVENT_MASK;
use perf_sys::{Attr, EventType};

use super::event::Resolver;
use crate::expression::{Event, Problem, Span, Term};
use crate::pmu::{PmuError, TermProblem};
use crate::{EventSpec, FileError, ParseError, Pmu, PmuTerm, System, catalog, nearest};

impl Resolver<'_> {
    /// Returns a generic or raw event: on a machine with several core PMUs one for each of them.
    pub(super) fn on_core_pmus(&self, event: &Event, attr: Attr) -> Result<Vec<EventSpec>, ParseError> {
        let span = event.source.span;
        let spec = self.with_terms(EventSpec::new(attr), event.terms())?;
        let attr = spec.attr();
        let is_of_cores = matches!(attr.kind, EventType::HARDWARE | EventType::HW_CACHE | EventType::RAW);
        // The upper half of `config` already names the PMU.
        let names_pmu = attr.kind != EventType::RAW && attr.config > HW_EVENT_MASK;
        if !is_of_cores || names_pmu {
            return Ok(vec![spec]);
        }
        let cores = self.core_pmus().map_err(|error| self.error(span, Problem::File(error)))?;
        if cores.len() < 2 {
            return Ok(vec![spec]);
        }
        let specs = cores.iter().map(|pmu| {
            let kind = pmu.kind();
            let spec = spec.clone().with_pmu(pmu.name()).map_attr(|attr| match attr.kind {
                EventType::RAW => Attr { kind, ..attr },
                _ => attr.with_hybrid_pmu(kind.0),
            });
            match pmu.cpus() {
                Some(cpus) => spec.with_cpus(cpus.clone(), pmu.is_cpu_only()),
                None => spec,
            }
        });
        Ok(specs.collect())
    }

    /// Returns the event of the terms on each PMU that the name matches.
    pub(super) fn pmu_events(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        let terms: Vec<PmuTerm<'_>> =
            event.terms().iter().map(|term| PmuTerm { name: &term.name.node, value: term.text() }).collect();
        let pmus = Pmu::matching(self.system, name);
        let specs = pmus.and_then(|pmus| pmus.iter().map(|pmu| pmu.event_spec(&terms)).collect());
        specs.map_err(|error| self.pmu_error(event, name, error))
    }

    /// Returns the predefined event of each PMU that has one of this name.
    pub(super) fn alias(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        let span = event.source.span;
        let of_file = |error| self.error(span, Problem::File(error));
        let pmus = self.pmus().map_err(of_file)?;
        let mut specs = Vec::new();
        for pmu in &pmus {
            if pmu.event(name).map_err(of_file)?.is_some() {
                let spec = pmu.event_spec(&[PmuTerm { name, value: None }]);
                specs.push(spec.map_err(|error| self.pmu_error(event, name, error))?);
            }
        }
        if !specs.is_empty() {
            return Ok(specs);
        }
        if pmus.iter().any(|pmu| pmu.name() == name) {
            let reason = format!("a PMU, expected one of its events: `{name}/EVENT/`");
            return Err(self.error(span, Problem::Invalid(reason)));
        }
        let mut names: Vec<String> =
            catalog::names().map(str::to_owned).chain(catalog::cache_names()).collect();
        for pmu in &pmus {
            names.extend(pmu.event_names().map_err(of_file)?);
        }
        Err(self.unknown(span, "event", name, &names))
    }

    fn pmu_error(&self, event: &Event, name: &str, error: PmuError) -> ParseError {
        let span = event.source.span;
        match error {
            PmuError::File(error) => self.error(span, Problem::File(error)),
            PmuError::NotFound { has, .. } => self.unknown(span, "PMU", name, &has),
            PmuError::Term(error) => {
                let term = event.terms().get(error.index());
                let span = term.map_or(span, |term| place(term, error.is_value()));
                match error.problem() {
                    TermProblem::Unknown { terms, events } => {
                        let names: Vec<String> = terms.iter().chain(events).cloned().collect();
                        let wanted = term.map_or(name, |term| &term.name.node);
                        self.unknown(span, "term or event of the PMU", wanted, &names)
                    }
                    problem => self.error(span, Problem::Invalid(problem.to_string())),
                }
            }
        }
    }

    fn unknown(&self, span: Span, kind: &'static str, wanted: &str, names: &[String]) -> ParseError {
        let nearest = nearest::nearest(wanted, names.iter().map(String::as_str));
        self.error(span, Problem::Unknown(kind)).with_nearest(nearest)
    }

    /// Returns all PMUs, none where sysfs is not mounted.
    fn pmus(&self) -> Result<Vec<Pmu>, FileError> {
        Ok(System::optional(Pmu::all(self.system))?.unwrap_or_default())
    }

    fn core_pmus(&self) -> Result<Vec<Pmu>, FileError> {
        Ok(System::optional(Pmu::core(self.system))?.unwrap_or_default())
    }
}

/// Returns the place of a term's value or name.
fn place(term: &Term, is_value: bool) -> Span {
    match &term.value {
        Some(value) if is_value => value.span,
        _ => term.name.span,
    }
}
