//! Registers of arm64.

open_enum! {
    /// `enum perf_event_arm_regs`—registers of arm64 by their bit in a register mask.
    ///
    /// A 32-bit task has r0 to r14 in bits 0 to 14, and its program counter in bits 15 and 32.
    #[doc(alias = "perf_event_arm_regs")]
    pub struct Arm64Reg(u8) {
        /// Register x0. Since Linux 3.17.
        "PERF_REG_ARM64_X0" X0 = 0;
        /// Register x1. Since Linux 3.17.
        "PERF_REG_ARM64_X1" X1 = 1;
        /// Register x2. Since Linux 3.17.
        "PERF_REG_ARM64_X2" X2 = 2;
        /// Register x3. Since Linux 3.17.
        "PERF_REG_ARM64_X3" X3 = 3;
        /// Register x4. Since Linux 3.17.
        "PERF_REG_ARM64_X4" X4 = 4;
        /// Register x5. Since Linux 3.17.
        "PERF_REG_ARM64_X5" X5 = 5;
        /// Register x6. Since Linux 3.17.
        "PERF_REG_ARM64_X6" X6 = 6;
        /// Register x7. Since Linux 3.17.
        "PERF_REG_ARM64_X7" X7 = 7;
        /// Register x8. Since Linux 3.17.
        "PERF_REG_ARM64_X8" X8 = 8;
        /// Register x9. Since Linux 3.17.
        "PERF_REG_ARM64_X9" X9 = 9;
        /// Register x10. Since Linux 3.17.
        "PERF_REG_ARM64_X10" X10 = 10;
        /// Register x11. Since Linux 3.17.
        "PERF_REG_ARM64_X11" X11 = 11;
        /// Register x12. Since Linux 3.17.
        "PERF_REG_ARM64_X12" X12 = 12;
        /// Register x13. Since Linux 3.17.
        "PERF_REG_ARM64_X13" X13 = 13;
        /// Register x14. Since Linux 3.17.
        "PERF_REG_ARM64_X14" X14 = 14;
        /// Register x15. Since Linux 3.17.
        "PERF_REG_ARM64_X15" X15 = 15;
        /// Register x16. Since Linux 3.17.
        "PERF_REG_ARM64_X16" X16 = 16;
        /// Register x17. Since Linux 3.17.
        "PERF_REG_ARM64_X17" X17 = 17;
        /// Register x18. Since Linux 3.17.
        "PERF_REG_ARM64_X18" X18 = 18;
        /// Register x19. Since Linux 3.17.
        "PERF_REG_ARM64_X19" X19 = 19;
        /// Register x20. Since Linux 3.17.
        "PERF_REG_ARM64_X20" X20 = 20;
        /// Register x21. Since Linux 3.17.
        "PERF_REG_ARM64_X21" X21 = 21;
        /// Register x22. Since Linux 3.17.
        "PERF_REG_ARM64_X22" X22 = 22;
        /// Register x23. Since Linux 3.17.
        "PERF_REG_ARM64_X23" X23 = 23;
        /// Register x24. Since Linux 3.17.
        "PERF_REG_ARM64_X24" X24 = 24;
        /// Register x25. Since Linux 3.17.
        "PERF_REG_ARM64_X25" X25 = 25;
        /// Register x26. Since Linux 3.17.
        "PERF_REG_ARM64_X26" X26 = 26;
        /// Register x27. Since Linux 3.17.
        "PERF_REG_ARM64_X27" X27 = 27;
        /// Register x28. Since Linux 3.17.
        "PERF_REG_ARM64_X28" X28 = 28;
        /// Register x29, the frame pointer. Since Linux 3.17.
        "PERF_REG_ARM64_X29" X29 = 29;
        /// Link register, x30. Since Linux 3.17.
        "PERF_REG_ARM64_LR" LR = 30;
        /// Stack pointer. Since Linux 3.17.
        "PERF_REG_ARM64_SP" SP = 31;
        /// Program counter. Since Linux 3.17.
        "PERF_REG_ARM64_PC" PC = 32;
        /// Length of SVE vectors in units of 64 bits; only with SVE hardware. Since Linux 6.1.
        "PERF_REG_ARM64_VG" VG = 46;
    }
}
