//! Why an event does not open, and what to do: the rules of attrs, the explanation of an error, and the attrs to
//! fall back to.

mod check;
mod explain;
mod fallback;
mod negotiate;

pub use check::{Checked, Violation, check, check_filter};
pub(crate) use explain::explain_mapping;
pub use explain::{Cause, Evidence, Explanation, FailedOpen, Trial, explain, explain_map, trial_of};
pub use fallback::{CpuEvent, cpu_event};
pub use negotiate::{AttrField, Concession, NegotiateError, Negotiated, Negotiation, Since, negotiate};
