use std::cell::OnceCell;
use std::sync::Arc;

use perf_sys::{Attr, AttrFlags, EventType, Label};

use super::source::Candidate;
use super::terms;
use crate::names::expression::ParseError;
use crate::names::expression::{Event, Group, Modifiers, Problem, Span};
use crate::names::logical::NamedEvent;
use crate::names::pmu::Pmu;
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

    /// Returns the events of a group, in the order in which they were written.
    pub(super) fn group(&self, group: &Group) -> Result<Vec<NamedEvent>, ParseError> {
        let mut members = Vec::new();
        for event in &group.events {
            for candidate in self.candidates(event)? {
                let modifiers = self.modifiers(event, group, members.is_empty())?;
                members.push(self.event(event, candidate, modifiers));
            }
        }
        Ok(members)
    }

    /// Returns one event with its name and modifiers.
    fn event(&self, event: &Event, candidate: Candidate, modifiers: Modifiers) -> NamedEvent {
        let own = event.modifiers.node;
        let name: Arc<str> = match (terms::name(event.terms()), candidate.name) {
            (Some(name), _) => name.into(),
            (None, Some(name)) if own.is_empty() => name.into(),
            (None, Some(name)) => format!("{name}:{own}").into(),
            (None, None) => self.slice(event.span()).into(),
        };
        let (flags, is_one) = (modifiers.flags(), candidate.specs.len() == 1);
        let skid = flags.precise_ip();
        let flags = flags.difference(AttrFlags::from_bits_retain(AttrFlags::PRECISE_IP_MASK));
        let specs = candidate.specs.into_iter().map(|spec| {
            let label = match spec.pmu() {
                Some(pmu) if !is_one => Label::from(format!("{pmu}/{name}/")),
                _ => Label::from(Arc::clone(&name)),
            };
            let excludes_guests = modifiers.excludes_guests(own) && self.has_guests(event, &spec.attr());
            let guests = if excludes_guests { AttrFlags::EXCLUDE_GUEST } else { AttrFlags::empty() };
            spec.map_attr(|attr| attr.with_flags(flags | guests).with_precise_ip(skid)).with_label(label)
        });
        NamedEvent::new(Arc::clone(&name), specs.collect())
    }

    /// Returns `true` if guests can be excluded from the event. PMUs outside of the cores, such as `msr` and
    /// uncore PMUs, fail with `EINVAL` for any exclusion.
    fn has_guests(&self, event: &Event, attr: &Attr) -> bool {
        let is_core = |pmu: &Pmu| pmu.is_core() && pmu.kind() == attr.kind;
        attr.kind <= EventType::BREAKPOINT
            || self.pmus(event.source.span).is_ok_and(|pmus| pmus.iter().any(is_core))
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

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub(super) fn error(&self, span: Span, problem: Problem) -> ParseError {
        ParseError::new(self.text, span, problem)
    }
}

impl Event {
    /// Returns the terms between the slashes.
    pub(super) fn terms(&self) -> &[crate::names::expression::Term] {
        self.terms.as_deref().unwrap_or_default()
    }
}
