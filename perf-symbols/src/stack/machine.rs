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
    /// Returns the registers that a signal has interrupted, if it is known where the kernel puts them.
    fn interrupted(
        registers: &Self::Registers,
        read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<(u64, Self::Registers), ()>>;
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

    /// `struct rt_sigframe`: framehop cannot evaluate the unwind information of libc for it, which reads memory.
    fn interrupted(
        registers: &Self::Registers,
        mut read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<(u64, Self::Registers), ()>> {
        // Offsets of `uc_mcontext.gregs` in `struct ucontext`, to which the stack pointer leads after the handler.
        const BP: u64 = 120;
        const SP: u64 = 160;
        const IP: u64 = 168;
        let mut at = |offset| registers.sp().checked_add(offset).ok_or(()).and_then(&mut read);
        // The highest one first, so that a copy that ends below is long enough for all the next time.
        let found = at(IP).and_then(|ip| Ok((ip, UnwindRegsX86_64::new(ip, at(SP)?, at(BP)?))));
        Some(found)
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

    /// The unwind information of the vdso leads on.
    fn interrupted(
        _: &Self::Registers,
        _: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<(u64, Self::Registers), ()>> {
        None
    }
}
