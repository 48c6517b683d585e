//! The argument of the ioctl that queries BPF programs.

#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_event_query_bpf`—head of the argument of [`IOC_QUERY_BPF`](crate::IOC_QUERY_BPF).
/// Since Linux 4.16.
///
/// `ids_len` ids, each a `u32`, follow it.
#[doc(alias = "perf_event_query_bpf")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct PerfEventQueryBpf {
    /// Capacity for ids; the kernel does not change it.
    pub ids_len: u32,
    /// Number of programs, written by the kernel; can exceed `ids_len`.
    pub prog_cnt: u32,
}

layout!(PerfEventQueryBpf, 8 { ids_len: 0, prog_cnt: 4 });
