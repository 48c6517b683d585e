//! Reads and writes `perf.data`, the file format of the perf tool.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod format;
#[cfg(feature = "std")]
pub mod synthesize;
#[cfg(feature = "std")]
pub mod writer;
