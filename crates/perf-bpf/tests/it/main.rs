//! The live tests that need no separate process, as one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // also in shared functions

mod attach;
mod attach_errors;
mod attached_set;
mod cached;
mod coming_from;
mod event_array;
mod features;
mod info;
mod map_dump;
mod map_dump_types;
mod map_errors;
mod map_fd;
mod map_model;
mod map_operations;
mod map_types;
mod output_unprivileged;
mod perf_buffer;
mod pin_move;
mod pin_races;
mod pin_replace;
mod pinned;
mod possible_cpus;
mod ring_buffer;
mod shared_array;
mod shared_ring;
#[path = "../support/mod.rs"]
mod support;
mod tracing;
mod unprivileged;

mod prelude {
    pub(crate) use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

    pub(crate) use perf_bpf::events::*;
    pub(crate) use perf_bpf::ring::abi::bpf::*;
    pub(crate) use perf_bpf::ring::{
        Attr, AttrFlags, Count, Errno, Event, ReadFormat, SampleType, Software, Target, WaitResult, Waker,
    };
    pub(crate) use perf_bpf::*;

    pub(crate) use crate::support::asm::*;
    pub(crate) use crate::support::programs::*;
    pub(crate) use crate::support::*;

    pub(crate) type Pinned = PinnedMap<u32, u64>;

    /// A timeout that no test reaches. The tests do not measure time, but must not hang.
    pub(crate) const PATIENCE: Option<std::time::Duration> = Some(std::time::Duration::from_secs(20));
}
