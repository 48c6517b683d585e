//! `attr.type` and the generic events: hardware events, software events, cache events, breakpoints.

use core::fmt;

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
        /// A high-resolution timer per CPU, in ns. For a thread it runs while the thread is on a CPU. Since Linux 2.6.31.
        "PERF_COUNT_SW_CPU_CLOCK" CPU_CLOCK = 0;
        /// Time that the task was running, in ns. Since Linux 2.6.31.
        "PERF_COUNT_SW_TASK_CLOCK" TASK_CLOCK = 1;
        /// Page faults. Since Linux 2.6.31.
        "PERF_COUNT_SW_PAGE_FAULTS" PAGE_FAULTS = 2;
        /// Context switches. They happen in the kernel: with [`EXCLUDE_KERNEL`](crate::AttrFlags::EXCLUDE_KERNEL) none is
        /// counted or sampled, without an error. Since Linux 2.6.31.
        "PERF_COUNT_SW_CONTEXT_SWITCHES" CONTEXT_SWITCHES = 3;
        /// Migrations of the task to another CPU, in the kernel as [`CONTEXT_SWITCHES`](Self::CONTEXT_SWITCHES). Since
        /// Linux 2.6.31.
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

open_enum! {
    /// `enum perf_hw_cache_id`—the cache of a cache event.
    #[doc(alias = "perf_hw_cache_id")]
    pub struct Cache(u8) {
        /// First-level data cache. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_L1D" L1D = 0;
        /// First-level instruction cache; has no writes. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_L1I" L1I = 1;
        /// Last-level cache. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_LL" LL = 2;
        /// TLB for data. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_DTLB" DTLB = 3;
        /// TLB for instructions; has reads only. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_ITLB" ITLB = 4;
        /// Branch prediction unit; has reads only. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_BPU" BPU = 5;
        /// Memory of the local NUMA node. Since Linux 3.1.
        "PERF_COUNT_HW_CACHE_NODE" NODE = 6;
    }
}

open_enum! {
    /// `enum perf_hw_cache_op_id`—the operation of a cache event.
    #[doc(alias = "perf_hw_cache_op_id")]
    pub struct CacheOp(u8) {
        /// Loads. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_OP_READ" READ = 0;
        /// Stores. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_OP_WRITE" WRITE = 1;
        /// Prefetches. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_OP_PREFETCH" PREFETCH = 2;
    }
}

open_enum! {
    /// `enum perf_hw_cache_op_result_id`—the outcome that a cache event counts.
    #[doc(alias = "perf_hw_cache_op_result_id")]
    pub struct CacheResult(u8) {
        /// All accesses. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_RESULT_ACCESS" ACCESS = 0;
        /// Misses. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_RESULT_MISS" MISS = 1;
    }
}

/// The fields of `config` of an event of type [`HW_CACHE`](crate::EventType::HW_CACHE).
///
/// Some combinations are meaningless, such as writes to an instruction cache, and no CPU has all
/// others: the kernel fails with `EINVAL` or `ENOENT`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct CacheEvent {
    /// Cache; bits 0..8 of `config`.
    pub cache: Cache,
    /// Operation; bits 8..16.
    pub op: CacheOp,
    /// Outcome; bits 16..24.
    pub result: CacheResult,
}

impl CacheEvent {
    /// Returns every combination of the known caches, operations and outcomes, in the order of
    /// `config`'s bytes: 42 as of Linux 7.0.
    ///
    /// ```
    /// use perf_abi::{Attr, Cache, CacheEvent};
    ///
    /// let of_the_last_level = CacheEvent::all().filter(|event| event.cache == Cache::LL);
    /// let attrs = of_the_last_level.map(|event| Attr::cache(event.cache, event.op, event.result));
    /// assert_eq!(attrs.count(), 6);
    /// ```
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        CacheResult::ALL.iter().flat_map(|&result| {
            CacheOp::ALL
                .iter()
                .flat_map(move |&op| Cache::ALL.iter().map(move |&cache| Self { cache, op, result }))
        })
    }

    /// Returns the value for `config`.
    pub const fn config(self) -> u64 {
        self.cache.0 as u64 | (self.op.0 as u64) << 8 | (self.result.0 as u64) << 16
    }

    /// Returns the fields of a `config`; `None` if one of bits 24..32 is set, which no kernel
    /// defines.
    ///
    /// The upper half, which selects the PMU on hybrid CPUs, is ignored.
    pub const fn from_config(config: u64) -> Option<Self> {
        let [cache, op, result, 0, ..] = config.to_le_bytes() else {
            return None;
        };
        Some(Self { cache: Cache(cache), op: CacheOp(op), result: CacheResult(result) })
    }
}

