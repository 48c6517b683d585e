//! Rings of Linux perf events as a tracer, profiler or BPF agent reads them: records in place, one
//! wait for many rings, one stream in time order, and counts that scale and print.
//!
//! Which part of a program is hot? Sample the calling thread and count the samples by address:
//!
//! ```
//! use std::cmp::Reverse;
//! use std::collections::HashMap;
//!
//! use perf_ring::{Attr, AttrFlags, Event, Record, Ring, SampleLayout, SampleType, Software, Target};
//!
//! # fn main() -> Result<(), perf_ring::Report> {
//! // A sample of the calling thread for each millisecond on a CPU.
//! let attr = Attr::software(Software::CPU_CLOCK)
//!     .with_period(1_000_000) // ns
//!     .with_sample_type(SampleType::IP)
//!     .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
//! # if Event::open(&attr, Target::calling_thread()).is_err() {
//! #     return Ok(()); // not permitted here
//! # }
//! let event = Event::open(&attr, Target::calling_thread())?;
//! let mut ring = Ring::map_bytes(event, 64 << 10)?;
//!
//! ring.event().enable()?;
//! let mut words: Vec<_> = (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_769).to_string()).collect();
//! words.sort();
//! ring.event().disable()?;
//!
//! let layout = SampleLayout::new(&attr);
//! let mut milliseconds = HashMap::new();
//! for record in ring.batch()?.records() {
//!     match record?.decode(&layout)? {
//!         Record::Sample(sample) => {
//!             if let Some(ip) = sample.ip() {
//!                 *milliseconds.entry(ip).or_insert(0) += 1;
//!             }
//!         }
//!         other => println!("{other}"), // LOST, if the ring was full
//!     }
//! }
//! let mut hottest: Vec<_> = milliseconds.into_iter().collect();
//! hottest.sort_by_key(|&(_, milliseconds)| Reverse(milliseconds));
//! for (ip, milliseconds) in hottest.iter().take(10) {
//!     println!("{milliseconds:4} ms at {ip:#x}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | describe an event | [`Attr`], with the numbers and flags of [`abi`] |
//! | choose tasks, CPUs or a cgroup | [`Target`] |
//! | open an event and control it | [`Event`], [`OpenOptions`] |
//! | open an event on each online CPU | [`on_each_cpu`] |
//! | read, scale and print counts, of one event or of a group | [`Count`], [`Count::measure`], [`Group`], [`GroupCount`] |
//! | read a counter without a system call, convert time stamps | [`RdpmcCounter`], [`TimeConversion`] |
//! | map a ring, also for several events | [`Ring::map`], [`Ring::redirect`], [`Refused`] |
//! | read all unread records | [`Ring::batch`]: a guard that releases the consumed ones |
//! | return each record from a function | [`Ring::next_record`]: the position is in the ring |
//! | free the ring at once | [`Ring::copy_into`] |
//! | decode a record | [`RawRecord::decode`], [`SampleLayout`], the views of [`decode`] |
//! | wait for records, end a wait | [`Ring::wait`], [`WaitResult`], [`Waker`] |
//! | read many rings | [`RingSet`], with keys of your own or [pushed](RingSet::push): [`wait`](RingSet::wait), then [`ready`](RingSet::ready) |
//! | read many rings in time order | [`RingSet::drain_sorted`], [`RingSet::try_drain_sorted`] |
//! | read one ring of a set record by record | [`RingSet::cursor`] |
//! | test a reader without a kernel | `Ring::in_memory`, and `Ring::in_memory_at` for records that wrap, with the feature `testing` |
//! | start and stop all events of many rings | [`RingSet::enable`], [`RingSet::disable`] |
//! | count losses and damage | [`decode::Lost`], [`SkippedBytes`], [`DrainStats`] |
//! | keep only the last records | [`SnapshotRing`], [`Snapshot`] |
//! | read a hardware trace | [`AuxArea`], [`AuxSnapshot`] |
//! | find out why a call failed | [`Error`], [`Error::hint`], [`Error::find`], [`Call`], [`Errno`] |
//! | print an error that `main` returns | [`Report`] |
//! | map a ring and read its words alone | [`sys::DataRing`] |
//! | port a program from another crate | [`coming_from`] |
//!
//! This crate reads no file under `/proc` or `/sys`: it takes the ids of tracepoints and PMUs and
//! the CPUs as numbers. The page [`kernel_errata`] lists faults of real kernels, the behaviour of
//! these crates and their tests.
//!
//! # Borrowed and copied records
//!
//! | way to read | records are |
//! |---|---|
//! | [`Ring::batch`], [`Ring::next_record`], [`RingSet::drain_sorted`] | borrowed from the ring; one that wraps at its end is copied once |
//! | the same, if a software event other than the clocks samples registers into the ring, or an event is [kept on exec](OpenOptions::keep_on_exec) | copied once per look at the ring, and borrowed from the copy |
//! | [`Ring::copy_into`] | copied, and the ring is free at once |
//! | [`SnapshotRing`], [`AuxSnapshot`] | copied while the kernel may write |
//! | [`AuxArea`] | borrowed |
//!
//! No function lends bytes that another process can change: safe code cannot give another process
//! the descriptor of an event ([`sys::BorrowedEvent`]), with which it could map the ring and
//! release the records. This crate has no unsafe code: [`sys`] owns the mappings.
//!
//! # Allocations, and the oldest kernels
//!
//! Once events are open and rings mapped, counting and reading allocate nothing, except to grow a
//! buffer that is then reused. The benches' tests count allocations.
//!
//! | use | allocates | since Linux |
//! |---|---|---|
//! | open an event | for the descriptor and its name | 3.14 (`PERF_FLAG_FD_CLOEXEC`) |
//! | count: [`Count::measure`], [`Group::measure`], [`RdpmcCounter::read`] | nothing after the open | 3.14; lost samples 6.0 |
//! | [`Ring::map`] | a buffer for records that wrap, with the first one | 3.14 |
//! | [`Ring::batch`], [`Ring::next_record`] | to grow that buffer | 3.14 |
//! | [`Ring::copy_into`] | to grow the caller's buffer | 3.14 |
//! | [`Ring::wait`], [`RingSet::wait`] | lists of descriptors, in the first wait | 3.14; hang-up 3.18 |
//! | [`RingSet::drain_sorted`] | queues, in the first rounds | 3.14 |
//! | [`SnapshotRing`] | a copy of the ring, when it is mapped | 4.7 |
//! | [`AuxArea`], [`AuxSnapshot`] | nothing | 4.1 |
//! | [`Event::pause_output`] | nothing | 4.7 |
//! | [`Event::modify_attributes`] | nothing | 4.17 |
//!
//! # One dependency
//!
//! The types of the kernel's interface come from the crate `perf-abi`, here [`abi`]; the system
//! calls from `perf-sys`, here [`sys`]; records are decoded by `perf-decode`, here [`decode`]. The
//! names that most tracers need are also at the root. A function that returns this crate's
//! [`Result`] may use `?` on all of them, and its error has the usual cause:
//!
//! ```
//! use perf_ring::{RawRecord, Record, SampleLayout};
//!
//! fn name(record: RawRecord<'_>, layout: &SampleLayout) -> perf_ring::Result<String> {
//!     Ok(match record.decode(layout)? {
//!         Record::Sample(sample) => sample.to_string(),
//!         Record::Lost(lost) => format!("{} records lost", lost.lost()),
//!         other => other.kind().to_string(),
//!     })
//! }
//! ```
//!
//! The decoder and this crate may be imported by a glob, if the two errors are named with their
//! crates:
//!
//! ```
//! use perf_ring::decode::*;
//! use perf_ring::*;
//!
//! fn ip(sample: &Sample<'_>) -> Option<u64> {
//!     sample.ip()
//! }
//! # fn errors(_: perf_ring::Error, _: perf_ring::decode::Error, _: perf_ring::Result<Event>) {}
//! ```
//!
//! # Until Ctrl-C
//!
//! A tracer of all CPUs that prints each started program in time order, and the losses at the end.
//! A signal handler, here from the crate `signal-hook`, uses a [`Waker`], which ends the wait:
//!
//! ```no_run
//! use std::thread;
//!
//! use perf_ring::{
//!     Attr, AttrFlags, Event, Record, Ring, RingSet, SampleType, Software, SortedRecord, Target, WaitResult,
//!     Waker, on_each_cpu,
//! };
//! use signal_hook::consts::SIGINT;
//! use signal_hook::iterator::Signals;
//!
//! /// Counts nothing, and records each change of a program's name.
//! const ATTR: Attr = Attr::software(Software::DUMMY)
//!     .with_sample_type(SampleType::TID.union(SampleType::TIME))
//!     .with_flags(AttrFlags::COMM.union(AttrFlags::COMM_EXEC).union(AttrFlags::SAMPLE_ID_ALL))
//!     .with_wakeup_watermark(1); // bytes: each record ends the wait
//!
//! /// Prints a record, and returns how many the kernel has dropped before it.
//! fn print(record: &SortedRecord<'_, u32>) -> u64 {
//!     match record.decode() {
//!         Ok(Record::Comm(comm)) if comm.exec() => {
//!             println!("{} ns, CPU {}: {comm}", record.time(), record.key());
//!         }
//!         Ok(Record::Lost(lost)) => return lost.lost(),
//!         Ok(_) => {}
//!         Err(error) => eprintln!("{error}"),
//!     }
//!     0
//! }
//!
//! fn open(cpu: u32) -> perf_ring::Result<Ring> {
//!     Ok(Ring::map_bytes(Event::open(&ATTR, Target::cpu(cpu))?, 64 << 10)?)
//! }
//!
//! fn main() -> Result<(), perf_ring::Report> {
//!     let mut set = RingSet::new()?;
//!     for (cpu, ring) in on_each_cpu(open)? {
//!         set.add(cpu, ring)?;
//!     }
//!     let waker = Waker::new()?;
//!     let (mut signals, interrupt) = (Signals::new([SIGINT])?, waker.clone());
//!     thread::spawn(move || signals.forever().next().map(|_| interrupt.wake()));
//!
//!     let mut lost = 0;
//!     while matches!(set.wait_or_woken(None, &waker)?, WaitResult::Readable) {
//!         set.drain_sorted(|record| lost += print(&record))?;
//!     }
//!     set.disable()?;
//!     set.flush_sorted(|record| lost += print(&record))?;
//!     println!("{lost} records lost");
//!     Ok(())
//! }
//! ```
//!
//! # Errors in a callback
//!
//! A callback cannot use `?`. [`RingSet::try_drain_sorted`] carries its error out as the value of
//! [`ControlFlow::Break`](core::ops::ControlFlow::Break); the records after it stay in their rings:
//!
//! ```no_run
//! use std::ops::ControlFlow;
//!
//! use perf_ring::{RingSet, SortedRecord, decode};
//!
//! fn print(record: &SortedRecord<'_, u32>) -> Result<(), decode::Error> {
//!     println!("{}: {}", record.key(), record.decode()?);
//!     Ok(())
//! }
//!
//! fn read_all(mut set: RingSet<u32>) -> Result<(), Box<dyn std::error::Error>> {
//!     while !set.wait(None)?.is_final() {
//!         let (_, flow) = set.try_drain_sorted(|record| match print(&record) {
//!             Ok(()) => ControlFlow::Continue(()),
//!             Err(error) => ControlFlow::Break(error),
//!         })?;
//!         if let ControlFlow::Break(error) = flow {
//!             return Err(error.into());
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Examples
//!
//! The package has complete programs in `examples/`: `cursor`, `flight_recorder`, `stat`,
//! `system_wide`, `threads`, `tokio` and `soak`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod coming_from;
#[doc = include_str!("../docs/kernel-errata.md")]
pub mod kernel_errata {}
mod count;
mod cpus;
mod error;
mod hint;
mod ring;
mod set;

