//! Attaches BPF programs to perf events, reads their output and uses their maps.

#![deny(unsafe_code)]

mod array;
mod attach;
mod attached_set;
mod bpf_fs;
mod cached;
pub mod coming_from;
mod error;
mod features;
mod ids;
mod layout;
mod link;
mod map;
mod map_fd;
mod map_info;
mod map_spec;
mod object_kind;
mod object_name;
mod perf_buffer;
mod pin;
mod pinned;
mod privileges;
mod program_fd;
mod program_info;
mod ring_buffer;
mod run_stats;
mod syscall;
mod task_fd;

/// The events, CPU lists and sets: the crate `perf-events`.
#[doc(no_inline)]
pub use perf_events as events;
/// The system calls and rings: the crate `perf-sys`.
#[doc(no_inline)]
pub use perf_sys as sys;

#[doc(no_inline)]
pub use perf_sys::{BpfBatch, BpfRecords, BpfRing};

#[doc(no_inline)]
pub use perf_sys::abi::bpf::{BpfCmd, BpfElemFlags, BpfInsn, BpfMapFlags, BpfMapType, BpfProgType};

pub use array::EventArray;
pub use attach::Attachment;
pub use attached_set::AttachedSet;
pub use bpf_fs::BpfFs;
pub use cached::{CacheEntry, CachedMap, DesiredAction};
pub use error::{Error, Result};
pub use features::Features;
pub use ids::Ids;
pub use link::Link;
pub use map::{BatchCursor, BatchError, DumpStats, Iter, Key, Keys, Map, PerCpu, Value};
pub use map_info::{Difference, MapInfo, MapProperty, ProcessMapInfo};
pub use map_spec::MapSpec;
pub use object_kind::ObjectKind;
pub use object_name::ObjectName;
pub use perf_buffer::{
    Output, OutputBatch, OutputCounts, OutputSample, Outputs, PerfBuffer, PerfBufferOptions, RefreshedRings,
};
pub use pin::unpin;
pub use pinned::{ParallelMap, PinOutcome, PinnedMap};
pub use privileges::BpfPrivileges;
pub use program_fd::ProgramFd;
pub use program_info::ProgramInfo;
pub use ring_buffer::{create_ring_buffer, open_ring_buffer};
pub use run_stats::RunStats;
pub use syscall::MapFd;
pub use task_fd::TaskFd;

use layout::MapLayout;
