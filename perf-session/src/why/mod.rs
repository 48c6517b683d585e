//! Why an event does not open, and what to do: the rules of attrs, the explanation of an error, and the attrs to
//! fall back to.

mod check;
mod cpu_event;
mod explain;
mod fallback;
mod field;

pub use check::{Checked, Violation, check, check_filter};
pub use cpu_event::{CpuEvent, cpu_event};
pub(crate) use explain::explain_mapping;
pub use explain::{Cause, Evidence, Explanation, FailedOpen, Trial, explain, explain_map, trial_of};
pub use fallback::{AttrFallback, DroppedFeature, FallbackError, Opened};
pub use field::Field;

use perf_sys::AttrFlags;

/// Flags rejected by PMUs that cannot exclude anything.
const EXCLUDES: [AttrFlags; 6] = [
    AttrFlags::EXCLUDE_HOST,
    AttrFlags::EXCLUDE_GUEST,
    AttrFlags::EXCLUDE_IDLE,
    AttrFlags::EXCLUDE_HV,
    AttrFlags::EXCLUDE_USER,
    AttrFlags::EXCLUDE_KERNEL,
];
