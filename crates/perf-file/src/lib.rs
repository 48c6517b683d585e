//! Reads and writes `perf.data`, the file format of the perf tool.
//!
//! ```
//! use perf_file::Reader;
//!
//! fn print(path: &str) -> perf_file::Result<()> {
//!     let mut reader = Reader::open(path)?.sorted();
//!     while let Some(record) = reader.next()? {
//!         if record.kernel().is_some() {
//!             println!("{}", record.decode()?); // a view of perf-decode
//!         } else {
//!             println!("{:?}", record.user()?);
//!         }
//!     }
//!     Ok(())
//! }
//! # assert!(print("/nowhere").is_err());
//! ```
//!
//! | to | use |
//! |---|---|
//! | read all records of a file, a directory, a pipe or a mapped file | [`Reader`] |
//! | read them in time order | [`Reader::sorted`] |
//! | find the event of a record, and decode it | [`FileRecord::event`], [`FileRecord::decode`] |
//! | read the records that tools write in their own form | [`FileRecord::user`], [`UserRecord`] |
//! | read facts about the machine and the recording | [`Reader::hostname`] and others, [`Reader::feature`], [`FeatureData`] |
//! | know the events and features of a pipe before its records | [`Reader::read_metadata`] |
//! | know whether the file was truncated, verify all features | [`Reader::is_truncated`], [`Reader::verify_features`] |
//! | view a file in memory without std and without allocations | [`PerfData`], [`RawFileRecord`] |
//! | swap a record of the other byte order | [`swap`] |
//! | find numbers and layouts of the format | [`format`](mod@format) |
//! | write files and pipes | [`writer`] |
//! | port a program from another crate | [`coming_from`] |
//!
//! Bytes are not trusted: a malformed or truncated file yields its complete records, then an
//! [`Error`] with an offset and a reason. A file whose header or attrs contradict themselves is not
//! opened. A length in a file never makes the reader allocate more than there are bytes, and
//! neither do sparse files: [`FileEvents::MAX`], [`FileEvents::MAX_IDS`] and
//! [`FeatureBuf::MAX_LEN`] are limits, and AUX data is skipped unless it is requested. A zstd
//! stream needs its window, 0.5 MiB at the perf tool's default level and at most 128 MiB, and up to
//! 9 MiB more.
//!
//! The crate works on any operating system, and opens no file but the recording. The crate
//! `perf-record` describes the machine and its tasks before a recording.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "std"))]
extern crate std;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The kernel's structs, flags and numbers: the crate `perf-abi`.
#[doc(no_inline)]
pub use perf_abi as abi;
/// Views of records: the crate `perf-decode`.
#[doc(no_inline)]
pub use perf_decode as decode;
/// The payloads of tracepoints: the crate `perf-tracepoint`.
#[doc(no_inline)]
pub use perf_tracepoint as tracepoint;

#[doc(no_inline)]
pub use perf_abi::{Attr, AttrFlags, EventType, Misc, RecordType, SampleType};
#[doc(no_inline)]
pub use perf_decode::{Callchain, RawRecord, Record, Sample, SampleHead, SampleId, SampleLayout};

mod attr;
mod bytes;
#[cfg(feature = "std")]
pub mod coming_from;
#[cfg(any(test, feature = "std"))]
mod encoder;
mod error;
pub mod feature;
mod file;
pub mod format;
mod frame;
mod header;
mod list;
mod order;
#[cfg(feature = "std")]
mod read;
pub mod record;
#[cfg(feature = "std")]
mod std_error;
pub mod swap;
#[cfg(feature = "std")]
pub mod writer;

pub use attr::{FileAttr, attr_from_bytes};
pub use error::{Error, Malformed, Reason, Result};
pub use feature::{FeatureData, FeatureSection};
pub use file::PerfData;
pub use frame::RawFileRecord;
pub use header::{FileHeader, FileMode};
pub use list::{List, ListEntry, ListIter};
pub use order::ByteOrder;
#[cfg(feature = "std")]
pub use read::{FeatureBuf, FileEvent, FileEvents, FileOffset, FileRecord, Memory, Reader, Source, Stream};
pub use record::UserRecord;
