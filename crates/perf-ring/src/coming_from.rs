//! Migration tables: the items of another crate and their counterparts here.
//!
//! | from | page |
//! |---|---|
//! | `perf-event-open-sys`, `perf-event-open-sys2` | [`perf_event_open_sys`] |
//! | `perf-event2` (also `perf-event`) | [`perf_event2`] |
//! | `perf-event-data`, `linux-perf-event-reader` | [`perf_event_data`] |
//! | libbpf's perf buffer, in C or as `libbpf-rs` | [`libbpf_perf_buffer`] |
//!
//! Each page names the versions that it describes. The examples are compiled as tests, and the
//! links are checked.

// Only the links of the pages use these names.
#[cfg(doc)]
use crate::{abi::*, decode::*, *};

#[doc = include_str!("../docs/coming-from/libbpf-perf-buffer.md")]
pub mod libbpf_perf_buffer {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/perf-event2.md")]
pub mod perf_event2 {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/perf-event-data.md")]
pub mod perf_event_data {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/perf-event-open-sys.md")]
pub mod perf_event_open_sys {
    #[cfg(doc)]
    use super::*;
}
