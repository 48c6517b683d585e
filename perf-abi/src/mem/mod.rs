//! The data source of sampled memory accesses.

use crate::bits::BitField;
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

mod display;
#[cfg(test)]
mod tests;

/// `union perf_mem_data_src`—the data source of a sampled memory access. Since Linux 3.10.
///
/// Its fields have the same bits in both byte orders. `Display` prints every field in words.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), `PERF_SAMPLE_DATA_SRC`
#[doc(alias = "perf_mem_data_src")]
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct DataSource(pub u64);

const OP: BitField = BitField::fixed(0, 5);
const LEVEL: BitField = BitField::fixed(5, 14);
const SNOOP: BitField = BitField::fixed(19, 5);
const LOCK: BitField = BitField::fixed(24, 2);
const TLB: BitField = BitField::fixed(26, 7);
const LEVEL_NUMBER: BitField = BitField::fixed(33, 4);
const REMOTE: BitField = BitField::fixed(37, 1);
const SNOOP_EXT: BitField = BitField::fixed(38, 2);
const BLOCKED: BitField = BitField::fixed(40, 3);
const HOPS: BitField = BitField::fixed(43, 3);
const REGION: BitField = BitField::fixed(46, 5);
const RESERVED: BitField = BitField::fixed(51, 13);

impl DataSource {
    /// The value that the kernel writes if the source is unknown. Since Linux 4.14.
    #[doc(alias = "PERF_MEM_NA")]
    pub const NOT_AVAILABLE: Self = Self(0x1e_0508_0021);
    /// The value that Linux before 4.14 writes if the source is unknown. Since Linux 3.10.
    pub const NOT_AVAILABLE_OLD: Self = Self(0x0508_0021);

    /// Returns the operation. Since Linux 3.10.
    #[doc(alias = "mem_op")]
    pub const fn op(self) -> MemOp {
        MemOp::from_bits_retain(OP.get(self.0) as u8)
    }

    /// Returns the level of the memory hierarchy as bits; see [`level_number`](Self::level_number).
    /// Since Linux 3.10.
    #[doc(alias = "mem_lvl")]
    pub const fn level(self) -> MemLevel {
        MemLevel::from_bits_retain(LEVEL.get(self.0) as u16)
    }

    /// Returns the snoop result. Since Linux 3.10.
    #[doc(alias = "mem_snoop")]
    pub const fn snoop(self) -> MemSnoop {
        MemSnoop::from_bits_retain(SNOOP.get(self.0) as u8)
    }

    /// Returns the lock state. Since Linux 3.10.
    #[doc(alias = "mem_lock")]
    pub const fn lock(self) -> MemLock {
        MemLock::from_bits_retain(LOCK.get(self.0) as u8)
    }

    /// Returns the TLB access. Since Linux 3.10.
    #[doc(alias = "mem_dtlb")]
    pub const fn tlb(self) -> MemTlb {
        MemTlb::from_bits_retain(TLB.get(self.0) as u8)
    }

    /// Returns the level of the memory hierarchy as a number, which has more values than the bits.
    /// Since Linux 4.14.
    #[doc(alias = "mem_lvl_num")]
    pub const fn level_number(self) -> MemLevelNumber {
        MemLevelNumber(LEVEL_NUMBER.get(self.0) as u8)
    }

    /// Returns whether the level belongs to another NUMA node. Since Linux 4.14.
    #[doc(alias = "mem_remote")]
    pub const fn is_remote(self) -> bool {
        REMOTE.get(self.0) != 0
    }

    /// Returns the extension of the snoop result. Since Linux 4.14.
    #[doc(alias = "mem_snoopx")]
    pub const fn snoop_ext(self) -> MemSnoopExt {
        MemSnoopExt::from_bits_retain(SNOOP_EXT.get(self.0) as u8)
    }

    /// Returns the reason why the access was blocked. Since Linux 5.12.
    #[doc(alias = "mem_blk")]
    pub const fn blocked(self) -> MemBlocked {
        MemBlocked::from_bits_retain(BLOCKED.get(self.0) as u8)
    }

