//! Records Linux perf events into a complete `perf.data`: the state of the system before the
//! recording, exact losses, parts, snapshots, and control by other programs.
//!
//! Record a command, and know what was lost:
//!
//! ```no_run
//! use std::fs::File;
//! use std::process::Command;
//! use std::time::Duration;
//!
//! use perf_record::session::{EventSetOptions, EventSetTarget, System, parse};
//! use perf_record::{Recorder, Report, recorded};
//!
//! fn main() -> Result<(), Report> {
//!     let system = System::new();
//!     let events = recorded(parse("cpu-clock", &system)?); // or `cycles`, `sched:sched_switch`, ...
//!     let options = EventSetOptions::new().groups(events).target(EventSetTarget::command());
//!     let set = options.allow_fallback().user_only_if_refused().ring_pages_within(4..=128).open()?;
//!     let mut recorder = Recorder::new(set, &system)?;
//!     let mut recording = recorder.begin_file(File::create("perf.data")?)?;
//!     let mut child = recorder.spawn(Command::new("sleep").arg("1"))?;
//!     while child.try_wait()?.is_none() {
//!         recorder.wait_and_drain(&mut recording, Duration::from_millis(100))?;
//!     }
//!     let recorded = recorder.finish(recording)?;
//!     println!("{} samples, {}", recorded.inventory.samples, recorded.lost);
//!     let (losses, _) = recorder.close();
//!     println!("{losses}"); // each loss, or that nothing was lost
//!     Ok(())
//! }
//! ```
//!
//! Every program takes the same steps: choose and open the events (crate [`perf_session`], here
//! [`session`]), create a [`Recorder`] from them, begin a [`Recording`], wait and drain, finish.
//! The example `record_command` in the repository is a whole program.
//!
//! | to | use |
//! |---|---|
//! | give events the fields that readers need | [`recorded`]; or [`FIELDS`] and [`NAMING`] in your attrs |
//! | record where threads wait, for profiles of the time off the CPU | [`WaitEvents`] |
//! | record into a file | [`Recorder::begin_file`], [`Recorder::wait_and_drain`], [`Recorder::finish`] |
//! | record into a pipe or a socket | [`Recorder::begin_pipe`] |
//! | compress the records | [`Recorder::begin_with`] a [`Writer::compressed`](file::writer::Writer::compressed) |
//! | know what was lost | [`Recorded::lost`] of a part; [`Recorder::close`] for each loss by CPU or thread and event |
//! | know what the file lacks, and why | [`Recording::missing`] |
//! | continue in another file | [`Recorder::finish`], then [`Recorder::begin_file`]: each record is in exactly one of the files |
//! | keep the last moments, and write them on demand | [`EventSetOptions::overwrite`](session::EventSetOptions::overwrite), [`Recorder::snapshot`] |
//! | open the events of CPUs that came online | [`Recorder::refresh`] |
//! | name BPF programs | [`Recorder::with_bpf_programs`] |
//! | name the program in the file, and add sections | [`Recorder::features_mut`] |
//! | use the records directly, in time order | [`Recorder::synthesize`], [`Recorder::flush_sorted`], [`Recorder::take_lost`] |
//! | let another program enable and disable the events | [`Control`] |
//! | give the functions of Python, Node.js, Java and .NET their names | [`runtime`] |
//! | describe a machine without a recorder | [`synthesize`] |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod control;
mod error;
mod recorded;
mod recorder;
pub mod runtime;
pub mod synthesize;
mod waits;

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
pub use recorded::{FIELDS, NAMING, recorded};
pub use recorder::{Lost, Recorded, Recorder, Recording, Snapshot, WAKEUPS};
pub use waits::{WaitEvents, WakeupEvent};
