//! The access itself: operation, lock, TLB, blocking.

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