    /// Returns the distance of a remote level. Since Linux 5.16.
    #[doc(alias = "mem_hops")]
    pub const fn hops(self) -> MemHops {
        MemHops(HOPS.get(self.0) as u8)
    }

    /// Returns the region of memory or of a shared cache. Since Linux 7.0.
    #[doc(alias = "mem_region")]
    pub const fn region(self) -> MemRegion {
        MemRegion(REGION.get(self.0) as u8)
    }

    /// Returns the bits without a field, shifted to bit 0.
    #[doc(alias = "mem_rsvd")]
    pub const fn reserved(self) -> u16 {
        RESERVED.get(self.0) as u16
    }
}

bit_set! {
    /// `PERF_MEM_OP_*`—the operation. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_OP")]
    pub struct MemOp(u8) {
        /// Not available.
        "PERF_MEM_OP_NA" NA = 0x01, since (3, 10);
        /// Load.
        "PERF_MEM_OP_LOAD" LOAD = 0x02, since (3, 10);
        /// Store.
        "PERF_MEM_OP_STORE" STORE = 0x04, since (3, 10);
        /// Prefetch.
        "PERF_MEM_OP_PFETCH" PREFETCH = 0x08, since (3, 10);
        /// Instruction fetch.
        "PERF_MEM_OP_EXEC" EXEC = 0x10, since (3, 10);
    }
}

bit_set! {
    /// `PERF_MEM_LOCK_*`—the lock state of the access. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_LOCK")]
    pub struct MemLock(u8) {
        /// Not available.
        "PERF_MEM_LOCK_NA" NA = 0x01, since (3, 10);
        /// Locked.
        "PERF_MEM_LOCK_LOCKED" LOCKED = 0x02, since (3, 10);
    }
}

bit_set! {
    /// `PERF_MEM_TLB_*`—the TLB access. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_TLB")]
    pub struct MemTlb(u8) {
        /// Not available.
        "PERF_MEM_TLB_NA" NA = 0x01, since (3, 10);
        /// Hit.
        "PERF_MEM_TLB_HIT" HIT = 0x02, since (3, 10);
        /// Miss.
        "PERF_MEM_TLB_MISS" MISS = 0x04, since (3, 10);
        /// First level.
        "PERF_MEM_TLB_L1" L1 = 0x08, since (3, 10);
        /// Second level.
        "PERF_MEM_TLB_L2" L2 = 0x10, since (3, 10);
        /// Hardware page walk.
        "PERF_MEM_TLB_WK" WALKER = 0x20, since (3, 10);
        /// Fault handled by the operating system.
        "PERF_MEM_TLB_OS" OS_FAULT = 0x40, since (3, 10);
    }
}

bit_set! {
    /// `PERF_MEM_BLK_*`—the reason why a load was blocked by a store. Since Linux 5.12.
    #[doc(alias = "PERF_MEM_BLK")]
    pub struct MemBlocked(u8) {
        /// Not available.
        "PERF_MEM_BLK_NA" NA = 0x01, since (5, 12);
        /// The data could not be forwarded.
        "PERF_MEM_BLK_DATA" DATA = 0x02, since (5, 12);
        /// The addresses conflicted.
        "PERF_MEM_BLK_ADDR" ADDR = 0x04, since (5, 12);
    }
}

