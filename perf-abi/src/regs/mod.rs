//! Sampled registers: the ABI of the task, and the registers of the mask bits.

mod arm64;
mod riscv;
mod x86;

pub use arm64::Arm64Reg;
pub use riscv::RiscvReg;
pub use x86::X86Reg;

open_enum! {
    /// `enum perf_sample_regs_abi`—the ABI of the sampled task, the first word of sampled
    /// registers.
    ///
    /// Nothing follows [`NONE`](Self::NONE); a `u64` for each bit of the attr's mask follows the
    /// other two. The fields after an unknown value cannot be decoded.
    #[doc(alias = "perf_sample_regs_abi")]
    pub struct RegsAbi(u64) {
        /// No registers. Since Linux 3.7.
        "PERF_SAMPLE_REGS_ABI_NONE" NONE = 0;
        /// 32-bit task; each register still takes 64 bits. Since Linux 3.7.
        "PERF_SAMPLE_REGS_ABI_32" ABI_32 = 1;
        /// 64-bit task. Since Linux 3.7.
        "PERF_SAMPLE_REGS_ABI_64" ABI_64 = 2;
    }
}

open_enum! {
    /// `EM_*`—the ELF machine number of an architecture with register names in this crate.
    ///
    /// # References
    ///  - `include/uapi/linux/elf-em.h`
    pub struct Architecture(u16) {
        /// x86, 32-bit.
        "EM_386" X86 = 3;
        /// x86, 64-bit.
        "EM_X86_64" X86_64 = 62;
        /// Arm, 64-bit.
        "EM_AARCH64" ARM64 = 183;
        /// RISC-V, 32-bit or 64-bit.
        "EM_RISCV" RISCV64 = 243;
    }
}

impl Architecture {
    /// The architecture that this program is built for; `Architecture(0)` if its registers have no
    /// names here.
    pub const NATIVE: Self = if cfg!(target_arch = "x86_64") {
        Self::X86_64
    } else if cfg!(target_arch = "x86") {
        Self::X86
    } else if cfg!(target_arch = "aarch64") {
        Self::ARM64
    } else if cfg!(any(target_arch = "riscv64", target_arch = "riscv32")) {
        Self::RISCV64
    } else {
        Self(0)
    };

    /// Returns the mask of the registers that every CPU of this architecture has; 0 for other
    /// architectures.
    ///
    /// The kernel fails with `EINVAL` for a register that it cannot sample.
    pub const fn registers(self) -> u64 {
        match self {
            Self::X86 => 0xffff,
            Self::X86_64 => 0xff_0fff,
            Self::ARM64 => 0x1_ffff_ffff,
            Self::RISCV64 => 0xffff_ffff,
            _ => 0,
        }
    }
}

/// Returns the name of a register by its bit in `sample_regs_user` or `sample_regs_intr`.
///
/// `None` if this crate has no name for the bit or the architecture.
pub const fn register_name(arch: Architecture, bit: u8) -> Option<&'static str> {
    match arch {
        Architecture::X86 if bit < 16 => X86Reg(bit).name(),
        // The kernel fails with EINVAL for the four data segments of 64-bit tasks.
        Architecture::X86_64 if matches!(bit, 12..16) => None,
        Architecture::X86_64 => x86::name(bit),
        Architecture::ARM64 => Arm64Reg(bit).name(),
        Architecture::RISCV64 => RiscvReg(bit).name(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn every_register_of_a_mask_has_a_name() {
        for arch in [Architecture::X86, Architecture::X86_64, Architecture::ARM64, Architecture::RISCV64] {
            let named = (0..64)
                .filter(|&bit| register_name(arch, bit).is_some())
                .fold(0, |mask, bit| mask | 1_u64 << bit);
            assert_eq!(named & arch.registers(), arch.registers(), "{arch}");
        }
    }

    #[test]
    fn names_follow_the_architecture() {
        assert_eq!(register_name(Architecture::X86_64, 8), Some("IP"));
        assert_eq!(register_name(Architecture::X86_64, 12), None);
        assert_eq!(register_name(Architecture::X86, 12), Some("DS"));
        assert_eq!(register_name(Architecture::X86, 16), None);
        assert_eq!(register_name(Architecture::X86_64, 35), Some("XMM1_HIGH"));
        assert_eq!(register_name(Architecture::ARM64, 46), Some("VG"));
        assert_eq!(register_name(Architecture::RISCV64, 0), Some("PC"));
        assert_eq!(register_name(Architecture(0), 0), None);
    }

    #[test]
    fn masks_are_the_registers_of_every_cpu() {
        let masks = Architecture::ALL.iter().map(|arch| arch.registers());
        assert!(masks.eq([0xffff, 0xff_0fff, 0x1_ffff_ffff, 0xffff_ffff]));
        assert_eq!(Architecture(0).registers(), 0);
    }

    #[test]
    fn the_native_architecture_is_that_of_the_target() {
        let native = match std::env::consts::ARCH {
            "x86" => Architecture::X86,
            "x86_64" => Architecture::X86_64,
            "aarch64" => Architecture::ARM64,
            "riscv32" | "riscv64" => Architecture::RISCV64,
            _ => Architecture(0),
        };
        assert_eq!(Architecture::NATIVE, native);
    }

    #[test]
    fn every_bit_of_x86_64_has_the_name_of_its_register() {
        let names: Vec<_> = (0..=64).map(|bit| register_name(Architecture::X86_64, bit)).collect();
        assert_eq!(names[11..17], [Some("SS"), None, None, None, None, Some("R8")]);
        assert_eq!(names[23..33], [&[Some("R15")], &[None; 8][..], &[Some("XMM0")]].concat());
        assert_eq!(names[33..35], [Some("XMM0_HIGH"), Some("XMM1")]);
        assert_eq!(names[62..], [Some("XMM15"), Some("XMM15_HIGH"), None]);
        assert_eq!(register_name(Architecture::X86, 15), Some("GS"));
    }
}
