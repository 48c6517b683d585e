//! The architectures that can be unwound.

use std::sync::Arc;

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{MayAllocateDuringUnwind, Module};
use gimli::{AArch64, Register, RegisterRule, X86_64 as X86Register};
use perf_abi::regs::{Architecture, Arm64Reg, X86Reg};
use perf_decode::Regs;

pub(super) type Bytes = Arc<[u8]>;

/// How unwind information restores a register of the caller.
pub(super) type Rule = RegisterRule<usize>;

/// The state that a signal interrupted.
pub(super) struct Interrupted<R> {
    pub(super) ip: u64,
    pub(super) registers: R,
    /// True if the handler runs on a separate stack (`sigaltstack`).
    pub(super) is_on_other_stack: bool,
}

pub(super) trait Machine {
    const ARCHITECTURE: Architecture;
    /// The DWARF register of the return address.
    const RETURN_ADDRESS: Register;
    const FRAME_POINTER: Register;
    type Registers;
    type Cache: Default;
    type Unwinder: Default
        + framehop::Unwinder<UnwindRegs = Self::Registers, Cache = Self::Cache, Module = Module<Bytes>>;

    /// Returns the instruction pointer, the stack pointer, and the registers to unwind with. `mask`
    /// has the valid bits of addresses.
    fn registers(sampled: &Regs<'_>, mask: u64) -> Option<(u64, u64, Self::Registers)>;
    fn stack_pointer(registers: &Self::Registers) -> u64;
    /// Returns true if framehop tracks the value of a register across frames.
    fn is_followed(register: Register) -> bool;
    /// Returns true if this rule for the return address marks an outermost function.
    fn is_outermost(return_address: Option<&Rule>) -> bool;
    /// Returns true if the frame pointer leads to the caller of code whose CFA is based on `cfa`;
    /// `None` if unknown.
    fn has_frame_pointer(cfa: Register, frame_pointer: Option<&Rule>) -> Option<bool>;
    /// Returns true if the frame pointer marks the outermost frame according to the ABI.
    fn is_last_frame(registers: &Self::Registers, read: impl FnMut(u64) -> Result<u64, ()>) -> bool;
    /// Returns true if the frame pointer is 0 although the CFA is based on it.
    fn has_lost_frame(registers: &Self::Registers, by_frame_pointer: Option<bool>) -> bool;
    /// Returns the state that a signal interrupted, if the kernel's frame layout is known.
    fn interrupted(
        registers: &Self::Registers,
        read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<Interrupted<Self::Registers>, ()>>;
}

#[derive(Debug)]
pub(super) struct X86_64;

impl Machine for X86_64 {
    const ARCHITECTURE: Architecture = Architecture::X86_64;
    const RETURN_ADDRESS: Register = X86Register::RA;
    const FRAME_POINTER: Register = X86Register::RBP;
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

    fn is_followed(register: Register) -> bool {
        [X86Register::RA, X86Register::RSP, X86Register::RBP].contains(&register)
    }

    fn is_outermost(return_address: Option<&Rule>) -> bool {
        matches!(return_address, None | Some(RegisterRule::Undefined))
    }

    /// From the instruction that sets the frame pointer, compilers base the CFA on it.
    fn has_frame_pointer(cfa: Register, _: Option<&Rule>) -> Option<bool> {
        match cfa {
            X86Register::RBP => Some(true),
            X86Register::RSP => Some(false),
            _ => None,
        }
    }

    fn is_last_frame(registers: &Self::Registers, _: impl FnMut(u64) -> Result<u64, ()>) -> bool {
        registers.bp() == 0
    }

    fn has_lost_frame(registers: &Self::Registers, by_frame_pointer: Option<bool>) -> bool {
        by_frame_pointer == Some(true) && registers.bp() == 0
    }

    /// Reads `struct rt_sigframe`, because framehop cannot evaluate libc's unwind information for
    /// it, which dereferences memory.
    fn interrupted(
        registers: &Self::Registers,
        mut read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<Interrupted<Self::Registers>, ()>> {
        // After the handler, the stack pointer points to `struct ucontext`. Offsets of its fields
        // `uc_stack`, which the thread passed to sigaltstack(2), and `uc_mcontext.gregs`.
        const OTHER_STACK: u64 = 16;
        const OTHER_STACK_SIZE: u64 = 32;
        const BP: u64 = 120;
        const SP: u64 = 160;
        const IP: u64 = 168;
        let mut at = |offset| registers.sp().checked_add(offset).ok_or(()).and_then(&mut read);
        let mut found = || {
            // Read the highest address first: if it is missing, the reported size is enough for the
            // whole struct.
            let ip = at(IP)?;
            let (start, size) = (at(OTHER_STACK)?, at(OTHER_STACK_SIZE)?);
            Ok(Interrupted {
                ip,
                registers: UnwindRegsX86_64::new(ip, at(SP)?, at(BP)?),
                is_on_other_stack: registers.sp().wrapping_sub(start) < size,
            })
        };
        Some(found())
    }
}

#[derive(Debug)]
pub(super) struct Arm64;

impl Machine for Arm64 {
    const ARCHITECTURE: Architecture = Architecture::ARM64;
    const RETURN_ADDRESS: Register = AArch64::X30;
    const FRAME_POINTER: Register = AArch64::X29;
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

    fn is_followed(register: Register) -> bool {
        [AArch64::SP, AArch64::X29, AArch64::X30].contains(&register)
    }

    /// Leaves the decision to framehop: compilers omit the rule in functions that do not move the
    /// register, and code that starts a thread has an explicit rule but can be sampled before it
    /// applies.
    fn is_outermost(_: Option<&Rule>) -> bool {
        false
    }

    /// Compilers base the CFA on the stack pointer even if they keep a frame pointer, which is
    /// saved then.
    fn has_frame_pointer(_: Register, frame_pointer: Option<&Rule>) -> Option<bool> {
        Some(matches!(frame_pointer, Some(RegisterRule::Offset(_))))
    }

    fn is_last_frame(registers: &Self::Registers, mut read: impl FnMut(u64) -> Result<u64, ()>) -> bool {
        registers.fp() == 0 || read(registers.fp()) == Ok(0)
    }

    /// framehop returns an error when it reads address 0.
    fn has_lost_frame(_: &Self::Registers, _: Option<bool>) -> bool {
        false
    }

    /// Not needed: the unwind information of the vdso works.
    fn interrupted(
        _: &Self::Registers,
        _: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<Interrupted<Self::Registers>, ()>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SP: u64 = 0x7fff_0000;

    #[test]
    fn interrupted_registers_are_where_the_kernel_puts_them() {
        let interrupted = |len: u64| {
            let words: Vec<u64> = (0..len / 8).map(|word| word * 8).collect();
            let read = |address: u64| words.get(((address - SP) / 8) as usize).copied().ok_or(());
            let registers = UnwindRegsX86_64::new(0, SP, 0);
            X86_64::interrupted(&registers, read).expect("a known place")
        };
        // In `struct ucontext` of x86-64: entries 16, 11 and 17 of `uc_mcontext.gregs`, which
        // begins at 40.
        let found = interrupted(40 + 17 * 8).expect("all words");
        let registers = found.registers;
        assert_eq!((found.ip, registers.sp(), registers.bp()), (40 + 16 * 8, 40 + 15 * 8, 40 + 10 * 8));
        // The `uc_stack` starts at 16 and has 32 bytes, so that the handler is elsewhere.
        assert!(!found.is_on_other_stack);
        assert!(interrupted(40 + 16 * 8).is_err());
    }

    #[test]
    fn handler_is_on_its_own_stack_if_that_has_the_stack_pointer() {
        let registers = UnwindRegsX86_64::new(0, SP, 0);
        for (start, size, is_on_other_stack) in [
            (SP - 0x1000, 0x2000, true),
            (SP, 1, true),
            (SP - 0x1000, 0x1000, false),
            (SP + 8, 0x1000, false),
            (0, 0, false),
        ] {
            let read = |address| {
                Ok(match address - SP {
                    16 => start,
                    32 => size,
                    _ => 0x40_0000,
                })
            };
            let found = X86_64::interrupted(&registers, read).expect("a known place").expect("all words");
            assert_eq!(found.is_on_other_stack, is_on_other_stack, "{start:#x}, {size:#x}");
        }
    }
}
