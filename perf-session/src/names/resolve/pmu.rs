use super::resolver::Resolver;
use crate::names::expression::{Event, ParseError, Problem, Span, Term};
use crate::names::known_names::KnownNames;
use crate::names::pmu::{Pmu, PmuTerm};
use crate::names::pmu::{PmuError, TermProblem};
use crate::names::spec::EventSpec;
use crate::names::{catalog, nearest};

/// The names of values that the perf tool prints beside counts.
const TOOL_EVENTS: [&str; 3] = ["duration_time", "user_time", "system_time"];

impl Resolver<'_> {
    /// Returns the event of the terms on each PMU that the name matches.
    pub(super) fn pmu_events(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        let terms: Vec<PmuTerm<'_>> =
            event.terms().iter().map(|term| PmuTerm { name: &term.name.node, value: term.text() }).collect();
        let pmus = Pmu::matching(self.system, name).map_err(|error| self.pmu_error(event, name, error))?;
        // `cpu_core/cycles/` is a generic event on one kind of cores, unless the PMU has an event of this name.
        let specs = pmus.iter().map(|pmu| match self.generic_on(event, pmu)? {
            Some(spec) => Ok(spec),
            None => pmu.event_spec(&terms).map_err(|error| self.pmu_error(event, name, error)),
        });
        specs.collect()
    }

    /// Returns the predefined event of each PMU that has one of this name.
    pub(super) fn alias(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        let span = event.source.span;
        let of_file = |error| self.error(span, Problem::File(error));
        let pmus = self.pmus(span)?;
        let mut specs = Vec::new();
        for pmu in pmus {
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
        if TOOL_EVENTS.contains(&name) {
            let reason = "a value that the perf tool computes, not an event of the kernel".to_owned();
            return Err(self.error(span, Problem::Invalid(reason)));
        }
        // The name is unknown: suggest a tracepoint of this name first, whose category may have been left out.
        let mut names: Vec<String> =
            catalog::names().map(str::to_owned).chain(catalog::cache_names()).collect();
        for pmu in pmus {
            names.extend(pmu.event_names().map_err(of_file)?);
        }
        let tracepoints = self.tracepoints_like(name);
        let error = self.unknown(span, "event", name, &names);
        let nearest = tracepoints.into_iter().chain(error.nearest().to_vec()).take(nearest::LISTED).collect();
        Err(error.with_nearest(nearest))
    }

    fn pmu_error(&self, event: &Event, name: &str, error: PmuError) -> ParseError {
        let span = event.source.span;
        match error {
            PmuError::File(error) => self.error(span, Problem::File(error)),
            PmuError::NotFound { has, .. } => {
                let nearest = nearest::nearest(name, has.iter().map(String::as_str));
                let has_core = self.pmus(span).is_ok_and(|pmus| pmus.iter().any(Pmu::is_core));
                let core = if has_core { "" } else { ", none of them a hardware PMU" };
                let problem = Problem::NotAmong { kind: "PMU", has: format!("{}{core}", KnownNames(&has)) };
                self.error(span, problem).with_nearest(nearest)
            }
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
}

/// Returns the place of a term's value or name.
fn place(term: &Term, is_value: bool) -> Span {
    match &term.value {
        Some(value) if is_value => value.span,
        _ => term.name.span,
    }
}