impl fmt::Display for CacheEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.cache, self.op, self.result)
    }
}

bit_set! {
    /// `HW_BREAKPOINT_*`—the accesses that a hardware breakpoint counts.
    ///
    /// # References
    ///  - `include/uapi/linux/hw_breakpoint.h`
    pub struct BreakpointType(u32) {
        /// None; the kernel fails with `EINVAL`.
        "HW_BREAKPOINT_EMPTY" EMPTY = 0, since (2, 6, 33);
        /// Reads; x86 cannot watch reads alone, the kernel fails with `EINVAL`.
        "HW_BREAKPOINT_R" READ = 1, since (2, 6, 33);
        /// Writes.
        "HW_BREAKPOINT_W" WRITE = 2, since (2, 6, 33);
        /// Reads and writes.
        "HW_BREAKPOINT_RW" READ_WRITE = 3, since (2, 6, 33);
        /// Execution, see [`Attr::breakpoint_execute`](crate::Attr::breakpoint_execute).
        "HW_BREAKPOINT_X" EXECUTE = 4, since (2, 6, 33);
        /// All of them at once; the kernel fails with `EINVAL`.
        "HW_BREAKPOINT_INVALID" INVALID = 7, since (2, 6, 33);
    }
}

open_enum! {
    /// `HW_BREAKPOINT_LEN_*`—the number of bytes that a hardware breakpoint watches.
    ///
    /// x86 watches 1, 2, 4 or 8 bytes at an address aligned to that length, arm64 any of 1 to 8.
    ///
    /// # References
    ///  - `include/uapi/linux/hw_breakpoint.h`
    pub struct BreakpointLen(u64) {
        /// 1 byte. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_1" ONE = 1;
        /// 2 bytes. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_2" TWO = 2;
        /// 3 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_3" THREE = 3;
        /// 4 bytes. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_4" FOUR = 4;
        /// 5 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_5" FIVE = 5;
        /// 6 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_6" SIX = 6;
        /// 7 bytes. Since Linux 4.10.
        "HW_BREAKPOINT_LEN_7" SEVEN = 7;
        /// 8 bytes. Since Linux 2.6.33.
        "HW_BREAKPOINT_LEN_8" EIGHT = 8;
    }
}

impl BreakpointLen {
    /// The length of [`BreakpointType::EXECUTE`]: the size of a C `long`, in bytes.
    ///
    /// x86 demands the size that `long` has in the *kernel*. A 32-bit program on a 64-bit kernel
    /// needs [`EIGHT`](Self::EIGHT) instead.
    pub const EXECUTE: Self = Self(size_of::<core::ffi::c_long>() as u64);
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    #[test]
    fn config_keeps_all_three_fields() {
        let event = CacheEvent { cache: Cache::DTLB, op: CacheOp::WRITE, result: CacheResult::MISS };
        assert_eq!(event.config(), 0x1_0103);
        assert_eq!(CacheEvent::from_config(0x7_0001_0103), Some(event));
        assert_eq!(CacheEvent::from_config(0x0100_0000), None);
    }

    #[test]
    fn all_lists_every_combination_once_in_order_of_config() {
        let configs = || CacheEvent::all().map(CacheEvent::config);
        assert_eq!(configs().count(), Cache::ALL.len() * CacheOp::ALL.len() * CacheResult::ALL.len());
        assert!(configs().zip(configs().skip(1)).all(|(first, second)| first < second));
        assert!(CacheEvent::all().all(|event| CacheEvent::from_config(event.config()) == Some(event)));
    }

    #[test]
    fn a_cache_event_prints_its_three_fields() {
        let event = CacheEvent { cache: Cache::L1D, op: CacheOp::READ, result: CacheResult(9) };
        assert_eq!(std::format!("{event}"), "L1D-READ-CacheResult(9)");
    }

    #[test]
    fn accesses_of_a_breakpoint_are_bits() {
        assert_eq!(BreakpointType::READ | BreakpointType::WRITE, BreakpointType::READ_WRITE);
        assert_eq!(BreakpointType::from_bits_retain(3), BreakpointType::READ_WRITE);
        let unknown = BreakpointType::READ_WRITE | BreakpointType::from_bits_retain(8);
        assert_eq!(format!("{unknown}"), "READ|WRITE|0x8");
    }
}
