//! Decoder for the records that the Linux kernel writes into perf rings and `perf.data` files.
//!
//! A decoded record is a validated view of 8-byte words that stay in the ring. Only a record that
//! wraps at the end of the ring is copied, nothing is allocated, and a field is read when its
//! accessor is called. Bytes are not trusted. Decoding takes time linear in their number, never
//! panics, and returns a record or an [`Error`] with the expected and the found value. Unknown
//! kinds, bits and numbers are kept and printed.
//!
//! ```
//! use perf_abi::{Attr, AttrFlags, SampleType, Software};
//! use perf_decode::{Record, SampleLayout, Scratch, Window};
//! # use perf_decode::testing::builder::{SampleBuilder, ring};
//!
//! let attr = Attr::software(Software::CPU_CLOCK)
//!     .with_sample_type(SampleType::IP | SampleType::TID | SampleType::TIME)
//!     .with_flags(AttrFlags::SAMPLE_ID_ALL);
//! # let sample = SampleBuilder::new(&attr).ip(0x401000).tid(7, 8).time(99).finish();
//! # let (data, tail, head) = ring(&[sample], 512, 0);
//!
//! // `data` is a ring's data area, `tail` and `head` its two positions.
//! let layout = SampleLayout::new(&attr);
//! let mut scratch = Scratch::new(); // 64 KiB: once for many windows
//! for record in Window::new(&data, tail, head)?.records(&mut scratch) {
//!     match record?.decode(&layout)? {
//!         Record::Sample(sample) => {
//!             if let (Some(tid), Some(ip)) = (sample.tid(), sample.ip()) {
//!                 println!("thread {tid} at {ip:#x}");
//!             }
//!         }
//!         Record::Lost(lost) => println!("{} records lost", lost.lost()),
//!         other => println!("{other}"),
//!     }
//! }
//! # Ok::<(), perf_decode::Error>(())
//! ```
//!
//! | step | type |
//! |---|---|
//! | frame the unread part of a ring | [`Window`], [`Records`] |
//! | frame an overwritten ring, newest record first | [`BackwardRecords`] |
//! | hold a framed record, not decoded yet | [`RawRecord`] |
//! | compute the layout of an event's records from its attr | [`SampleLayout`] |
//! | find the event of a record in a ring that several events share | [`Layouts`] |
//! | decode a record | [`RawRecord::decode`], [`Record`]: one view per kind |
//! | read a sample, or only its fixed fields | [`Sample`], [`SampleHead`] |
//! | read the trailer of a side-band record: event, time, task, CPU | [`SampleId`] |
//! | read all fields by name | [`Record::fields`], [`Field`], [`Value`] |
//! | print a field in another form | [`Record::display_with`] |
//! | order the records of several rings or files by time | [`Heads`] |
//! | add the user callchains that arrive after their samples | [`DeferredCallchains`] |
//!
//! # Constant layouts
//!
//! Views have a type parameter for their layout, by default `&SampleLayout`. A layout that is known
//! at compile time is a type that implements [`ConstantLayout`]. The compiler then removes the
//! tests of fields that the event does not record:
//!
//! ```
//! use perf_abi::{Attr, SampleType, Software};
//! use perf_decode::{ConstantLayout, Error, RawRecord, Record, SampleLayout};
//! # use perf_decode::testing::builder::SampleBuilder;
//!
//! const ATTR: Attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP);
//!
//! #[derive(Clone, Copy)]
//! struct CpuClock;
//!
//! impl ConstantLayout for CpuClock {
//!     const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
//! }
//!
//! fn ip(record: RawRecord<'_>) -> Result<Option<u64>, Error> {
//!     match record.decode(CpuClock)? {
//!         Record::Sample(sample) => Ok(sample.ip()),
//!         _ => Ok(None),
//!     }
//! }
//! # let words = SampleBuilder::new(&ATTR).ip(7).finish();
//! # assert_eq!(ip(RawRecord::from_words(&words)?)?, Some(7));
//! # Ok::<(), Error>(())
//! ```
//!
//! [`SampleLayout::specialize`] runs generic code with a constant layout for the attrs of common
//! tools.
//!
//! # Names
//!
//! Views have the names of the kernel's records: [`Read`], [`Fork`], [`Exit`], [`Switch`],
//! [`Lost`]. If a program imports these names from elsewhere, such as `std::io::Read`, it names the
//! module instead: `use perf_decode as decode`, then `decode::Read`. A glob import gives way to any
//! name that is imported or defined explicitly. [`Field`] and [`Value`] are a name and a value of
//! [`Record::fields`]. The crate `perf-tracepoint` has the fields and values of tracepoint
//! payloads.
//!
//! # Byte order
//!
//! Data is in this machine's byte order, as in the kernel's rings. Swap a file from a machine of
//! the other byte order before decoding it.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "testing"))]
extern crate alloc;
#[cfg(test)]
extern crate std;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod backward;
mod deferred;
mod display;
mod entries;
mod error;
mod field;
mod field_order;
mod fixed;
mod guess;
mod layout;
mod layouts;
mod lost_counts;
mod number;
mod order;
mod raw;
mod read;
mod read_layout;
mod record;
mod records;
mod sample;
mod sample_id;
mod scaled;
// For perf-file, which swaps the byte order of records by these tables, and for perfkit, which
// documents its JSON by them. They follow the kernel and the needs of both, so they are not stable:
// programs use `Record::fields` and `Sample::fields`.
#[doc(hidden)]
pub mod schema;
mod scratch;
#[cfg(feature = "serde")]
mod serialize;
mod specialize;
#[cfg(feature = "testing")]
pub mod testing;
mod window;
mod word;
mod word_index;

pub use backward::BackwardRecords;
pub use deferred::{CompletedSample, DeferredCallchains, DeferredSlot};
pub use display::{RecordDisplay, breaks_line};
pub use entries::{Entries, EntriesIter};
pub use error::{Error, Result};
pub use field::{Field, Value};
pub use layout::{ConstantLayout, Layout, SampleLayout};
pub use layouts::Layouts;
pub use lost_counts::LostCounts;
pub use order::{Head, Heads};
pub use raw::RawRecord;
pub use read::{ReadEntries, ReadEntry, ReadValues};
pub use record::*;
pub use records::Records;
pub use sample::{Branches, Callchain, Frame, Frames, Regs, Sample, SampleFields, SampleHead, UserStack};
pub use sample_id::SampleId;
pub use scaled::Scaled;
pub use scratch::Scratch;
pub use specialize::LayoutVisitor;
pub use window::Window;
pub use word::{bytes_from_words, words_from_bytes};

// Records are stored, returned and passed to functions that are not inlined, so their size affects
// speed.
const _: () = {
    assert!(size_of::<RawRecord<'_>>() <= 24);
    assert!(size_of::<Record<'_>>() <= 40);
    assert!(size_of::<Error>() <= 32);
    assert!(size_of::<Sample<'_>>() <= 32);
    assert!(size_of::<SampleHead<'_>>() <= 24);
    assert!(size_of::<SampleId<'_>>() <= 24);
    assert!(size_of::<ReadValues<'_>>() <= 32);
    assert!(size_of::<Branches<'_>>() <= 32);
    assert!(size_of::<Regs<'_>>() <= 32);
    assert!(size_of::<UserStack<'_>>() <= 32);
    assert!(size_of::<Callchain<'_>>() <= 32);
};
