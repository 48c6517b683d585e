//! Attaches BPF programs to perf events, reads their output and uses their maps: what a tracer
//! needs in addition to a loader. Load programs with aya, libbpf-rs or another loader, and pass
//! their descriptors to this crate.
//!
//! ```
//! use std::time::Duration;
//!
//! use perf_bpf::{BpfMapType, EventArray, Map, MapSpec, PerfBufferRecord, PerfBufferOptions};
//!
//! # fn main() -> Result<(), perf_bpf::Error> {
//! // A count for each process, and an array through which a program writes events.
//! let spec = MapSpec::new(BpfMapType::HASH, 1024).with_name("counts".parse()?);
//! # let open = || PerfBufferOptions::new().open(EventArray::create("events".parse()?)?).map_err(perf_bpf::Error::from);
//! # if open().is_err() {
//! #     return Ok(()); // not permitted here
//! # }
//! let counts = Map::<u32, u64>::create(spec)?; // an error names the missing capability
//! let array = EventArray::create("events".parse()?)?;
//! // Here a loader loads and attaches a program that uses both, by their descriptors.
//!
//! let mut buffer = PerfBufferOptions::new().open(array)?;
//! buffer.wait(Some(Duration::from_millis(1)))?;
//! buffer.read(|cpu, output| match output {
//!     PerfBufferRecord::Sample(sample) => println!("CPU {cpu}: {:x?}", sample.bytes()),
//!     PerfBufferRecord::Lost(records) => println!("CPU {cpu}: {records} records lost"),
//!     PerfBufferRecord::Other(record) => println!("CPU {cpu}: {:?}", record.kind()),
//! })?;
//!
//! counts.update(&std::process::id(), &1)?;
//! let stats = counts.dump_reliably(|process, count| println!("{process}: {count}"))?;
//! assert!(stats.complete);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | attach a program to an event | [`Attachment`], [`Link`] with a cookie |
//! | open an event on each CPU and attach a program to all | [`AttachedSet`] |
//! | read what programs write to a perf event array | [`PerfBufferOptions`], [`PerfBuffer`]; [`EventArray`] alone for counters in slots |
//! | read what programs write to a ring buffer map | [`RingBuf`] |
//! | use a map with types | [`Map`], [`PerCpu`] values, [`MapSpec`] for a new map |
//! | put maps and programs into a map | [`MapRef`], [`ProgramRef`] |
//! | use a map of any type by its bytes | [`MapFd`] |
//! | dump a map that others change | [`Map::dump_reliably`], [`DumpStats`] |
//! | access many elements at once | [`Map::lookup_batch`], [`Map::update_batch`], [`Map::delete_batch`] |
//! | share a map by a path | [`PinnedMap`], [`IfDifferent`], [`ParallelMap`], [`BpfFs`] |
//! | keep what could not be written | [`CachedMap`] |
//! | list what there is on the system | [`Ids`], [`MapFd::info`], [`ProgramFd::info`], [`ProcessMapInfo`], [`TaskFd`] |
//! | measure programs | [`RunStats`], [`ProgramInfo`] |
//! | ask what the kernel supports | [`Features`] |
//! | port a program from another library | [`coming_from`] |
//!
//! # Permissions
//!
//! Maps need `CAP_BPF`, programs for tracing also `CAP_PERFMON`, ids `CAP_SYS_ADMIN`; before Linux
//! 5.8 all need `CAP_SYS_ADMIN`. The error of a missing permission has the capabilities of the
//! thread ([`BpfPrivileges`]).

#![deny(unsafe_code)]

mod array;
mod attached_set;
mod bpf_fs;
mod cached;
pub mod coming_from;
mod error;
mod features;
mod link;
mod map;
mod map_fd;
mod map_spec;
mod object;
mod perf_buffer;
mod pin;
mod pinned;
mod privileges;
mod process_map;
mod program;
mod ringbuf;
mod syscall;

/// The system calls and rings: the crate `perf-ring`.
#[doc(no_inline)]
pub use perf_ring as ring;
#[doc(no_inline)]
pub use perf_ring::Report;
/// The events, CPU lists and sets: the crate `perf-session`.
#[doc(no_inline)]
pub use perf_session as events;

/// The traits in the bounds of [`Key`] and [`Value`]: the crate `zerocopy`, version 0.8.
#[doc(no_inline)]
pub use zerocopy;

#[doc(no_inline)]
pub use perf_ring::abi::bpf::{BpfCmd, BpfElemFlags, BpfInsn, BpfMapFlags, BpfMapType, BpfProgType};

pub use array::EventArray;
pub use attached_set::AttachedSet;
pub use bpf_fs::BpfFs;
pub use cached::{CacheEntry, CachedMap, DesiredAction};
pub use error::{Error, Refused, Result};
pub use features::Features;
pub use link::{Attachment, Link};
pub use map::{
    BatchCursor, BatchError, DumpStats, Iter, Key, Keys, Map, MapRef, ObjectRef, PerCpu, ProgramRef, Value,
};
pub use map_spec::{Difference, MapInfo, MapProperty, MapSpec};
pub use object::{Ids, ObjectKind, ObjectName};
pub use perf_buffer::{
    PerfBuffer, PerfBufferBatch, PerfBufferCounts, PerfBufferOptions, PerfBufferRecord, PerfBufferRecords,
    PerfBufferSample, RefreshedRings,
};
pub use pin::unpin;
pub use pinned::{IfDifferent, MoveStats, ParallelMap, PinOutcome, PinnedMap};
pub use privileges::BpfPrivileges;
pub use process_map::ProcessMapInfo;
pub use program::{ProgramFd, ProgramFunction, ProgramInfo, RunStats, TaskFd};
pub use ringbuf::{BorrowedRingBufRecords, RingBuf, RingBufBatch, RingBufRecords};
pub use syscall::MapFd;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
