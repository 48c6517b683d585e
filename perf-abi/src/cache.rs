//! Generic cache events: a triple of cache, operation and result.

use core::fmt;

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

#[cfg(test)]
mod tests {
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
}
