//! The origin of the data: level, snoop, distance, region.

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
