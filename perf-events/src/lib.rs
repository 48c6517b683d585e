//! Perf events by name, on the right CPUs, and the reason why one does not open.
//!
//! The crate stands on [`perf_sys`], here [`sys`].

#![forbid(unsafe_code)]

mod budget;
pub mod catalog;
mod check;
mod clock;
pub mod coming_from;
mod cpus;
mod explain;
pub mod expression;
mod fallback;
mod file_error;
mod glob;
mod known_names;
mod logical;
mod loss;
mod nearest;
mod negotiate;
mod pmu;
mod privileges;
mod probe;
mod resolve;
mod set;
mod sized_rings;
mod spec;
mod std_error;
mod sysctl;
mod system;
mod threads;
mod tracefs;

/// The system calls and rings: the crate `perf-sys`.
#[doc(no_inline)]
pub use perf_sys as sys;

pub use budget::{LockedMemory, Mapped};
pub use check::{Checked, Violation, check, check_filter};
pub use clock::{ClockError, ClockLine, ClockPair, PerfClock, TimeSource, choose_clock, clocks_of};
pub use cpus::{CpuIter, CpuList, CpuListError};
pub use explain::{Cause, Evidence, Explanation, FailedOpen, Trial, explain, explain_map, trial_of};
pub use expression::ParseError;
pub use fallback::{CyclesOrClock, cycles_or_clock};
pub use file_error::FileError;
pub use glob::Glob;
pub use logical::LogicalEvent;
pub use loss::{Gap, Loss, LossKind, LossLedger, LossReport};
pub use negotiate::{AttrField, Concession, NegotiateError, Negotiated, Negotiation, Since, negotiate};
pub use pmu::{
    ConfigField, ConfigFieldError, Pmu, PmuError, PmuEvent, PmuTerm, PmuTermError, TermError, TermProblem,
};
pub use privileges::{Capability, Privileges};
pub use probe::{Probe, ProbeError, ProbeEvent, ProbeHit};
pub use resolve::{EventGroup, parse, parse_event};
pub use set::{
    Counts, EventCounts, EventError, EventLost, Inherit, Place, PlaceCount, Refreshed, RingKey, RingSize,
    Set, SetError, SetEvent, SetOptions, SetRecord, SetTarget, SpawnMisuse,
};
pub use sized_rings::{SizedRings, SizedRingsError, map_largest, map_largest_ring};
pub use spec::EventSpec;
pub use system::System;
pub use threads::threads_of;
pub use tracefs::{Tracefs, TracefsError, Tracepoint};