bit_set! {
    /// `PERF_MEM_LVL_*`—level of the memory hierarchy as bits; [`MemLevelNumber`] has more values.
    /// Since Linux 3.10.
    #[doc(alias = "PERF_MEM_LVL")]
    pub struct MemLevel(u16) {
        /// Not available.
        "PERF_MEM_LVL_NA" NA = 0x0001, since (3, 10);
        /// Hit.
        "PERF_MEM_LVL_HIT" HIT = 0x0002, since (3, 10);
        /// Miss.
        "PERF_MEM_LVL_MISS" MISS = 0x0004, since (3, 10);
        /// First-level cache.
        "PERF_MEM_LVL_L1" L1 = 0x0008, since (3, 10);
        /// Line fill buffer.
        "PERF_MEM_LVL_LFB" LINE_FILL_BUFFER = 0x0010, since (3, 10);
        /// Second-level cache.
        "PERF_MEM_LVL_L2" L2 = 0x0020, since (3, 10);
        /// Third-level cache.
        "PERF_MEM_LVL_L3" L3 = 0x0040, since (3, 10);
        /// Memory of the local node.
        "PERF_MEM_LVL_LOC_RAM" LOCAL_RAM = 0x0080, since (3, 10);
        /// Memory one hop away.
        "PERF_MEM_LVL_REM_RAM1" REMOTE_RAM_1 = 0x0100, since (3, 10);
        /// Memory two hops away.
        "PERF_MEM_LVL_REM_RAM2" REMOTE_RAM_2 = 0x0200, since (3, 10);
        /// Cache one hop away.
        "PERF_MEM_LVL_REM_CCE1" REMOTE_CACHE_1 = 0x0400, since (3, 10);
        /// Cache two hops away.
        "PERF_MEM_LVL_REM_CCE2" REMOTE_CACHE_2 = 0x0800, since (3, 10);
        /// I/O memory.
        "PERF_MEM_LVL_IO" IO = 0x1000, since (3, 10);
        /// Uncached memory.
        "PERF_MEM_LVL_UNC" UNCACHED = 0x2000, since (3, 10);
    }
}

bit_set! {
    /// `PERF_MEM_SNOOP_*`—the snoop result. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_SNOOP")]
    pub struct MemSnoop(u8) {
        /// Not available.
        "PERF_MEM_SNOOP_NA" NA = 0x01, since (3, 10);
        /// No snoop.
        "PERF_MEM_SNOOP_NONE" NONE = 0x02, since (3, 10);
        /// Hit.
        "PERF_MEM_SNOOP_HIT" HIT = 0x04, since (3, 10);
        /// Miss.
        "PERF_MEM_SNOOP_MISS" MISS = 0x08, since (3, 10);
        /// Hit a modified line.
        "PERF_MEM_SNOOP_HITM" HIT_MODIFIED = 0x10, since (3, 10);
    }
}

bit_set! {
    /// `PERF_MEM_SNOOPX_*`—the extension of the snoop result. Since Linux 4.14.
    #[doc(alias = "PERF_MEM_SNOOPX")]
    pub struct MemSnoopExt(u8) {
        /// Forwarded.
        "PERF_MEM_SNOOPX_FWD" FORWARD = 0x1, since (4, 14);
        /// Transferred from a peer.
        "PERF_MEM_SNOOPX_PEER" PEER = 0x2, since (6, 1);
    }
}

open_enum! {
    /// `PERF_MEM_LVLNUM_*`—level of the memory hierarchy. Since Linux 4.14.
    ///
    /// 0 is unknown.
    #[doc(alias = "PERF_MEM_LVLNUM")]
    pub struct MemLevelNumber(u8) {
        /// First-level cache. Since Linux 4.14.
        "PERF_MEM_LVLNUM_L1" L1 = 0x1;
        /// Second-level cache. Since Linux 4.14.
        "PERF_MEM_LVLNUM_L2" L2 = 0x2;
        /// Third-level cache. Since Linux 4.14.
        "PERF_MEM_LVLNUM_L3" L3 = 0x3;
        /// Fourth-level cache. Since Linux 4.14.
        "PERF_MEM_LVLNUM_L4" L4 = 0x4;
        /// Miss-handling buffer of the second level. Since Linux 6.11.
        "PERF_MEM_LVLNUM_L2_MHB" L2_MISS_BUFFER = 0x5;
        /// Memory-side cache. Since Linux 6.11.
        "PERF_MEM_LVLNUM_MSC" MEMORY_SIDE_CACHE = 0x6;
        /// Level-0 cache. Since Linux 7.0.
        "PERF_MEM_LVLNUM_L0" L0 = 0x7;
        /// Uncached memory. Since Linux 6.7.
        "PERF_MEM_LVLNUM_UNC" UNCACHED = 0x8;
        /// CXL memory. Since Linux 6.1.
        "PERF_MEM_LVLNUM_CXL" CXL = 0x9;
        /// I/O memory. Since Linux 6.1.
        "PERF_MEM_LVLNUM_IO" IO = 0xa;
        /// Any cache. Since Linux 4.14.
        "PERF_MEM_LVLNUM_ANY_CACHE" ANY_CACHE = 0xb;
        /// Line fill buffer. Since Linux 4.14.
        "PERF_MEM_LVLNUM_LFB" LINE_FILL_BUFFER = 0xc;
        /// Memory. Since Linux 4.14.
        "PERF_MEM_LVLNUM_RAM" RAM = 0xd;
        /// Persistent memory. Since Linux 4.14.
        "PERF_MEM_LVLNUM_PMEM" PERSISTENT = 0xe;
        /// Not available. Since Linux 4.14.
        "PERF_MEM_LVLNUM_NA" NA = 0xf;
    }
}

