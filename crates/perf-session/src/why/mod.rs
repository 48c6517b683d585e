//! Why an event does not open, and what to do. One table of rules ([`rules`]) is checked before the
//! open and explains the errno after it; the fallback of attrs drops what the kernel or the PMU
//! does not accept.

use perf_ring::AttrFlags;

mod argument;
mod attr;
mod case;
mod cpu_event;
mod diagnosis;
mod fallback;
mod field;
mod filter;
mod limit;
mod map;
mod missing;
mod permission;
mod pmu;
mod rules;
mod target;
#[cfg(test)]
mod tests;
mod tracepoint;
mod trials;

pub use case::{FailedOpen, Trial, explain, trial_of};
pub use cpu_event::{CpuEvent, cpu_event};
pub use diagnosis::{Cause, Diagnosis, Evidence};
pub use fallback::{AttrFallback, DroppedFeature, FallbackError, Opened};
pub use field::Field;
pub use filter::check_filter;
pub use map::explain_map;
pub(crate) use map::explain_mapping;
pub use rules::check;

/// Flags rejected by PMUs that cannot exclude anything.
const EXCLUDES: [AttrFlags; 6] = [
    AttrFlags::EXCLUDE_HOST,
    AttrFlags::EXCLUDE_GUEST,
    AttrFlags::EXCLUDE_IDLE,
    AttrFlags::EXCLUDE_HV,
    AttrFlags::EXCLUDE_USER,
    AttrFlags::EXCLUDE_KERNEL,
];
