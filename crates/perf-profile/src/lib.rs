//! Profiles of perf samples: stacks with names and values.
//!
//! [`Collector`] turns the records of a ring or of a `perf.data` file into a [`Profile`], with the
//! stacks and names that `perf-symbols` finds. A program with another source of samples uses
//! [`ProfileBuilder`].
//!
//! ```
//! use perf_abi::{Attr, Software};
//! use perf_profile::{Event, Locations, ProfileBuilder};
//!
//! let mut locations = Locations::new();
//! let address = locations.add(None, 0x1234);
//! let mut builder = ProfileBuilder::new();
//! let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
//! let thread = builder.thread(7, 7, locations.intern("sort"));
//! let stack = builder.stack(&[address]);
//! builder.sample(event, thread, stack, 1_000_000);
//! let profile = builder.finish(locations);
//! assert_eq!(profile.total(event), 1_000_000);
//! ```
//!
//! The profile of a file:
//!
#![cfg_attr(feature = "perf-data", doc = "```no_run")]
#![cfg_attr(not(feature = "perf-data"), doc = "```ignore")]
//! use perf_profile::read::ProfileReader;
//! use perf_profile::{Column, Order, Table};
//!
//! fn main() -> std::io::Result<()> {
//!     let read = ProfileReader::open("perf.data")?.read()?;
//!     for (event, about) in read.profile.event_ids() {
//!         println!("{}:", about.name);
//!         let table = Table::new(&read.profile, &[Column::Function]).sorted(event, Order::BySelf);
//!         for row in &table.rows {
//!             println!("{:>12} {}", row.cost(event).self_value, row.entry);
//!         }
//!     }
//!     read.finish()
//! }
//! ```
//!
//! | to | use |
//! |---|---|
//! | make a profile of a `perf.data` file | `read::ProfileReader` |
//! | make a profile of records | [`Collector`] |
//! | find the locations and names of samples one by one, for a text or a live view | [`Resolver`] |
//! | collect the records of several events, also of such groups | [`EventCollector`] |
//! | count what the members of a group did between the samples of their leader (`{a,b}:S`) | [`LeaderSampling`] |
//! | find how long threads wait, and who wakes them | [`Waits`], [`Collector::add_wait`] |
//! | see the whole time of threads: on a CPU, ready and waiting | [`ThreadSpans`], [`WallTime`] |
//! | sum up how long threads wait for a CPU, as `perf sched latency` | [`SchedSummary`] |
//! | sum up how long threads wait for locks, as `perf lock contention` | [`Locks`] |
//! | make a profile of each interval while records come | [`Collector::take`] |
//! | see what runs now: the last intervals, of which older ones count less | [`LiveProfile`] |
//! | make a profile of something else | [`ProfileBuilder`], [`Locations`] |
//! | sum up the values of each function, object, thread or line | [`Table`] |
//! | the same of a long recording, without keeping its stacks | [`Collector::with_table`] |
//! | see callers and callees with their values | [`CallTree`] |
//! | compare profiles, with the noise of each change | [`Diff`] |
//! | see the samples of a function by the address of their instruction | [`SampledFunction`] |
//! | see its instructions and lines, too (feature `disassembly`) | `Annotation` |
//! | print paths as short as they differ | [`ShortPaths`] |
//! | write folded stacks, for flame graphs | [`Folded`] |
//! | write JSON lines, for DuckDB and scripts | `JsonLines` |
//! | write a file for the Firefox Profiler | `Firefox` |
//! | write trace events, for Perfetto and others | `Chrome` |
//! | write a file for `go tool pprof` and others | `Pprof` |
//! | know what is missing | [`Profile::losses`] |
//!
//! | feature | formats | crates in all, with perf-symbols |
//! |---|---|---|
//! | none | [`Folded`] | 28 |
//! | `json` | `JsonLines`, `Firefox`, `Chrome` | 32 |
//! | `pprof` | `Pprof` | 38 |
//! | `perf-data` | none: the module `read` | 42 |
//! | `disassembly` | none: `Annotation` | 38 |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(feature = "disassembly")]
mod annotate;
mod collect;
mod forest;
mod format;
#[cfg(test)]
mod large_values;
mod live;
mod locks;
mod profile;
#[cfg(feature = "perf-data")]
pub mod read;
mod sched;
mod view;

#[cfg(feature = "disassembly")]
pub use annotate::{AnnotatedInstruction, Annotation, AnnotationError};
pub use collect::{
    Collector, EventCollector, Gaps, LeaderSampling, MemberCount, OffCpuEvents, PendingProfile, Resolved,
    Resolver, Span, SpanKind, Split, SwitchEvent, ThreadSpans, Wait, WaitReason, Waits, Waker, Wakeup,
    WallTime, wait_kind,
};
pub use format::Folded;
#[cfg(feature = "pprof")]
pub use format::Pprof;
#[cfg(feature = "json")]
pub use format::{Arguments, Chrome, Firefox, JsonLines};
pub use live::LiveProfile;
pub use locks::{ContentionFlags, LockEvent, LockId, LockWaits, Locks};
#[cfg(feature = "disassembly")]
pub use perf_symbols::Syntax;
pub use profile::{
    Event, EventId, Frame, Function, FunctionId, Location, LocationId, Locations, Losses, Object, ObjectId,
    Profile, ProfileBuilder, Reasons, Sample, StackId, StringId, Thread, ThreadId, UNKNOWN, Unit,
};
pub use sched::{Durations, SchedCpu, SchedEvent, SchedSummary, SchedThread, ThreadState};
pub use view::{
    AddressSamples, CallTree, Change, Column, Cost, Diff, Direction, Entry, Estimate, Node, Order, Row,
    SampledFunction, Scale, ShortPaths, Table, TableSums,
};
