//! Tables for porting a program from another crate: its items, and the items of this crate that
//! replace them.
//!
//! | from | page |
//! |---|---|
//! | `linux-perf-data` | [`linux_perf_data`] |
//! | `tracepoint_perf`, `tracepoint_decode` | [`tracepoint_perf`] |
//!
//! The pages name the versions that they were written for. Their examples are compiled as tests of
//! this crate, and their links are checked.

// Only the links of the pages use these names.
#[cfg(doc)]
use crate::*;

#[doc = include_str!("../docs/coming-from/linux-perf-data.md")]
pub mod linux_perf_data {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/tracepoint-perf.md")]
pub mod tracepoint_perf {
    #[cfg(doc)]
    use super::*;
}
