//! Registers of x86, 32-bit and 64-bit.

open_enum! {
    /// `enum perf_event_x86_regs`—registers of x86 by their bit in a register mask.
    ///
    /// The order differs from DWARF and from the instruction encoding. Each `XMM` register
    /// takes two bits, low half first; only [`REGS_INTR`](crate::SampleType::REGS_INTR) of a
    /// hardware event with a [`Skid`](crate::Skid) other than `ARBITRARY` samples them, where the
    /// PMU supports it.
    #[doc(alias = "perf_event_x86_regs")]
    pub struct X86Reg(u8) {
        /// Register ax. Since Linux 3.7.
        "PERF_REG_X86_AX" AX = 0;
        /// Register bx. Since Linux 3.7.
        "PERF_REG_X86_BX" BX = 1;
        /// Register cx. Since Linux 3.7.
        "PERF_REG_X86_CX" CX = 2;
        /// Register dx. Since Linux 3.7.
        "PERF_REG_X86_DX" DX = 3;
        /// Register si. Since Linux 3.7.
        "PERF_REG_X86_SI" SI = 4;
        /// Register di. Since Linux 3.7.
        "PERF_REG_X86_DI" DI = 5;
        /// Frame pointer, by convention. Since Linux 3.7.
        "PERF_REG_X86_BP" BP = 6;
        /// Stack pointer. Since Linux 3.7.
        "PERF_REG_X86_SP" SP = 7;
        /// Instruction pointer. Since Linux 3.7.
        "PERF_REG_X86_IP" IP = 8;
        /// Flags. Since Linux 3.7.
        "PERF_REG_X86_FLAGS" FLAGS = 9;
        /// Code segment. Since Linux 3.7.
        "PERF_REG_X86_CS" CS = 10;
        /// Stack segment. Since Linux 3.7.
        "PERF_REG_X86_SS" SS = 11;
        /// Data segment; 32-bit kernels only. Since Linux 3.7.
        "PERF_REG_X86_DS" DS = 12;
        /// Extra segment; 32-bit kernels only. Since Linux 3.7.
        "PERF_REG_X86_ES" ES = 13;
        /// Segment FS; 32-bit kernels only. Since Linux 3.7.
        "PERF_REG_X86_FS" FS = 14;
        /// Segment GS; 32-bit kernels only. Since Linux 3.7.
        "PERF_REG_X86_GS" GS = 15;
        /// Register r8; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R8" R8 = 16;
        /// Register r9; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R9" R9 = 17;
        /// Register r10; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R10" R10 = 18;
        /// Register r11; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R11" R11 = 19;
        /// Register r12; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R12" R12 = 20;
        /// Register r13; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R13" R13 = 21;
        /// Register r14; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R14" R14 = 22;
        /// Register r15; 64-bit only. Since Linux 3.7.
        "PERF_REG_X86_R15" R15 = 23;
        /// Low half of xmm0. Since Linux 5.2.
        "PERF_REG_X86_XMM0" XMM0 = 32;
        /// Low half of xmm1. Since Linux 5.2.
        "PERF_REG_X86_XMM1" XMM1 = 34;
        /// Low half of xmm2. Since Linux 5.2.
        "PERF_REG_X86_XMM2" XMM2 = 36;
        /// Low half of xmm3. Since Linux 5.2.
        "PERF_REG_X86_XMM3" XMM3 = 38;
        /// Low half of xmm4. Since Linux 5.2.
        "PERF_REG_X86_XMM4" XMM4 = 40;
        /// Low half of xmm5. Since Linux 5.2.
        "PERF_REG_X86_XMM5" XMM5 = 42;
        /// Low half of xmm6. Since Linux 5.2.
        "PERF_REG_X86_XMM6" XMM6 = 44;
        /// Low half of xmm7. Since Linux 5.2.
        "PERF_REG_X86_XMM7" XMM7 = 46;
        /// Low half of xmm8. Since Linux 5.2.
        "PERF_REG_X86_XMM8" XMM8 = 48;
        /// Low half of xmm9. Since Linux 5.2.
        "PERF_REG_X86_XMM9" XMM9 = 50;
        /// Low half of xmm10. Since Linux 5.2.
        "PERF_REG_X86_XMM10" XMM10 = 52;
        /// Low half of xmm11. Since Linux 5.2.
        "PERF_REG_X86_XMM11" XMM11 = 54;
        /// Low half of xmm12. Since Linux 5.2.
        "PERF_REG_X86_XMM12" XMM12 = 56;
        /// Low half of xmm13. Since Linux 5.2.
        "PERF_REG_X86_XMM13" XMM13 = 58;
        /// Low half of xmm14. Since Linux 5.2.
        "PERF_REG_X86_XMM14" XMM14 = 60;
        /// Low half of xmm15. Since Linux 5.2.
        "PERF_REG_X86_XMM15" XMM15 = 62;
    }
}

const XMM_HIGH: [&str; 16] = [
    "XMM0_HIGH",
    "XMM1_HIGH",
    "XMM2_HIGH",
    "XMM3_HIGH",
    "XMM4_HIGH",
    "XMM5_HIGH",
    "XMM6_HIGH",
    "XMM7_HIGH",
    "XMM8_HIGH",
    "XMM9_HIGH",
    "XMM10_HIGH",
    "XMM11_HIGH",
    "XMM12_HIGH",
    "XMM13_HIGH",
    "XMM14_HIGH",
    "XMM15_HIGH",
];

/// Returns the name of a register by its bit; the upper half of an `XMM` register has an odd one.
pub(super) const fn name(bit: u8) -> Option<&'static str> {
    match bit {
        // The pattern bounds the index by (63 - 32) / 2 = 15.
        #[allow(clippy::indexing_slicing)]
        32..64 if bit % 2 == 1 => Some(XMM_HIGH[(bit as usize - 32) / 2]),
        _ => X86Reg(bit).name(),
    }
}
