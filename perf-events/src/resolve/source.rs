use perf_sys::{Attr, BreakpointLen, BreakpointType, EventType};

use super::event::Resolver;
use crate::expression::{Event, Problem, Source, Span, Term};
use crate::{EventSpec, ParseError, catalog, nearest};

/// An event of this machine that the source of an event names.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The name, `None` for the text that was written.
    pub(super) name: Option<String>,
    /// One for each PMU.
    pub(super) specs: Vec<EventSpec>,
    /// The terms that do not belong to the PMU.
    pub(super) settings: Vec<Term>,
}

impl Resolver<'_> {
    /// Returns the events of a source: several if it has wildcards.
    pub(super) fn candidates(&self, event: &Event) -> Result<Vec<Candidate>, ParseError> {
        let span = event.source.span;
        let attr = match &event.source.node {
            Source::Name(name) => return self.named(event, name),
            Source::Tracepoint { .. } => return Err(self.error(span, Problem::Unknown("tracepoint"))),
            &Source::Raw(config) => Attr::raw(config),
            &Source::Number { kind, config } => Attr::new(EventType(kind), config),
            &Source::Breakpoint { address, len, access } => breakpoint(address, len, access),
        };
        Ok(vec![single(event, attr)])
    }

    fn named(&self, event: &Event, name: &str) -> Result<Vec<Candidate>, ParseError> {
        let span = event.source.span;
        match catalog::attr_of(name) {
            Some(attr) => Ok(vec![single(event, attr)]),
            None => Err(self.unknown(span, name)),
        }
    }

    fn unknown(&self, span: Span, name: &str) -> ParseError {
        let of_caches: Vec<String> = catalog::cache_names().collect();
        let mut names: Vec<&str> = catalog::names().collect();
        names.extend(of_caches.iter().map(String::as_str));
        self.error(span, Problem::Unknown("event")).with_nearest(nearest::nearest(name, names))
    }
}

fn single(event: &Event, attr: Attr) -> Candidate {
    let settings = event.terms.clone().unwrap_or_default();
    Candidate { name: None, specs: vec![EventSpec::new(attr)], settings }
}

/// Returns the attr of a breakpoint, by default on reads and writes of 4 bytes, or on the execution of
/// one instruction.
fn breakpoint(address: u64, len: Option<u64>, access: Option<BreakpointType>) -> Attr {
    let access = access.unwrap_or(BreakpointType::READ_WRITE);
    let default =
        if access == BreakpointType::EXECUTE { BreakpointLen::EXECUTE } else { BreakpointLen::FOUR };
    Attr::breakpoint(access, address, len.map_or(default, BreakpointLen))
}
