//! `attr.type`: which PMU an event belongs to.

open_enum! {
    /// `enum perf_type_id`—which PMU an event belongs to.
    ///
    /// Every other value is the number in the `type` file of a PMU under `/sys/bus/event_source/devices`;
    /// those numbers may differ after each boot.
    #[doc(alias = "perf_type_id")]
    pub struct EventType(u32) {
        /// Generic hardware events, see [`Hardware`](crate::Hardware). Since Linux 2.6.31.
        "PERF_TYPE_HARDWARE" HARDWARE = 0;
        /// Events counted by the kernel itself, see [`Software`](crate::Software). Since Linux 2.6.31.
        "PERF_TYPE_SOFTWARE" SOFTWARE = 1;
        /// Tracepoints; `config` is the number in the tracepoint's `id` file. Since Linux 2.6.31.
        "PERF_TYPE_TRACEPOINT" TRACEPOINT = 2;
        /// Generic cache events, see [`CacheEvent`](crate::CacheEvent). Since Linux 2.6.31.
        "PERF_TYPE_HW_CACHE" HW_CACHE = 3;
        /// `config` in the encoding of the CPU's own PMU. Since Linux 2.6.31.
        "PERF_TYPE_RAW" RAW = 4;
        /// Hardware breakpoints, see [`BreakpointType`](crate::BreakpointType). Since Linux 2.6.33.
        "PERF_TYPE_BREAKPOINT" BREAKPOINT = 5;
    }
}

/// How far the PMU number is shifted in the `config` of hardware and cache events on hybrid CPUs.
///
/// Since Linux 5.13.
#[doc(alias = "PERF_PMU_TYPE_SHIFT")]
pub const PMU_TYPE_SHIFT: u32 = 32;

/// The bits of `config` that name the event itself in hardware and cache events.
///
/// Since Linux 5.13.
#[doc(alias = "PERF_HW_EVENT_MASK")]
pub const HW_EVENT_MASK: u64 = 0xffff_ffff;
