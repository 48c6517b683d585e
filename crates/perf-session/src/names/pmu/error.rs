//! Why an event of a PMU cannot be described.

use std::fmt;
use std::sync::Arc;

use crate::names::nearest::KnownNames;
use crate::std_error::into_std;
use crate::system::FileError;
use crate::system::excerpt;

/// The reason why an event of a PMU cannot be described.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PmuError {
    /// A file cannot be read or is malformed.
    File(FileError),
    /// No PMU has this name.
    NotFound {
        /// The name that was looked up.
        wanted: String,
        /// The names of the PMUs that this machine has, sorted.
        has: Vec<String>,
    },
    /// A term is wrong.
    Term(TermError),
}

impl From<FileError> for PmuError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for PmuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::NotFound { wanted, has } => {
                let wanted = excerpt(wanted.as_bytes());
                write!(f, "PMU {wanted}: not on this machine, which has {}", KnownNames(has))
            }
            Self::Term(error) => error.fmt(f),
        }
    }
}

impl PmuError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::File(error) => error.raw_os_error(),
            Self::NotFound { .. } | Self::Term(_) => None,
        }
    }
}

impl std::error::Error for PmuError {}

into_std!(PmuError, InvalidInput);

/// A term that a PMU does not take: which one of the list, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermError {
    /// The name of the PMU.
    pub pmu: Arc<str>,
    /// The index of the term in the list.
    pub index: usize,
    pub(super) term: String,
    /// The reason.
    pub problem: TermProblem,
}

/// The reason of a [`TermError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TermProblem {
    /// The PMU has neither a term nor an event of this name.
    Unknown {
        /// The terms of the PMU, and the terms that every event has.
        terms: Vec<String>,
        /// The events of the PMU.
        events: Vec<String>,
    },
    /// The value does not fit the bits of the term.
    TooWide {
        /// The value that the user gave.
        value: u64,
        /// The largest value that fits.
        max: u64,
    },
    /// The value is not what the term takes.
    Value {
        /// The value that was expected.
        expected: &'static str,
    },
    /// The event has a parameter that is not given.
    Parameter {
        /// The name of the parameter.
        name: String,
    },
    /// The terms name two events.
    SecondEvent {
        /// The name of the first.
        first: String,
    },
}

impl TermError {
    /// Returns `true` if the value of the term is wrong, not its name.
    pub fn is_value(&self) -> bool {
        matches!(self.problem, TermProblem::TooWide { .. } | TermProblem::Value { .. })
    }
}

impl From<TermError> for PmuError {
    fn from(error: TermError) -> Self {
        Self::Term(error)
    }
}

impl fmt::Display for TermError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PMU {}: term {}: ", self.pmu, excerpt(self.term.as_bytes()))?;
        self.problem.fmt(f)
    }
}

impl fmt::Display for TermProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { terms, events } => {
                write!(
                    f,
                    "not known; the PMU has the terms {} and the events {}",
                    KnownNames(terms),
                    KnownNames(events)
                )
            }
            Self::TooWide { value, max } => write!(f, "expected at most {max:#x}, found {value:#x}"),
            Self::Value { expected } => write!(f, "expected {expected}"),
            Self::Parameter { name } => write!(f, "the event has a parameter; add `{name}=VALUE`"),
            Self::SecondEvent { first } => {
                write!(f, "a second event after `{first}`; write two events, each with its PMU")
            }
        }
    }
}

impl std::error::Error for TermError {}

into_std!(no_errno TermError, InvalidInput);
