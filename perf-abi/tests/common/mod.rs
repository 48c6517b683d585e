//! What the tests compare with each other. Each test file uses a part of it.
#![allow(dead_code, unused_imports, unused_macros)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod constants;
mod kernel;

pub(crate) use constants::constants;
pub(crate) use kernel::Kernel;
pub(crate) use kernel::fields;
