use std::sync::Arc;

use perf_sys::{Attr, AttrFlags, BreakpointLen, BreakpointType, CacheEvent, EventType};

use super::resolver::{Resolver, name_of};
use crate::names::catalog;
use crate::names::expression::{Event, Group, Modifiers, ParseError, Problem, Source};
use crate::names::logical::NamedEvent;
use crate::names::pmu::Pmu;
use crate::names::spec::EventSpec;

impl Resolver<'_> {
    /// Returns the events of a group, in the order in which they were written.
    pub(super) fn group(&self, group: &Group) -> Result<Vec<NamedEvent>, ParseError> {
        let mut members = Vec::new();
        for event in &group.events {
            for specs in self.specs(event)? {
                let modifiers = self.modifiers(event, group, members.is_empty())?;
                members.push(self.event(event, specs, modifiers));
            }
        }
        Ok(members)
    }

    /// Names an event and sets its modifiers. The name is the one of a term, else the text as it was written; a
    /// tracepoint has its own, because a pattern may have found it.
    fn event(&self, event: &Event, specs: Vec<EventSpec>, modifiers: Modifiers) -> NamedEvent {
        let own = event.modifiers.node;
        let tracepoint = specs.first().filter(|_| matches!(event.source.node, Source::Tracepoint { .. }));
        let name: Arc<str> = match (name_of(event.terms()), tracepoint) {
            (Some(name), _) => name.into(),
            (None, Some(spec)) if own.is_empty() => Arc::clone(spec.label()),
            (None, Some(spec)) => format!("{}:{own}", spec.label()).into(),
            (None, None) => self.slice(event.span()).into(),
        };
        let (flags, is_one) = (modifiers.flags(), specs.len() == 1);
        // `with_flags` adds bits, and the two bits of the skid are a number: they are set apart.
        let skid = flags.precise_ip();
        let flags = flags.difference(AttrFlags::from_bits_retain(AttrFlags::PRECISE_IP_MASK));
        let specs = specs.into_iter().map(|spec| {
            // One name for the user, one label for each PMU.
            let label = match spec.pmu() {
                Some(pmu) if !is_one => format!("{pmu}/{name}/").into(),
                _ => Arc::clone(&name),
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

    /// Returns the modifiers of the event and of its group. Flags of the group that concern it as a
    /// whole (`D`, `e`) are for the leader alone.
    fn modifiers(&self, event: &Event, group: &Group, is_leader: bool) -> Result<Modifiers, ParseError> {
        let of_group = group.modifiers.node;
        let of_group = if is_leader { of_group } else { of_group.without("De") };
        event.modifiers.node.union(of_group).ok_or_else(|| {
            let reason = "event and group have more than three `p` together".to_owned();
            self.error(event.span(), Problem::Invalid(reason))
        })
    }

    /// Returns the events that a source names, several if it has wildcards: of each the spec on each of its PMUs, with
    /// all terms.
    fn specs(&self, event: &Event) -> Result<Vec<Vec<EventSpec>>, ParseError> {
        let specs = match &event.source.node {
            Source::Name(name) => self.named(event, name)?,
            Source::Tracepoint { category, name } => return self.tracepoints(event, category, name),
            &Source::Raw(config) => self.on_core_pmus(event, Attr::raw(config))?,
            &Source::Number { kind, config } => {
                self.on_core_pmus(event, Attr::new(EventType(kind), config))?
            }
            Source::Probe { file, function, offset, is_return } => {
                vec![self.probe(event, file.as_ref(), function, *offset, *is_return)?]
            }
            &Source::Breakpoint { address, len, access } => {
                vec![self.with_terms(EventSpec::new(breakpoint(address, len, access)), event.terms())?]
            }
        };
        Ok(vec![specs])
    }

    /// Returns the event of a name: a generic one, or with slashes one of the PMU, or one of any PMU.
    fn named(&self, event: &Event, name: &str) -> Result<Vec<EventSpec>, ParseError> {
        match catalog::attr_of(name) {
            Some(attr) => {
                self.check_cache_event(event, attr)?;
                self.on_core_pmus(event, attr)
            }
            None if event.terms.is_some() => self.pmu_events(event, name),
            None => self.alias(event, name),
        }
    }

    /// Fails for a cache event that the kernel cannot have.
    fn check_cache_event(&self, event: &Event, attr: Attr) -> Result<(), ParseError> {
        let cache = CacheEvent::from_config(attr.config);
        match cache.filter(|_| attr.kind == EventType::HW_CACHE) {
            Some(cache) if !catalog::is_possible(cache) => {
                let reason = format!("the kernel has no {} for {}", cache.op, cache.cache);
                Err(self.error(event.source.span, Problem::Invalid(reason)))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the attr of a breakpoint, by default on reads and writes of 4 bytes, or on the execution of
/// one instruction.
fn breakpoint(address: u64, len: Option<u64>, access: Option<BreakpointType>) -> Attr {
    let access = access.unwrap_or(BreakpointType::READ_WRITE);
    let default =
        if access == BreakpointType::EXECUTE { BreakpointLen::EXECUTE } else { BreakpointLen::FOUR };
    Attr::breakpoint(access, address, len.map_or(default, BreakpointLen))
}
