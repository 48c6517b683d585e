//! Why an event cannot be measured.

use std::fmt;

use perf_session::{Cause, Diagnosis, EventSetError, ParseError, System};

/// The reason why an event cannot be measured.
///
/// `Display` prints the whole text, which a benchmark shows by
/// `unwrap_or_else(|error| panic!("{error}"))`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The text does not name exactly one event of this machine. The error has the nearest names.
    Name(ParseError),
    /// The event cannot be opened or enabled.
    Open {
        /// The event, the call and the errno.
        error: Box<EventSetError>,
        /// Cause, evidence and remedy; `None` if `error` already has them.
        diagnosis: Option<Box<Diagnosis>>,
    },
    /// The event counts all tasks on CPUs, and cannot count a thread.
    CpuOnly {
        /// Name of the event.
        event: String,
    },
}

impl Error {
    /// Returns the error with its explanation.
    pub(crate) fn explained(error: EventSetError, system: &System) -> Self {
        let diagnosis = error.explain(system).map(Box::new);
        Self::Open { error: Box::new(error), diagnosis }
    }

    /// Returns why the event cannot be opened: cause, evidence and remedy.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        match self {
            Self::Open { diagnosis, .. } => diagnosis.as_deref(),
            _ => None,
        }
    }
}

/// `{:#}` prints one line, for a log.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Open { error, diagnosis: None } => error.fmt(f),
            Self::Open { error, diagnosis: Some(diagnosis) } if f.alternate() => {
                write!(f, "{}: {diagnosis:#}", error.what())
            }
            Self::Open { error, diagnosis: Some(diagnosis) } => {
                write!(f, "{}\n{diagnosis}", error.what())?;
                if diagnosis.cause == Cause::NoHardwarePmu {
                    f.write_str(
                        "; PerfMeasurementOptions::clock_if_refused measures the time on a CPU instead",
                    )?;
                }
                Ok(())
            }
            Self::CpuOnly { event } => write!(
                f,
                "{event}: expected an event of a thread, found one that counts all tasks of a CPU; `perfkit list` and \
                 `perf list` name others"
            ),
        }
    }
}

/// `source` is `None`: `Display` already has the whole text.
impl std::error::Error for Error {}
