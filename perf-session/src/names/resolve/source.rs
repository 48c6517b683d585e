use perf_sys::{Attr, BreakpointLen, BreakpointType, EventType};

use super::event::Resolver;
use crate::names::catalog;
use crate::names::expression::ParseError;
use crate::names::expression::{Event, Problem, Source};
use crate::names::spec::EventSpec;

/// An event of this machine that the source of an event names.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The name without modifiers, `None` for the text that was written.
    pub(super) name: Option<String>,
    /// One event for each PMU, with all terms.
    pub(super) specs: Vec<EventSpec>,
}

impl Resolver<'_> {
    /// Returns the events of a source: several if it has wildcards.
    pub(super) fn candidates(&self, event: &Event) -> Result<Vec<Candidate>, ParseError> {
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
        Ok(vec![Candidate { name: None, specs }])
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
        let cache = perf_sys::CacheEvent::from_config(attr.config);
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
