use super::event::Resolver;
use super::source::Candidate;
use crate::expression::{Event, Problem};
use crate::tracefs::{Tracefs, TracefsError};
use crate::{ParseError, nearest};

impl Resolver<'_> {
    /// Returns the tracepoints that the two patterns match.
    pub(super) fn tracepoints(
        &self,
        event: &Event,
        category: &str,
        name: &str,
    ) -> Result<Vec<Candidate>, ParseError> {
        let found = Tracefs::find(self.system).and_then(|it| it.matching(&format!("{category}:{name}")));
        let found = found.map_err(|error| self.tracefs_error(event, category, name, error))?;
        let candidates = found.iter().map(|tracepoint| {
            let spec = self.with_terms(tracepoint.event_spec(), event.terms())?;
            Ok(Candidate { name: Some(tracepoint.to_string()), specs: vec![spec] })
        });
        candidates.collect()
    }

    fn tracefs_error(&self, event: &Event, category: &str, name: &str, error: TracefsError) -> ParseError {
        let span = event.source.span;
        match error {
            TracefsError::NotFound { has, .. } => {
                // The names are those of the category, or the categories if there is no such category.
                let names = nearest::nearest(name, has.iter().map(String::as_str));
                let names = names.into_iter().map(|name| format!("{category}:{name}"));
                let categories = nearest::nearest(category, has.iter().map(String::as_str)).into_iter();
                let categories = categories.map(|category| format!("{category}:{name}"));
                self.error(span, Problem::Unknown("tracepoint"))
                    .with_nearest(names.chain(categories).collect())
            }
            TracefsError::File(error) => self.error(span, Problem::File(error)),
            error => self.error(span, Problem::Invalid(error.to_string())),
        }
    }
}
