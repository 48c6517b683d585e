//! Generic cache events: a triple of cache, operation and result.

use core::fmt;

open_enum! {
    /// `enum perf_hw_cache_id`—which cache.
    #[doc(alias = "perf_hw_cache_id")]
    pub struct Cache(u8) {
        /// First-level data cache. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_L1D" L1D = 0;
        /// First-level instruction cache; has no writes. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_L1I" L1I = 1;
        /// Last-level cache. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_LL" LL = 2;
        /// Translation buffer for data. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_DTLB" DTLB = 3;
        /// Translation buffer for instructions; has reads only. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_ITLB" ITLB = 4;
        /// Branch prediction unit; has reads only. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_BPU" BPU = 5;
        /// Memory of the own node. Since Linux 3.1.
        "PERF_COUNT_HW_CACHE_NODE" NODE = 6;
    }
}

open_enum! {
    /// `enum perf_hw_cache_op_id`—what is done with the cache.
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
    /// `enum perf_hw_cache_op_result_id`—which outcome is counted.
    #[doc(alias = "perf_hw_cache_op_result_id")]
    pub struct CacheResult(u8) {
        /// All accesses. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_RESULT_ACCESS" ACCESS = 0;
        /// Misses. Since Linux 2.6.31.
        "PERF_COUNT_HW_CACHE_RESULT_MISS" MISS = 1;
    }
}

/// The `config` of an event of type [`HW_CACHE`](crate::EventType::HW_CACHE), taken apart.
///
/// Not every triple makes sense, and no CPU counts all that do.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct CacheEvent {
    /// Which cache; bits 0..8 of `config`.
    pub cache: Cache,
    /// What is done with it; bits 8..16.
    pub op: CacheOp,
    /// Which outcome; bits 16..24.
    pub result: CacheResult,
}

impl CacheEvent {
    /// The value for `config`.
    pub const fn config(self) -> u64 {
        self.cache.0 as u64 | (self.op.0 as u64) << 8 | (self.result.0 as u64) << 16
    }

    /// The triple in a `config`; `None` if bits 24..32 are used, which no kernel defines.
    ///
    /// The upper half, where hybrid CPUs name their PMU, is left aside.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triple_survives_its_config() {
        let event = CacheEvent { cache: Cache::DTLB, op: CacheOp::WRITE, result: CacheResult::MISS };
        assert_eq!(event.config(), 0x1_0103);
        assert_eq!(CacheEvent::from_config(0x7_0001_0103), Some(event));
        assert_eq!(CacheEvent::from_config(0x0100_0000), None);
    }
}
