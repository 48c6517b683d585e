//! Decoder for the records that the Linux kernel writes into perf rings and `perf.data` files.
//!
//! No copy, no allocation, no `unsafe`, no panic: a record is a slice of 8-byte words in the ring, and
//! what is decoded borrows from it. Bytes are not trusted: whatever they are, the answer is a record or
//! an [`Error`] that says what was wrong, in time linear in their number.
//!
//! ```
//! use perf_abi::{Attr, AttrFlags, RecordType, SampleType, Software};
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
//! let mut scratch = Scratch::new();
//! for record in Window::new(&data, tail, head)?.records(&mut scratch) {
//!     match record?.decode(&layout)? {
//!         Record::Sample(sample) => println!("{:#x?} in thread {:?}", sample.ip(), sample.tid()),
//!         Record::Lost(lost) => println!("{} records lost", lost.lost()),
//!         other => println!("{other}"),
//!     }
//! }
//! # Ok::<(), perf_decode::Error>(())
//! ```
//!
//! | step | type |
//! |---|---|
//! | the readable part of a ring, as one or two slices | [`Window`] |
//! | its records, framed and not decoded | [`Records`], [`RawRecord`] |
//! | where an event's fields lie, from its attr | [`SampleLayout`], [`Layouts`] for shared rings |
//! | a decoded record | [`Record`], one struct per kind |
//! | a sample, checked once, read on demand | [`Sample`], or [`SampleHead`] for its fixed fields |
//! | who wrote any other record, and when | [`SampleId`] |
//!
//! Data is of this machine's byte order. The kernel's own ring always is; a file from another machine
//! must be swapped before.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "testing"))]
extern crate std;

mod backward;
mod deferred;
mod display;
mod error;
mod field;
mod field_order;
mod fixed;
mod guess;
mod layout;
mod layouts;
mod merge;
mod raw;
mod read;
mod read_layout;
mod record;
mod records;
mod sample;
mod sample_id;
mod scratch;
mod specialize;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tracepoint;
mod window;
mod word;
mod word_index;

pub use backward::BackwardRecords;
pub use deferred::{CompletedSample, DeferredCallchains, DeferredSlot};
pub use display::RecordDisplay;
pub use error::{Error, Result};
pub use field::{Field, Value};
pub use layout::{Layout, SampleLayout};
pub use layouts::Layouts;
pub use merge::{Buffered, Merge, Source};
pub use raw::RawRecord;
pub use read::{ReadEntries, ReadEntry, ReadValues, Scaled};
pub use record::*;
pub use records::Records;
pub use sample::{Branches, Callchain, Frame, Frames, Regs, Sample, SampleFields, SampleHead, UserStack};
pub use sample_id::SampleId;
pub use scratch::Scratch;
pub use specialize::LayoutVisitor;
pub use window::Window;
pub use word::{bytes_from_words, words_from_bytes};

// Records are stored, returned and passed to functions that are not inlined: their size is part of
// their speed.
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
