//! Reads and writes `perf.data`, the file format of the perf tool.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "std"))]
extern crate std;

mod attr;
mod bytes;
mod error;
pub mod feature;
mod file;
pub mod format;
mod frame;
mod head;
mod list;
mod order;
#[cfg(test)]
mod put;
#[cfg(feature = "std")]
mod read;
pub mod record;
pub mod swap;
#[cfg(feature = "std")]
pub mod synthesize;
#[cfg(feature = "std")]
pub mod writer;

pub use attr::{FileAttr, attr_from_bytes};
pub use error::{Error, Malformed, Reason, Result};
pub use feature::{FeatureData, FeatureSection};
pub use file::{Attrs, Features, Frames, PerfData};
pub use frame::Frame;
pub use head::{Form, Head};
pub use list::{Entries, Entry, List};
pub use order::ByteOrder;
#[cfg(feature = "std")]
pub use read::{
    Directory, Event, Events, FileRecord, Memory, Place, Reader, Sorted, SortedDirectory, Source, Stream,
};
pub use record::ToolRecord;
