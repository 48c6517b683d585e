//! Records the events of Linux into a complete `perf.data`: with what was there before the recording, and a control channel
//! for other programs.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod control;
mod error;
mod recorder;
mod std_error;
pub mod synthesize;

/// Reading and writing of `perf.data`: the crate `perf-file`.
#[doc(no_inline)]
pub use perf_file as file;
/// Events by name and sets of events: the crate `perf-session`.
#[doc(no_inline)]
pub use perf_session as session;
#[doc(no_inline)]
pub use perf_session::Report;

pub use control::{Control, ControlAck, ControlCommand, ControlError, ControlReader};
pub use error::RecordError;
pub use recorder::{Lost, Recorded, Recorder, Recording, Snapshot, WAKEUPS};
