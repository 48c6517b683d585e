//! Registers of RISC-V, 32-bit and 64-bit.

open_enum! {
    /// `enum perf_event_riscv_regs`—registers of RISC-V by their bit in a register mask.
    ///
    /// Bit n is register xn, except bit 0, which is the program counter.
    #[doc(alias = "perf_event_riscv_regs")]
    pub struct RiscvReg(u8) {
        /// Program counter. Since Linux 5.5.
        "PERF_REG_RISCV_PC" PC = 0;
        /// Return address, x1. Since Linux 5.5.
        "PERF_REG_RISCV_RA" RA = 1;
        /// Stack pointer, x2. Since Linux 5.5.
        "PERF_REG_RISCV_SP" SP = 2;
        /// Global pointer, x3. Since Linux 5.5.
        "PERF_REG_RISCV_GP" GP = 3;
        /// Thread pointer, x4. Since Linux 5.5.
        "PERF_REG_RISCV_TP" TP = 4;
        /// Temporary, x5. Since Linux 5.5.
        "PERF_REG_RISCV_T0" T0 = 5;
        /// Temporary, x6. Since Linux 5.5.
        "PERF_REG_RISCV_T1" T1 = 6;
        /// Temporary, x7. Since Linux 5.5.
        "PERF_REG_RISCV_T2" T2 = 7;
        /// Saved register and frame pointer, x8. Since Linux 5.5.
        "PERF_REG_RISCV_S0" S0 = 8;
        /// Saved register, x9. Since Linux 5.5.
        "PERF_REG_RISCV_S1" S1 = 9;
        /// Argument, x10. Since Linux 5.5.
        "PERF_REG_RISCV_A0" A0 = 10;
        /// Argument, x11. Since Linux 5.5.
        "PERF_REG_RISCV_A1" A1 = 11;
        /// Argument, x12. Since Linux 5.5.
        "PERF_REG_RISCV_A2" A2 = 12;
        /// Argument, x13. Since Linux 5.5.
        "PERF_REG_RISCV_A3" A3 = 13;
        /// Argument, x14. Since Linux 5.5.
        "PERF_REG_RISCV_A4" A4 = 14;
        /// Argument, x15. Since Linux 5.5.
        "PERF_REG_RISCV_A5" A5 = 15;
        /// Argument, x16. Since Linux 5.5.
        "PERF_REG_RISCV_A6" A6 = 16;
        /// Argument, x17. Since Linux 5.5.
        "PERF_REG_RISCV_A7" A7 = 17;
        /// Saved register, x18. Since Linux 5.5.
        "PERF_REG_RISCV_S2" S2 = 18;
        /// Saved register, x19. Since Linux 5.5.
        "PERF_REG_RISCV_S3" S3 = 19;
        /// Saved register, x20. Since Linux 5.5.
        "PERF_REG_RISCV_S4" S4 = 20;
        /// Saved register, x21. Since Linux 5.5.
        "PERF_REG_RISCV_S5" S5 = 21;
        /// Saved register, x22. Since Linux 5.5.
        "PERF_REG_RISCV_S6" S6 = 22;
        /// Saved register, x23. Since Linux 5.5.
        "PERF_REG_RISCV_S7" S7 = 23;
        /// Saved register, x24. Since Linux 5.5.
        "PERF_REG_RISCV_S8" S8 = 24;
        /// Saved register, x25. Since Linux 5.5.
        "PERF_REG_RISCV_S9" S9 = 25;
        /// Saved register, x26. Since Linux 5.5.
        "PERF_REG_RISCV_S10" S10 = 26;
        /// Saved register, x27. Since Linux 5.5.
        "PERF_REG_RISCV_S11" S11 = 27;
        /// Temporary, x28. Since Linux 5.5.
        "PERF_REG_RISCV_T3" T3 = 28;
        /// Temporary, x29. Since Linux 5.5.
        "PERF_REG_RISCV_T4" T4 = 29;
        /// Temporary, x30. Since Linux 5.5.
        "PERF_REG_RISCV_T5" T5 = 30;
        /// Temporary, x31. Since Linux 5.5.
        "PERF_REG_RISCV_T6" T6 = 31;
    }
}
