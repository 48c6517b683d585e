//! The access itself: operation, lock, TLB, blocking.

bit_set! {
    /// `PERF_MEM_OP_*`—the operation. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_OP")]
    pub struct MemOp(u8) {
        /// Not available. Since Linux 3.10.
        "PERF_MEM_OP_NA" NA = 0x01;
        /// Load. Since Linux 3.10.
        "PERF_MEM_OP_LOAD" LOAD = 0x02;
        /// Store. Since Linux 3.10.
        "PERF_MEM_OP_STORE" STORE = 0x04;
        /// Prefetch. Since Linux 3.10.
        "PERF_MEM_OP_PFETCH" PREFETCH = 0x08;
        /// Instruction fetch. Since Linux 3.10.
        "PERF_MEM_OP_EXEC" EXEC = 0x10;
    }
}

bit_set! {
    /// `PERF_MEM_LOCK_*`—the lock state of the access. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_LOCK")]
    pub struct MemLock(u8) {
        /// Not available. Since Linux 3.10.
        "PERF_MEM_LOCK_NA" NA = 0x01;
        /// Locked. Since Linux 3.10.
        "PERF_MEM_LOCK_LOCKED" LOCKED = 0x02;
    }
}

bit_set! {
    /// `PERF_MEM_TLB_*`—the TLB access. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_TLB")]
    pub struct MemTlb(u8) {
        /// Not available. Since Linux 3.10.
        "PERF_MEM_TLB_NA" NA = 0x01;
        /// Hit. Since Linux 3.10.
        "PERF_MEM_TLB_HIT" HIT = 0x02;
        /// Miss. Since Linux 3.10.
        "PERF_MEM_TLB_MISS" MISS = 0x04;
        /// First level. Since Linux 3.10.
        "PERF_MEM_TLB_L1" L1 = 0x08;
        /// Second level. Since Linux 3.10.
        "PERF_MEM_TLB_L2" L2 = 0x10;
        /// Hardware page walk. Since Linux 3.10.
        "PERF_MEM_TLB_WK" WALKER = 0x20;
        /// Fault handled by the operating system. Since Linux 3.10.
        "PERF_MEM_TLB_OS" OS_FAULT = 0x40;
    }
}

bit_set! {
    /// `PERF_MEM_BLK_*`—the reason why a load was blocked by a store. Since Linux 5.12.
    #[doc(alias = "PERF_MEM_BLK")]
    pub struct MemBlocked(u8) {
        /// Not available. Since Linux 5.12.
        "PERF_MEM_BLK_NA" NA = 0x01;
        /// The data could not be forwarded. Since Linux 5.12.
        "PERF_MEM_BLK_DATA" DATA = 0x02;
        /// The addresses conflicted. Since Linux 5.12.
        "PERF_MEM_BLK_ADDR" ADDR = 0x04;
    }
}