open_enum! {
    /// `PERF_MEM_HOPS_*`—the distance of a remote level. Since Linux 5.16.
    ///
    /// 0 is unknown.
    #[doc(alias = "PERF_MEM_HOPS")]
    pub struct MemHops(u8) {
        /// Another core of the same node. Since Linux 5.16.
        "PERF_MEM_HOPS_0" SAME_NODE = 1;
        /// Another node of the same socket. Since Linux 5.17.
        "PERF_MEM_HOPS_1" SAME_SOCKET = 2;
        /// Another socket of the same board. Since Linux 5.17.
        "PERF_MEM_HOPS_2" SAME_BOARD = 3;
        /// Another board. Since Linux 5.17.
        "PERF_MEM_HOPS_3" OTHER_BOARD = 4;
    }
}

open_enum! {
    /// `PERF_MEM_REGION_*`—region of memory or of a shared cache. Since Linux 7.0.
    #[doc(alias = "PERF_MEM_REGION")]
    pub struct MemRegion(u8) {
        /// Not available. Since Linux 7.0.
        "PERF_MEM_REGION_NA" NA = 0;
        /// Reserved. Since Linux 7.0.
        "PERF_MEM_REGION_RSVD" RESERVED = 1;
        /// Shared cache of the local caching agent. Since Linux 7.0.
        "PERF_MEM_REGION_L_SHARE" LOCAL_SHARED = 2;
        /// Non-shared cache of the local caching agent. Since Linux 7.0.
        "PERF_MEM_REGION_L_NON_SHARE" LOCAL_NON_SHARED = 3;
        /// I/O agent of another caching agent. Since Linux 7.0.
        "PERF_MEM_REGION_O_IO" OTHER_IO = 4;
        /// Shared cache of another caching agent. Since Linux 7.0.
        "PERF_MEM_REGION_O_SHARE" OTHER_SHARED = 5;
        /// Non-shared cache of another caching agent. Since Linux 7.0.
        "PERF_MEM_REGION_O_NON_SHARE" OTHER_NON_SHARED = 6;
        /// Memory-mapped I/O. Since Linux 7.0.
        "PERF_MEM_REGION_MMIO" MMIO = 7;
        /// Memory region 0. Since Linux 7.0.
        "PERF_MEM_REGION_MEM0" MEM0 = 8;
        /// Memory region 1. Since Linux 7.0.
        "PERF_MEM_REGION_MEM1" MEM1 = 9;
        /// Memory region 2. Since Linux 7.0.
        "PERF_MEM_REGION_MEM2" MEM2 = 10;
        /// Memory region 3. Since Linux 7.0.
        "PERF_MEM_REGION_MEM3" MEM3 = 11;
        /// Memory region 4. Since Linux 7.0.
        "PERF_MEM_REGION_MEM4" MEM4 = 12;
        /// Memory region 5. Since Linux 7.0.
        "PERF_MEM_REGION_MEM5" MEM5 = 13;
        /// Memory region 6. Since Linux 7.0.
        "PERF_MEM_REGION_MEM6" MEM6 = 14;
        /// Memory region 7. Since Linux 7.0.
        "PERF_MEM_REGION_MEM7" MEM7 = 15;
    }
}
