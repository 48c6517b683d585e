//! Reads a `perf.data` file into a profile.
//!
//! ```no_run
//! use perf_profile::Folded;
//! use perf_profile::read::ProfileReader;
//!
//! fn main() -> std::io::Result<()> {
//!     let read = ProfileReader::open("perf.data")?.read()?;
//!     for (event, _) in read.profile.event_ids() {
//!         Folded::new(event).write(&read.profile, &mut std::io::stdout())?;
//!     }
//!     read.finish()
//! }
//! ```
//!
//! | to | use |
//! |---|---|
//! | make a profile, a table or the waits of a recording | [`ProfileReader`] |
//! | sum up the scheduling of its threads and CPUs | [`SchedReader`] |
//! | sum up the waits for its locks, with stacks | [`LocksReader`] |
//! | know its machine, events and build ids | [`Recording::metadata`] |
//! | use the records directly, in time order | [`Recording::in_time_order`], [`resolver`], [`Members`] |
//! | write it for a viewer, with its machine and times | [`Metadata::comments`], `Metadata::pprof`, `Metadata::firefox`, `ReadProfile::write_chrome` |
//! | write each sample as text, as `perf script` does | [`ScriptWriter`] |
//! | leave out samples by their task, CPU, time or object | [`Filter`] |

mod export;
#[cfg(feature = "json")]
mod export_json;
mod filter;
mod finder;
mod locks;
mod members;
mod metadata;
mod off_cpu;
mod payloads;
mod profile;
mod recording;
mod records;
mod sched;
mod script;
mod threads;
mod time_spec;
mod wall;

pub use filter::Filter;
pub use locks::{LocksError, LocksReader, ReadLocks};
pub use members::Members;
pub use metadata::{Metadata, MetadataGap, RecordedEvent, Tracepoints};
pub use off_cpu::OffCpuError;
pub use payloads::Payloads;
pub use profile::{ProfileReader, ReadProfile, resolver};
pub use recording::Recording;
pub use records::{Damage, DecodedRecord, Progress, Records};
pub use sched::{ReadSched, SchedError, SchedReader};
pub use script::{ScriptFields, ScriptLosses, ScriptWriter, SideBandKinds};
pub use threads::{RecordedThread, RecordedThreads};
pub use time_spec::{TimeSpec, TimeSpecError};
