use std::sync::Arc;

use perf_sys::{Attr, Label};

use super::source::Candidate;
use super::terms::Settings;
use crate::expression::{Event, Group, Modifiers, Problem, Span};
use crate::{LogicalEvent, ParseError, System};

/// Finds the events of a string on one machine.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    text: &'a str,
    #[allow(dead_code, reason = "read for PMUs and tracepoints")]
    pub(super) system: &'a System,
}

impl<'a> Resolver<'a> {
    pub(super) const fn new(text: &'a str, system: &'a System) -> Self {
        Self { text, system }
    }

    /// Returns the events of a group, in the order in which they were written.
    pub(super) fn group(&self, group: &Group) -> Result<Vec<LogicalEvent>, ParseError> {
        let mut members = Vec::new();
        for event in &group.events {
            for candidate in self.candidates(event)? {
                let is_leader = members.is_empty();
                members.push(self.event(event, candidate, group, is_leader)?);
            }
        }
        Ok(members)
    }

    /// Returns one event with its settings and modifiers.
    fn event(
        &self,
        event: &Event,
        candidate: Candidate,
        group: &Group,
        is_leader: bool,
    ) -> Result<LogicalEvent, ParseError> {
        let settings = Settings::new(&candidate.settings, self)?;
        let modifiers = self.modifiers(event, group, is_leader)?;
        let name: Arc<str> = match (&settings.name, candidate.name) {
            (Some(name), _) => name.as_str().into(),
            (None, Some(name)) => {
                let own = event.modifiers.node;
                if own.is_empty() { name.into() } else { format!("{name}:{own}").into() }
            }
            (None, None) => self.slice(event.span()).into(),
        };
        let is_one = candidate.specs.len() == 1;
        let specs = candidate.specs.into_iter().map(|spec| {
            let spec = spec.map_attr(|attr| with_modifiers(settings.apply(attr), modifiers));
            let label = match spec.pmu() {
                Some(pmu) if !is_one => Label::from(format!("{pmu}/{name}/")),
                _ => Label::from(Arc::clone(&name)),
            };
            spec.with_label(label)
        });
        Ok(LogicalEvent::new(Arc::clone(&name), specs.collect()))
    }

    /// Returns the modifiers of the event and of its group. Of the flags that concern the whole group
    /// only the leader gets those of the group.
    fn modifiers(&self, event: &Event, group: &Group, is_leader: bool) -> Result<Modifiers, ParseError> {
        let of_group = group.modifiers.node;
        let of_group = if is_leader { of_group } else { of_group.without("De") };
        event.modifiers.node.union(of_group).ok_or_else(|| {
            let reason = "event and group have more than three `p` together".to_owned();
            self.error(event.span(), Problem::Invalid(reason))
        })
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub(super) fn error(&self, span: Span, problem: Problem) -> ParseError {
        ParseError::new(self.text, span, problem)
    }
}

fn with_modifiers(attr: Attr, modifiers: Modifiers) -> Attr {
    let flags = modifiers.flags();
    let skid = flags.precise_ip();
    let attr = attr.with_flags(flags);
    if modifiers.has('p') || modifiers.has('P') { attr.with_precise_ip(skid) } else { attr }
}
