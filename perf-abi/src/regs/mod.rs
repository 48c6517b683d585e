//! Sampled registers: the ABI of the task, and the registers of the mask bits.

mod arch;
mod arm64;
mod riscv;
mod x86;

pub use arch::{Architecture, register_name};
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
