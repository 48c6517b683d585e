//! The numbers in [`BranchInfo`](super::BranchInfo).

open_enum! {
    /// `PERF_BR_*`—the type of a branch. Since Linux 4.14.
    #[doc(alias = "PERF_BR")]
    pub struct BranchType(u8) {
        /// Unknown, or not recorded. Since Linux 4.14.
        "PERF_BR_UNKNOWN" UNKNOWN = 0;
        /// Conditional. Since Linux 4.14.
        "PERF_BR_COND" CONDITIONAL = 1;
        /// Unconditional. Since Linux 4.14.
        "PERF_BR_UNCOND" UNCONDITIONAL = 2;
        /// Indirect. Since Linux 4.14.
        "PERF_BR_IND" INDIRECT = 3;
        /// Call. Since Linux 4.14.
        "PERF_BR_CALL" CALL = 4;
        /// Indirect call. Since Linux 4.14.
        "PERF_BR_IND_CALL" INDIRECT_CALL = 5;
        /// Return. Since Linux 4.14.
        "PERF_BR_RET" RETURN = 6;
        /// System call. Since Linux 4.14.
        "PERF_BR_SYSCALL" SYSCALL = 7;
        /// Return from a system call. Since Linux 4.14.
        "PERF_BR_SYSRET" SYSCALL_RETURN = 8;
        /// Conditional call. Since Linux 4.14.
        "PERF_BR_COND_CALL" CONDITIONAL_CALL = 9;
        /// Conditional return. Since Linux 4.14.
        "PERF_BR_COND_RET" CONDITIONAL_RETURN = 10;
        /// Return from an exception. Since Linux 5.18.
        "PERF_BR_ERET" EXCEPTION_RETURN = 11;
        /// Interrupt. Since Linux 5.18.
        "PERF_BR_IRQ" INTERRUPT = 12;
        /// System error. Since Linux 6.1.
        "PERF_BR_SERROR" SYSTEM_ERROR = 13;
        /// Not in a transaction. Since Linux 6.1.
        "PERF_BR_NO_TX" NO_TRANSACTION = 14;
        /// See [`BranchInfo::new_type`](super::BranchInfo::new_type). Since Linux 6.1.
        "PERF_BR_EXTEND_ABI" EXTENDED = 15;
    }
}

open_enum! {
    /// `PERF_BR_NEW_*`—the type of a branch whose [`BranchType`] is `EXTENDED`. Since Linux 6.1.
    #[doc(alias = "PERF_BR_NEW")]
    pub struct BranchNewType(u8) {
        /// Alignment fault. Since Linux 6.1.
        "PERF_BR_NEW_FAULT_ALGN" ALIGNMENT_FAULT = 0;
        /// Data fault. Since Linux 6.1.
        "PERF_BR_NEW_FAULT_DATA" DATA_FAULT = 1;
        /// Instruction fault. Since Linux 6.1.
        "PERF_BR_NEW_FAULT_INST" INSTRUCTION_FAULT = 2;
        /// Specific to the architecture; on arm64 FIQ. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_1" ARCH_1 = 3;
        /// Specific to the architecture; on arm64 debug halt. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_2" ARCH_2 = 4;
        /// Specific to the architecture; on arm64 debug exit. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_3" ARCH_3 = 5;
        /// Specific to the architecture; on arm64 debug instruction. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_4" ARCH_4 = 6;
        /// Specific to the architecture; on arm64 debug data. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_5" ARCH_5 = 7;
    }
}

open_enum! {
    /// `PERF_BR_SPEC_*`—the outcome of speculation of a branch. Since Linux 6.1.
    #[doc(alias = "PERF_BR_SPEC")]
    pub struct BranchSpeculation(u8) {
        /// Not available. Since Linux 6.1.
        "PERF_BR_SPEC_NA" NOT_AVAILABLE = 0;
        /// Speculative, on the wrong path. Since Linux 6.1.
        "PERF_BR_SPEC_WRONG_PATH" WRONG_PATH = 1;
        /// Not speculative, on the right path. Since Linux 6.1.
        "PERF_BR_NON_SPEC_CORRECT_PATH" NOT_SPECULATIVE = 2;
        /// Speculative, on the right path. Since Linux 6.1.
        "PERF_BR_SPEC_CORRECT_PATH" CORRECT_PATH = 3;
    }
}

open_enum! {
    /// `PERF_BR_PRIV_*`—the privilege level of a branch's target. Since Linux 6.1.
    #[doc(alias = "PERF_BR_PRIV")]
    pub struct BranchPrivilege(u8) {
        /// Unknown. Since Linux 6.1.
        "PERF_BR_PRIV_UNKNOWN" UNKNOWN = 0;
        /// User space. Since Linux 6.1.
        "PERF_BR_PRIV_USER" USER = 1;
        /// Kernel. Since Linux 6.1.
        "PERF_BR_PRIV_KERNEL" KERNEL = 2;
        /// Hypervisor. Since Linux 6.1.
        "PERF_BR_PRIV_HV" HYPERVISOR = 3;
    }
}
