//! The two machines whose stacks can be followed.

use std::sync::Arc;

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{MayAllocateDuringUnwind, Module};
use perf_abi::regs::{Architecture, Arm64Reg, X86Reg};
use perf_decode::Regs;

/// The bytes of a section.
pub(super) type Bytes = Arc<[u8]>;

pub(super) trait Machine {
    const ARCHITECTURE: Architecture;
    type Registers;
    type Cache: Default;
    type Unwinder: Default
        + framehop::Unwinder<UnwindRegs = Self::Registers, Cache = Self::Cache, Module = Module<Bytes>>;

    /// Returns the instruction pointer, the stack pointer, and the registers to unwind with. `mask` has the bits of
    /// addresses.
    fn registers(sampled: &Regs<'_>, mask: u64) -> Option<(u64, u64, Self::Registers)>;
    fn stack_pointer(registers: &Self::Registers) -> u64;
}

#[derive(Debug)]
pub(super) struct X86_64;

impl Machine for X86_64 {
    const ARCHITECTURE: Architecture = Architecture::X86_64;
    type Registers = UnwindRegsX86_64;
    type Cache = CacheX86_64<MayAllocateDuringUnwind>;
    type Unwinder = UnwinderX86_64<Bytes>;

    fn registers(sampled: &Regs<'_>, _: u64) -> Option<(u64, u64, Self::Registers)> {
        let [ip, sp, bp] = [X86Reg::IP, X86Reg::SP, X86Reg::BP].map(|register| sampled.get(register.0));
        let (ip, sp) = (ip?, sp?);
        Some((ip, sp, UnwindRegsX86_64::new(ip, sp, bp?)))
    }

    fn stack_pointer(registers: &Self::Registers) -> u64 {
        registers.sp()
    }
}

#[derive(Debug)]
pub(super) struct Arm64;

impl Machine for Arm64 {
    const ARCHITECTURE: Architecture = Architecture::ARM64;
    type Registers = UnwindRegsAarch64;
    type Cache = CacheAarch64<MayAllocateDuringUnwind>;
    type Unwinder = UnwinderAarch64<Bytes>;

    fn registers(sampled: &Regs<'_>, mask: u64) -> Option<(u64, u64, Self::Registers)> {
        let [pc, sp, fp, lr] =
            [Arm64Reg::PC, Arm64Reg::SP, Arm64Reg(29), Arm64Reg::LR].map(|register| sampled.get(register.0));
        let (pc, sp, mask) = (pc?, sp?, PtrAuthMask(mask));
        Some((pc, sp, UnwindRegsAarch64::new_with_ptr_auth_mask(mask, lr?, sp, fp?)))
    }

    fn stack_pointer(registers: &Self::Registers) -> u64 {
        registers.sp()
    }
}
