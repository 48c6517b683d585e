//! Shared by the oracle and property tests: files, readers of the formats around the records,
//! generators.

#![allow(dead_code, reason = "each test crate uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers may fail it"
)]

pub(crate) mod arbitrary;
pub(crate) mod captured;
pub(crate) mod data;
pub(crate) mod framed;
pub(crate) mod oracle;
pub(crate) mod shortcuts;
