use super::resolver::Resolver;
use crate::names::expression::{Event, ParseError, Problem};
use crate::names::nearest;
use crate::names::spec::EventSpec;
use crate::names::tracefs::{Tracefs, TracefsError};

impl Resolver<'_> {
    /// Returns the tracepoints that the two patterns match.
    pub(super) fn tracepoints(
        &self,
        event: &Event,
        category: &str,
        name: &str,
    ) -> Result<Vec<Vec<EventSpec>>, ParseError> {
        let tracefs = Tracefs::find(self.system).map_err(|error| self.tracefs_error(event, error))?;
        let found = match tracefs.matching(&format!("{category}:{name}")) {
            Ok(found) => found,
            Err(TracefsError::NotFound { has, .. }) => {
                let error = self.error(event.source.span, Problem::Unknown("tracepoint"));
                let categories = tracefs.categories().map_err(|error| self.tracefs_error(event, error))?;
                return Err(error.with_nearest(similar(category, name, &categories, &has)));
            }
            Err(error) => return Err(self.tracefs_error(event, error)),
        };
        let specs = found.iter().map(|found| Ok(vec![self.with_terms(found.event_spec(), event.terms())?]));
        specs.collect()
    }

    /// Returns the tracepoints with this name without the category, or those with a similar name.
    pub(super) fn tracepoints_like(&self, wanted: &str) -> Vec<String> {
        let Ok(tracefs) = Tracefs::find(self.system) else { return Vec::new() };
        let categories = tracefs.categories().unwrap_or_default();
        let named = |category: &String| -> Vec<(String, String)> {
            let names = tracefs.names(category).unwrap_or_default();
            names.into_iter().map(|name| (format!("{category}:{name}"), name)).collect()
        };
        let all: Vec<(String, String)> = categories.iter().flat_map(named).collect();
        let is_exact = all.iter().any(|(_, name)| name == wanted);
        let nearest = nearest::nearest(wanted, all.iter().map(|(_, name)| name.as_str()));
        let full = |name: &String| {
            let matching = all.iter().filter(move |(_, found)| found == name);
            matching.map(|(full, _)| full.clone()).collect::<Vec<_>>()
        };
        nearest.iter().filter(|name| !is_exact || *name == wanted).flat_map(full).collect()
    }

    fn tracefs_error(&self, event: &Event, error: TracefsError) -> ParseError {
        let problem = match error {
            TracefsError::File(error) => Problem::File(error),
            error => Problem::Invalid(error.to_string()),
        };
        self.error(event.source.span, problem)
    }
}

/// Returns the names of tracepoints like the one that was not found: of its category, or if there is no
/// such category, of those with a similar name.
fn similar(category: &str, name: &str, categories: &[String], has: &[String]) -> Vec<String> {
    let nearest = |wanted, known: &[String]| nearest::nearest(wanted, known.iter().map(String::as_str));
    if categories.iter().any(|known| known == category) {
        nearest(name, has).iter().map(|name| format!("{category}:{name}")).collect()
    } else {
        nearest(category, categories).iter().map(|category| format!("{category}:{name}")).collect()
    }
}
