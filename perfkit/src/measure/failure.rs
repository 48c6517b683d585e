//! Why a measurement failed, as messages and the exit code of this program.

use std::fmt;
use std::io;
use std::process::ExitCode;

use perf_record::RecordError;
use perf_session::ring;
use perf_session::{EventSetError, System};

use super::command::start_exit_code;
use crate::out::message::{note, print, shown};

/// The reason why a measurement could not be started or continued.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An event or a ring cannot be used, or the command cannot be started.
    Set(EventSetError),
    /// The recording cannot be written.
    Write(perf_file::Error),
    Other(io::Error),
}

impl Failure {
    /// Prints the failure of events and of the command, and returns the exit code. Returns other
    /// errors. `target` has the tasks and CPUs as the user named them, which is more helpful than
    /// the thread or CPU of the failed event; it is `None` for a command.
    pub(crate) fn report(self, target: Option<&str>) -> io::Result<ExitCode> {
        match self {
            Self::Set(error) => Ok(report(&error, target)),
            Self::Write(error) => Err(io::Error::other(error)),
            Self::Other(error) => Err(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl From<EventSetError> for Failure {
    fn from(error: EventSetError) -> Self {
        Self::Set(error)
    }
}

impl From<ring::Error> for Failure {
    fn from(error: ring::Error) -> Self {
        Self::Set(error.into())
    }
}

impl From<perf_file::Error> for Failure {
    fn from(error: perf_file::Error) -> Self {
        Self::Write(error)
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Events(error) => Self::Set(error),
            RecordError::Write(error) => Self::Write(error),
            other => Self::Other(other.into()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(error)
    }
}

/// Prints why a set could not be opened or used and, if the kernel refused an event, its cause, the
/// evidence and the remedy. Returns the exit code.
fn report(error: &EventSetError, target: Option<&str>) -> ExitCode {
    if let EventSetError::Command { program, error } = error {
        note(format_args!("{}: {error}", shown(program)));
        return start_exit_code(error);
    }
    let Some((event, explanation)) = error.event().zip(error.explain(&System::new())) else {
        note(error);
        return ExitCode::FAILURE;
    };
    let place = target.map(|target| format!(" for {target}")).unwrap_or_default();
    match event.error.call().zip(event.error.errno()) {
        // The usual causes of the errno would only repeat it.
        Some((call, errno)) if explanation.is_known() => {
            note(format_args!("{}{place}: {call} failed with {errno:?}", event.label));
        }
        _ => note(format_args!("{}{place}: {}", event.label, event.error)),
    }
    print(explanation);
    ExitCode::FAILURE
}
