use std::fs;

use super::resolver::Resolver;
use crate::names::expression::{Event, ParseError, Problem, Spanned};
use crate::names::pmu;
use crate::names::pmu::PmuError;
use crate::names::probe::{Probe, ProbeError};
use crate::names::spec::EventSpec;
use crate::system::FileError;

impl Resolver<'_> {
    /// Returns the event of a probe by its PMU, which Linux has since 4.17.
    pub(super) fn probe(
        &self,
        event: &Event,
        file: Option<&Spanned<String>>,
        function: &Spanned<String>,
        offset: u64,
        is_return: bool,
    ) -> Result<EventSpec, ParseError> {
        let probe = match (file, pmu::number(&function.node)) {
            (Some(file), Some(place)) => {
                self.check_file(file)?;
                Probe::file_offset(&file.node, place)
            }
            (Some(file), None) => {
                self.check_file(file)?;
                Probe::file_function(&file.node, &function.node)
            }
            (None, Some(address)) => Ok(Probe::kernel_address(address)),
            (None, None) => Probe::kernel_function(&function.node),
        };
        let probe = probe.map(|probe| {
            let probe = probe.with_offset(offset);
            if is_return { probe.on_return() } else { probe }
        });
        let spec = probe.and_then(|probe| probe.event_spec(self.system));
        let spec = spec.map_err(|error| self.probe_error(event, file, function, error))?;
        self.with_terms(spec, event.terms())
    }

    /// Fails for what is no file: opening a pipe would wait for its other end.
    fn check_file(&self, file: &Spanned<String>) -> Result<(), ParseError> {
        let problem = match fs::metadata(&file.node) {
            Ok(found) if found.is_file() => return Ok(()),
            Ok(_) => Problem::Invalid("not a file with symbols".to_owned()),
            Err(error) => Problem::File(FileError::io(file.node.clone().into(), error)),
        };
        Err(self.error(file.span, problem))
    }

    fn probe_error(
        &self,
        event: &Event,
        file: Option<&Spanned<String>>,
        function: &Spanned<String>,
        error: ProbeError,
    ) -> ParseError {
        let file = file.map_or(event.source.span, |file| file.span);
        match error {
            ProbeError::NoSymbol { nearest, .. } => {
                let reason = "no function of the file; of a stripped file only exported ones are known";
                self.error(function.span, Problem::Invalid(reason.to_owned())).with_nearest(nearest)
            }
            ProbeError::File(error) => self.error(file, Problem::File(error)),
            ProbeError::Path { .. } => self.error(file, Problem::Invalid(error.to_string())),
            ProbeError::Pmu(PmuError::NotFound { wanted, .. }) => {
                let option = wanted.to_ascii_uppercase();
                let reason =
                    format!("this kernel has no {wanted}s: they need CONFIG_{option}_EVENTS and Linux 4.17");
                self.error(event.source.span, Problem::Invalid(reason))
            }
            error => self.error(function.span, Problem::Invalid(error.to_string())),
        }
    }
}
