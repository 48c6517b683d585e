//! `attr.type` and the generic events: the PMU of an event, hardware events, software events.

open_enum! {
    /// `enum perf_type_id`—the PMU of an event.
    ///
    /// Every other value is the number in the `type` file of a PMU under
    /// `/sys/bus/event_source/devices`; those numbers can change at each boot.
    #[doc(alias = "perf_type_id")]
    pub struct EventType(u32) {
        /// Generic hardware events, see [`Hardware`]. Since Linux 2.6.31.
        "PERF_TYPE_HARDWARE" HARDWARE = 0;
        /// Events of the kernel itself, see [`Software`]. Since Linux 2.6.31.
        "PERF_TYPE_SOFTWARE" SOFTWARE = 1;
        /// Tracepoints; `config` is the number in the tracepoint's `id` file. Since Linux 2.6.31.
        "PERF_TYPE_TRACEPOINT" TRACEPOINT = 2;
        /// Generic cache events, see [`CacheEvent`](crate::CacheEvent). Since Linux 2.6.31.
        "PERF_TYPE_HW_CACHE" HW_CACHE = 3;
        /// Raw events: `config` has the encoding of the CPU's PMU. Since Linux 2.6.31.
        "PERF_TYPE_RAW" RAW = 4;
        /// Hardware breakpoints, see [`BreakpointType`](crate::BreakpointType). Since Linux 2.6.33.
        "PERF_TYPE_BREAKPOINT" BREAKPOINT = 5;
    }
}

/// The shift of the PMU number in the `config` of hardware and cache events on hybrid CPUs.
///
/// Since Linux 5.13.
#[doc(alias = "PERF_PMU_TYPE_SHIFT")]
pub const PMU_TYPE_SHIFT: u32 = 32;

/// The bits of `config` that hold the event id of hardware and cache events.
///
/// Since Linux 5.13.
#[doc(alias = "PERF_HW_EVENT_MASK")]
pub const HW_EVENT_MASK: u64 = 0xffff_ffff;

open_enum! {
    /// `enum perf_hw_id`—the generic hardware events, which most CPUs have.
    ///
    /// On hybrid CPUs the upper half of `config` can select a core PMU: see
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
        /// Bus cycles. Since Linux 2.6.31.
        "PERF_COUNT_HW_BUS_CYCLES" BUS_CYCLES = 6;
        /// Cycles in which nothing was issued. Since Linux 3.0.
        "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND" STALLED_CYCLES_FRONTEND = 7;
        /// Cycles in which nothing retired. Since Linux 3.0.
        "PERF_COUNT_HW_STALLED_CYCLES_BACKEND" STALLED_CYCLES_BACKEND = 8;
        /// Cycles at a constant frequency. Since Linux 3.3.
        "PERF_COUNT_HW_REF_CPU_CYCLES" REF_CPU_CYCLES = 9;
    }
}

open_enum! {
    /// `enum perf_sw_ids`—the events of the kernel itself, which exist on every machine.
    #[doc(alias = "perf_sw_ids")]
    pub struct Software(u64) {
        /// A high-resolution timer per CPU, in ns. Since Linux 2.6.31.
        "PERF_COUNT_SW_CPU_CLOCK" CPU_CLOCK = 0;
        /// Time that the task was running, in ns. Since Linux 2.6.31.
        "PERF_COUNT_SW_TASK_CLOCK" TASK_CLOCK = 1;
        /// Page faults. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS" PAGE_FAULTS = 2;
        /// Context switches. Since Linux 2.6.31.
        "PERF_COUNT_SW_CONTEXT_SWITCHES" CONTEXT_SWITCHES = 3;
        /// Migrations of the task to another CPU. Since Linux 2.6.31.
        "PERF_COUNT_SW_CPU_MIGRATIONS" CPU_MIGRATIONS = 4;
        /// Minor page faults, which need no I/O. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS_MIN" PAGE_FAULTS_MIN = 5;
        /// Major page faults, which need I/O. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS_MAJ" PAGE_FAULTS_MAJ = 6;
        /// Unaligned accesses that the kernel had to handle. Since Linux 2.6.33.
        "PERF_COUNT_SW_ALIGNMENT_FAULTS" ALIGNMENT_FAULTS = 7;
        /// Instructions that the kernel had to emulate. Since Linux 2.6.33.
        "PERF_COUNT_SW_EMULATION_FAULTS" EMULATION_FAULTS = 8;
        /// Counts nothing; used to get side-band records such as mappings. Since Linux 3.12.
        "PERF_COUNT_SW_DUMMY" DUMMY = 9;
        /// Output of BPF programs. Since Linux 4.4.
        "PERF_COUNT_SW_BPF_OUTPUT" BPF_OUTPUT = 10;
        /// Context switches to a task of another cgroup. Since Linux 5.13.
        "PERF_COUNT_SW_CGROUP_SWITCHES" CGROUP_SWITCHES = 11;
    }
}
