//! Limits that records rely on.

/// Longest build id in an `MMAP2` record, in bytes. Since Linux 5.12.
pub const BUILD_ID_SIZE_MAX: usize = 20;

/// Default limit of addresses in a callchain; `/proc/sys/kernel/perf_event_max_stack` may say otherwise.
/// Since Linux 2.6.31.
#[doc(alias = "PERF_MAX_STACK_DEPTH")]
pub const MAX_STACK_DEPTH: u16 = 127;

/// Default limit of context markers in a callchain; `/proc/sys/kernel/perf_event_max_contexts_per_stack` may
/// say otherwise. Since Linux 4.7.
#[doc(alias = "PERF_MAX_CONTEXTS_PER_STACK")]
pub const MAX_CONTEXTS_PER_STACK: u16 = 8;
