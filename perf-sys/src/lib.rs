//! The minimal layer under a Linux tracer: open perf events, control them, map their rings and read the
//! records in place.
//!
//! ```
//! use std::time::Duration;
//!
//! use perf_abi::{Attr, AttrFlags, SampleType, Software};
//! use perf_decode::{Record, SampleLayout};
//! use perf_sys::{Event, Ring, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Where does this thread spend its time? A sample for each millisecond on a CPU.
//! let attr = Attr::software(Software::CPU_CLOCK)
//!     .with_period(1_000_000)
//!     .with_sample_type(SampleType::IP.union(SampleType::TID))
//!     .with_flags(AttrFlags::DISABLED.union(AttrFlags::EXCLUDE_KERNEL));
//! let event = match Event::open(&attr, Target::calling_thread()) {
//!     Ok(event) => event,
//!     Err(refused) => return Ok(println!("{refused}")), // it says why
//! };
//! let mut ring = Ring::map(event, 16)?;
//!
//! ring.event().enable()?;
//! let busy = (0..20_000_000_u64).fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1));
//! ring.event().disable()?;
//!
//! let layout = SampleLayout::new(&attr);
//! ring.wait(Some(Duration::from_millis(1)))?;
//! for record in ring.batch()?.records() {
//!     if let Record::Sample(sample) = record?.decode(&layout)? {
//!         println!("thread {:?} at {:#x?}", sample.tid(), sample.ip());
//!     }
//! }
//! # std::hint::black_box(busy);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | say whom to watch | [`Target`] |
//! | open an event, control and count with it | [`Event`], [`OpenOptions`] |
//! | read, scale and print counts, of one event or of a group | [`Count`], [`Group`], [`GroupCount`], [`Label`] |
//! | read a counter without a system call, convert time stamps | [`UserCounter`], [`TimeConversion`] |
//! | receive its records | [`Ring`], [`Batch`], [`Readiness`] |
//! | wait for many rings, end a wait | [`Wait`], [`Canceller`] |
//! | keep only the last records | [`SnapshotRing`], [`Snapshot`] |
//! | receive a hardware trace | [`AuxArea`], [`AuxSnapshot`] |
//! | learn what went wrong | [`Error`] |
//!
//! What an event counts and what its records hold is said by a [`perf_abi::Attr`]; the records are
//! decoded by [`perf_decode`]. This crate reads no file under `/proc` or `/sys`.
//!
//! # Modules
//!
//! All are private; what they hold is found here, at the root. Those marked * are the only ones with
//! `unsafe`, and each begins by saying why it may.
//!
//! | module | holds |
//! |---|---|
//! | `error`, `errno`, `call`, `hint`, `causes` | errors, and the usual causes of an errno |
//! | `target` | tasks, CPUs and cgroups |
//! | `event` | the owned descriptor, and how to open it |
//! | `syscall`* | `perf_event_open`, `read` |
//! | `attr` | an attr on its way into the kernel |
//! | `ioctl`*, `bpf_ids` | the twelve requests |
//! | `count`, `group`, `group_count`, `measure` | reading counts, and what was read |
//! | `label`, `count_row` | how counts are printed |
//! | `prctl` | every event of a thread at once |
//! | `rdpmc`* | the instructions that read counters and clocks |
//! | `counter_page`, `user_counter`, `time_conversion` | what the control page says of them |
//! | `map`* | mappings, and the reader's side of a ring |
//! | `ring`, `batch` | a mapped ring, and the guard over what lies in it |
//! | `snapshot` | a ring that is overwritten |
//! | `aux` | the AUX area beside a ring |
//! | `wait`, `cancel` | waiting for records, and ending that |

#![deny(unsafe_code)]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("perf-sys shares 64-bit positions with the kernel and needs atomic loads of them");

mod add_error;
mod attr;
mod aux;
mod batch;
mod bpf_ids;
mod call;
mod cancel;
mod causes;
mod count;
mod count_row;
mod counter_page;
mod damage;
mod errno;
mod error;
mod event;
mod group;
mod group_count;
mod hint;
mod ioctl;
mod label;
mod map;
mod map_error;
mod measure;
mod prctl;
mod rdpmc;
mod reader;
mod ring;
mod ring_set;
mod snapshot;
mod syscall;
mod target;
mod time_conversion;
mod user_counter;
mod wait;

pub use add_error::AddError;
pub use aux::{AuxArea, AuxSnapshot};
pub use batch::{Batch, BatchRecords, PeekableRecords};
pub use bpf_ids::BpfIds;
pub use call::Call;
pub use cancel::Canceller;
pub use causes::Causes;
pub use count::Count;
pub use damage::Damage;
pub use errno::Errno;
pub use error::{Error, Result};
pub use event::{Event, OpenOptions};
pub use group::Group;
pub use group_count::GroupCount;
pub use label::Label;
pub use map_error::MapError;
pub use ring::Ring;
pub use ring_set::{Drained, RingSet, SortedRecord};
pub use snapshot::{Snapshot, SnapshotRing};
pub use target::Target;
pub use time_conversion::TimeConversion;
pub use user_counter::UserCounter;
pub use wait::Readiness;

/// The README's code blocks, compiled as tests: this crate knows all that they use.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
