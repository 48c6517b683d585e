//! Tools for testing decoders: records written by hand and a second, naive decoder to compare with.
//!
//! [`builder`] writes records as the kernel does, for any [`Attr`](perf_abi::Attr), and puts them
//! into an in-memory ring. [`reference`](mod@reference) decodes a record field after field into a
//! plain tree. It shares no code with the decoder of this crate, so a mistake in the order of
//! fields shows as a difference. [`to_reference()`] turns the values of that decoder into the same
//! tree. [`capture`] reads rings that were saved to a file.
//!
//! ```
//! use perf_abi::{Attr, EventType, SampleType};
//! use perf_decode::testing::{builder::SampleBuilder, reference};
//!
//! let attr = Attr::new(EventType::SOFTWARE, 0).with_sample_type(SampleType::IP.union(SampleType::TIME));
//! let record = SampleBuilder::new(&attr).ip(0x40_1000).time(17).finish();
//! let tree = reference::decode(&record, &attr)?;
//! assert_eq!(tree.field("ip").and_then(|ip| ip.as_u64()), Some(0x40_1000));
//! assert_eq!(tree.field("period"), None);
//! # Ok::<(), reference::Refusal>(())
//! ```

pub mod builder;
pub mod capture;
pub mod reference;
mod to_reference;

pub use to_reference::{counts_to_reference, to_reference};
