//! Generic hardware events.

open_enum! {
    /// `enum perf_hw_id`—the generic events that most CPUs have.
    ///
    /// On hybrid CPUs the upper half of `config` may name one core PMU: see
    /// [`Attr::with_hybrid_pmu`](crate::Attr::with_hybrid_pmu).
    #[doc(alias = "perf_hw_id")]
    pub struct Hardware(u64) {
        /// Cycles while the CPU is not halted. Since Linux 2.6.31.
        "PERF_COUNT_HW_CPU_CYCLES" CPU_CYCLES = 0;
        /// Retired instructions. Since Linux 2.6.31.
        "PERF_COUNT_HW_INSTRUCTIONS" INSTRUCTIONS = 1;
        /// Cache accesses, usually of the last level. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_REFERENCES" CACHE_REFERENCES = 2;
        /// Cache misses, usually of the last level. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_MISSES" CACHE_MISSES = 3;
        /// Retired branches. Since Linux 2.6.31.
        "PERF_COUNT_HW_BRANCH_INSTRUCTIONS" BRANCH_INSTRUCTIONS = 4;
        /// Mispredicted branches. Since Linux 2.6.31.
        "PERF_COUNT_HW_BRANCH_MISSES" BRANCH_MISSES = 5;
        /// Cycles of the bus. Since Linux 2.6.31.
        "PERF_COUNT_HW_BUS_CYCLES" BUS_CYCLES = 6;
        /// Cycles in which nothing was issued. Since Linux 3.0.
        "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND" STALLED_CYCLES_FRONTEND = 7;
        /// Cycles in which nothing retired. Since Linux 3.0.
        "PERF_COUNT_HW_STALLED_CYCLES_BACKEND" STALLED_CYCLES_BACKEND = 8;
        /// Cycles at constant frequency. Since Linux 3.3.
        "PERF_COUNT_HW_REF_CPU_CYCLES" REF_CPU_CYCLES = 9;
    }
}
