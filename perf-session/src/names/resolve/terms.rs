use super::event::Resolver;
use crate::names::expression::ParseError;
use crate::names::expression::{Problem, Term};
use crate::names::nearest;
use crate::names::pmu::{GENERAL_TERMS, General};
use crate::names::spec::EventSpec;

impl Resolver<'_> {
    /// Returns the event with the settings of the terms, for an event without a PMU in sysfs.
    pub(super) fn with_terms(&self, spec: EventSpec, terms: &[Term]) -> Result<EventSpec, ParseError> {
        let mut general = General { attr: spec.attr(), name: None };
        for term in terms {
            let name = term.name.node.as_str();
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

impl Term {
    /// Returns the text after the equals sign.
    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.node.as_str())
    }
}

/// Returns the name that the terms give the event, the last one if there are several.
pub(super) fn name(terms: &[Term]) -> Option<&str> {
    terms.iter().rev().find(|term| term.name.node == "name")?.text()
}