/// The kernel's structs, flags and numbers: the crate `perf-abi`.
#[doc(no_inline)]
pub use perf_abi as abi;
/// Views of records: the crate `perf-decode`.
#[doc(no_inline)]
pub use perf_decode as decode;
/// The system calls and mappings: the crate `perf-sys`.
#[doc(no_inline)]
pub use perf_sys as sys;

#[doc(no_inline)]
pub use perf_abi::{
    Attr, AttrFlags, BranchSampleType, BreakpointLen, BreakpointType, Cache, CacheEvent, CacheOp,
    CacheResult, CallchainContext, Clock, EventType, Hardware, IocFlags, Misc, MmapCapabilities, OpenFlags,
    ReadFormat, RecordType, SampleType, Sampling, Skid, Software, StackSize,
};
#[doc(no_inline)]
pub use perf_decode::{
    Aux, BackwardRecords, Callchain, ConstantLayout, Frame, Layout, Layouts, Lost, RawRecord, ReadEntry,
    ReadValues, Record, Sample, SampleHead, SampleId, SampleLayout, Scaled, Window,
};
#[doc(no_inline)]
pub use perf_sys::{BpfIds, Call, Errno, Event, OpenOptions, Target, TimeConversion};

pub use count::{Count, Group, GroupCount, RdpmcCounter, read_values};
pub use cpus::on_each_cpu;
pub use error::{Error, Refused, Report, Result};
// For perf-bpf, which waits for its rings in the same way.
#[doc(hidden)]
pub use ring::poll_readable;
pub use ring::{
    AuxArea, AuxSnapshot, Batch, BatchRecords, Ring, SkippedBytes, Snapshot, SnapshotRing, WaitResult, Waker,
};
pub use set::{DrainStats, RingCursor, RingSet, SortedRecord};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
#[path = "../tests/support/watchdog.rs"]
mod watchdog;
