//! The kernel's calls for perf events, thin on `rustix`: descriptors, ioctls, counts as words, and
//! mapped rings with their atomics.
//!
//! It needs no std, decodes nothing and reads no file under `/proc` or `/sys`. A tracer wants the
//! crate `perf-ring`, which has batches of records, waits, sets of rings and counts that print, and
//! re-exports this one.
//!
//! Read the words that the kernel wrote into a ring, and the count of the event:
//!
//! ```
//! use std::sync::Arc;
//!
//! use perf_abi::{Attr, AttrFlags, SampleType, Software};
//! use perf_sys::{DataRing, Event, Target};
//!
//! # fn main() -> perf_sys::Result<()> {
//! let attr = Attr::software(Software::CPU_CLOCK)
//!     .with_period(1_000_000) // ns
//!     .with_sample_type(SampleType::IP)
//!     .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
//! # if Event::open(&attr, Target::calling_thread()).is_err() {
//! #     return Ok(()); // not permitted here
//! # }
//! let event = Arc::new(Event::open(&attr, Target::calling_thread())?);
//! let mut ring = DataRing::map(&event, 8)?; // pages
//!
//! event.enable()?;
//! let sum = (0..10_000_000_u64).fold(0, |sum, n| sum ^ n.wrapping_mul(n));
//! event.disable()?;
//!
//! let head = ring.refresh()?;
//! let (first, wrapped) = ring.unread_from(ring.tail());
//! // Each sample has two words: the header and the address.
//! for address in first.iter().chain(wrapped).skip(1).step_by(2) {
//!     println!("{address:#x}");
//! }
//! ring.release(head);
//!
//! let mut count = [0]; // the words of the attr's read format
//! event.read_raw(&mut count)?;
//! println!("{} ns on a CPU, {sum}", count[0]);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | choose tasks, CPUs or a cgroup | [`Target`] |
//! | open an event and control it | [`Event`], [`OpenOptions`] |
//! | read counts as words | [`Event::read_raw`] |
//! | wait for events | [`poll`], [`BorrowedEvent::add_to_epoll`] |
//! | read a counter without a system call, convert time stamps | [`CounterPage`], [`TimeConversion`] |
//! | map a ring whose unread records the kernel keeps | [`DataRing`] |
//! | map a ring that the kernel overwrites | [`OverwrittenRing`] |
//! | map the area of a hardware trace | [`AuxRing`], [`OverwrittenAux`] |
//! | find out which call failed | [`Error`], [`Call`], [`Errno`] |
//!
//! # Borrowed and copied memory
//!
//! | memory | is |
//! |---|---|
//! | unread words of a [`DataRing`] | borrowed: the kernel writes elsewhere until they are released |
//! | the same, if an event writes there that [may overwrite records](Event::may_overwrite_records), or the event is [kept on exec](OpenOptions::keep_on_exec) | copied, each word by one atomic load |
//! | an [`OverwrittenRing`], an [`OverwrittenAux`] | copied, each word or byte by one atomic load |
//! | unread bytes of an [`AuxRing`] | borrowed: the hardware writes elsewhere until they are released |
//! | positions and clocks of a control page | atomics |
//!
//! No safe function lends bytes that another process can change: safe code cannot hand the
//! descriptor of an [`Event`] to another process, which could map the ring and release its records.
//! As for all memory, a debugger is not considered, and `pidfd_getfd(2)`, which needs its
//! permissions.
//!
//! # Features
//!
//! - `std`: conversions into `std::io::Error`, the C library's texts of errnos, and descriptors
//!   that are std's. Without it, descriptors are the types of `rustix`.
//! - `testing`: [`testing`], rings that no kernel writes.
//!
//! An allocator is needed, because a mapping shares its event and its control page (`Arc`): the
//! event outlives the mapping, so that one ring never has two readers.

#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("perf-sys shares 64-bit positions with the kernel and needs atomic loads of them");

mod count;
mod error;
mod event;
mod map;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

/// The kernel's structs, flags and numbers: the crate `perf-abi`.
#[doc(no_inline)]
pub use perf_abi as abi;

pub use count::{CounterPage, PageCount, TimeConversion};
pub use error::{Call, Errno, Error, Result};
pub use event::{BorrowedEvent, BpfIds, Event, OpenOptions, Polled, Target, poll};
pub use map::{AuxRing, DataRing, Generation, OverwrittenAux, OverwrittenRing, page_size};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
#[path = "../tests/support/child.rs"]
mod child;
