//! Events by name: from a text to the attrs that open it.
//!
//! [`expression`] parses the text, [`resolve`](mod@resolve) asks the machine for its parts,
//! [`spec`] is the result.

mod branch_filter;
pub mod catalog;
pub mod expression;
mod glob;
mod nearest;
mod pmu;
mod probe;
mod resolve;
mod spec;
#[cfg(feature = "syscalls")]
mod syscalls;
mod tracefs;

pub use branch_filter::{BranchFilterError, branch_filter};
pub use expression::ParseError;
pub use glob::Glob;
pub use nearest::nearest;
pub use pmu::{
    ConfigField, ConfigFieldError, Pmu, PmuError, PmuEvent, PmuTerm, PmuTermError, TermError, TermProblem,
};
pub use probe::{Probe, ProbeError, ProbeEvent, ProbeHit};
pub use resolve::{parse, parse_event};
pub use spec::{EventGroup, EventSpec, NamedEvent};
#[cfg(feature = "syscalls")]
pub use syscalls::SyscallTracepoints;
pub use tracefs::{Tracefs, TracefsError, Tracepoint};
