//! Migration tables: the items of another library and their counterparts here.
//!
//! | from | page |
//! |---|---|
//! | the maps and objects of Cilium's `pkg/bpf` | [`cilium_maps`] |
//! | the perf events of Cilium's `pkg/bpf`, and `perfevent` | [`cilium_events`] |
//! | the perf buffers of aya, libbpf and `libbpf-rs` | [`perf_buffers`] |
//!
//! Each page names the versions that it describes. The examples are compiled as tests, and the
//! links are checked.

// Only the links of the pages use these names.
#[cfg(doc)]
use crate::*;

#[doc = include_str!("../docs/coming-from/cilium-events.md")]
pub mod cilium_events {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/cilium-maps.md")]
pub mod cilium_maps {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/perf-buffers.md")]
pub mod perf_buffers {
    #[cfg(doc)]
    use super::*;
}
