use std::cell::OnceCell;

use crate::names::expression::{Event, ParseError, Problem, Span, Term};
use crate::names::nearest;
use crate::names::pmu::{GENERAL_TERMS, General, Pmu};
use crate::names::spec::EventSpec;
use crate::system::{FileError, System};

/// Finds the events of a string on one machine.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    text: &'a str,
    pub(super) system: &'a System,
    pmus: OnceCell<Result<Vec<Pmu>, FileError>>,
}

impl<'a> Resolver<'a> {
    pub(super) const fn new(text: &'a str, system: &'a System) -> Self {
        Self { text, system, pmus: OnceCell::new() }
    }

    /// Returns all PMUs, none where sysfs is not mounted: generic events are then left to the kernel.
    pub(super) fn pmus(&self, span: Span) -> Result<&[Pmu], ParseError> {
        let pmus = self.pmus.get_or_init(|| match System::optional(Pmu::all_names(self.system))? {
            Some(_) => Pmu::all(self.system),
            None => Ok(Vec::new()),
        });
        pmus.as_deref().map_err(|error| self.error(span, Problem::File(error.clone())))
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub(super) fn error(&self, span: Span, problem: Problem) -> ParseError {
        ParseError::new(self.text, span, problem)
    }

    /// Returns the event with the settings of the terms, for an event without a PMU in sysfs.
    pub(super) fn with_terms(&self, spec: EventSpec, terms: &[Term]) -> Result<EventSpec, ParseError> {
        let mut general = General { attr: spec.attr(), name: None };
        for term in terms {
            let name = term.name.node.as_str();
            // Without a PMU in sysfs there are no formats, only the terms of every event.
            let is_known = general.apply(name, term.text());
            let is_known = is_known.map_err(|expected| {
                let span = term.value.as_ref().map_or(term.name.span, |value| value.span);
                self.error(span, Problem::Expected(expected))
            })?;
            if !is_known {
                let error = self.error(term.name.span, Problem::Unknown("term"));
                return Err(error.with_nearest(nearest::nearest(name, GENERAL_TERMS)));
            }
        }
        Ok(spec.map_attr(|_| general.attr))
    }
}

impl Event {
    /// Returns the terms between the slashes.
    pub(super) fn terms(&self) -> &[Term] {
        self.terms.as_deref().unwrap_or_default()
    }
}

impl Term {
    /// Returns the text after the equals sign.
    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.node.as_str())
    }
}

/// Returns the name that the terms give the event, the last one if there are several.
pub(super) fn name_of(terms: &[Term]) -> Option<&str> {
    terms.iter().rev().find(|term| term.name.node == "name")?.text()
}
