//! Sampled registers: whether there are any, and what the bits of the masks mean.

mod arch;
mod arm64;
mod riscv;
mod x86;

pub use arch::{Architecture, register_name};
pub use arm64::Arm64Reg;
pub use riscv::RiscvReg;
pub use x86::X86Reg;

open_enum! {
    /// `enum perf_sample_regs_abi`—the first word of sampled registers: whose registers they are.
    ///
    /// After [`NONE`](Self::NONE) nothing follows; after the other two, one `u64` for each bit of the attr's
    /// mask. A value that is not known here makes the rest of the sample unreadable.
    #[doc(alias = "perf_sample_regs_abi")]
    pub struct RegsAbi(u64) {
        /// No registers. Since Linux 3.7.
        "PERF_SAMPLE_REGS_ABI_NONE" NONE = 0;
        /// Of a 32-bit task; each still takes 64 bits. Since Linux 3.7.
        "PERF_SAMPLE_REGS_ABI_32" ABI_32 = 1;
        /// Of a 64-bit task. Since Linux 3.7.
        "PERF_SAMPLE_REGS_ABI_64" ABI_64 = 2;
    }
}
