//! The architectures that can be unwound.

use std::ops::Range;
use std::sync::Arc;

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{MayAllocateDuringUnwind, Module};
use gimli::{AArch64, Register, RegisterRule, X86_64 as X86Register};
use perf_abi::regs::{Architecture, Arm64Reg, X86Reg};
use perf_decode::Regs;

use super::registers::FrameRegisters;
use super::start_code;
#[cfg(feature = "names")]
use super::trampoline;

pub(super) type Bytes = Arc<[u8]>;

/// How unwind information restores a register of the caller.
pub(super) type Rule = RegisterRule<usize>;

/// The state that a signal interrupted.
pub(super) struct Interrupted<R> {
    pub(super) ip: u64,
    pub(super) registers: R,
    pub(super) all: FrameRegisters,
    /// True if the handler runs on a separate stack (`sigaltstack`).
    pub(super) is_on_other_stack: bool,
}

pub(super) trait Machine {
    const ARCHITECTURE: Architecture;
    /// The DWARF register of the return address.
    const RETURN_ADDRESS: Register;
    const FRAME_POINTER: Register;
    const STACK_POINTER: Register;
    /// The kernel's number of each DWARF register.
    const SAMPLED: &'static [u8];
    /// The registers that framehop follows.
    type Registers;
    type Cache: Default;
    type Unwinder: Default
        + framehop::Unwinder<UnwindRegs = Self::Registers, Cache = Self::Cache, Module = Module<Bytes>>;

    /// Returns the instruction pointer, the stack pointer, and the registers to unwind with. `mask`
    /// has the valid bits of addresses.
    fn registers(sampled: &Regs<'_>, mask: u64) -> Option<(u64, u64, Self::Registers)>;
    /// Returns all sampled registers.
    fn all_registers(sampled: &Regs<'_>) -> FrameRegisters {
        let mut all = FrameRegisters::new();
        for (number, &sampled_number) in (0..).zip(Self::SAMPLED) {
            all.set(Register(number), sampled.get(sampled_number));
        }
        all
    }
    fn stack_pointer(registers: &Self::Registers) -> u64;
    /// Copies the values that framehop follows into a set of all registers.
    fn write_to(registers: &Self::Registers, all: &mut FrameRegisters);
    /// Sets the registers that framehop follows. Returns the address in the caller without pointer
    /// authentication; `None` if a register is unknown.
    fn set(registers: &mut Self::Registers, return_address: u64, all: &FrameRegisters) -> Option<u64>;
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
    /// Leaves `_init` or `_fini`, whose section is given, and returns the return address. `None` if
    /// the code has no known form.
    fn leave_start_code(
        _: &mut Self::Registers,
        _: (u64, &Range<u64>),
        _: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<u64, ()>> {
        None
    }
    /// Leaves a trampoline of Python, `offset` bytes after its start, and returns the return
    /// address. `None` if the code has no known form.
    #[cfg(feature = "names")]
    fn leave_trampoline(
        _: &mut Self::Registers,
        _: (u64, u64),
        _: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<u64, ()>> {
        None
    }
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
    const STACK_POINTER: Register = X86Register::RSP;
    const SAMPLED: &'static [u8] = &[
        X86Reg::AX.0,
        X86Reg::DX.0,
        X86Reg::CX.0,
        X86Reg::BX.0,
        X86Reg::SI.0,
        X86Reg::DI.0,
        X86Reg::BP.0,
        X86Reg::SP.0,
        X86Reg::R8.0,
        X86Reg::R9.0,
        X86Reg::R10.0,
        X86Reg::R11.0,
        X86Reg::R12.0,
        X86Reg::R13.0,
        X86Reg::R14.0,
        X86Reg::R15.0,
        X86Reg::IP.0,
    ];
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

    fn write_to(registers: &Self::Registers, all: &mut FrameRegisters) {
        all.set(X86Register::RA, Some(registers.ip()));
        all.set(X86Register::RSP, Some(registers.sp()));
        all.set(X86Register::RBP, Some(registers.bp()));
    }

    fn set(registers: &mut Self::Registers, return_address: u64, all: &FrameRegisters) -> Option<u64> {
        let (sp, bp) = (all.get(X86Register::RSP)?, all.get(X86Register::RBP)?);
        *registers = UnwindRegsX86_64::new(return_address, sp, bp);
        Some(return_address)
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

    fn leave_start_code(
        registers: &mut Self::Registers,
        (address, section): (u64, &Range<u64>),
        mut read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<u64, ()>> {
        let cfa = registers.sp().checked_add(start_code::x86_64(address, section)?)?;
        Some(read(cfa - 8).inspect(|&return_address| {
            *registers = UnwindRegsX86_64::new(return_address, cfa, registers.bp());
        }))
    }

    #[cfg(feature = "names")]
    fn leave_trampoline(
        registers: &mut Self::Registers,
        (offset, len): (u64, u64),
        mut read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Result<u64, ()>> {
        let trampoline = trampoline::x86_64(offset, len)?;
        let sp = registers.sp();
        let cfa = sp.checked_add(trampoline.cfa)?;
        let mut found = || {
            let return_address = read(cfa - 8)?;
            let bp = if trampoline.is_frame_pointer_saved { read(sp)? } else { registers.bp() };
            *registers = UnwindRegsX86_64::new(return_address, cfa, bp);
            Ok(return_address)
        };
        Some(found())
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
        const GREGS: u64 = 40;
        const IP: u64 = GREGS + 16 * 8;
        /// The order of `gregs`, in which the instruction pointer follows.
        const ORDER: [Register; 16] = [
            X86Register::R8,
            X86Register::R9,
            X86Register::R10,
            X86Register::R11,
            X86Register::R12,
            X86Register::R13,
            X86Register::R14,
            X86Register::R15,
            X86Register::RDI,
            X86Register::RSI,
            X86Register::RBP,
            X86Register::RBX,
            X86Register::RDX,
            X86Register::RAX,
            X86Register::RCX,
            X86Register::RSP,
        ];
        let mut at = |offset| registers.sp().checked_add(offset).ok_or(()).and_then(&mut read);
        let mut found = || {
            // Read the highest address first: if it is missing, the reported size is enough for the
            // whole struct.
            let ip = at(IP)?;
            let (start, size) = (at(OTHER_STACK)?, at(OTHER_STACK_SIZE)?);
            let mut all = FrameRegisters::new();
            for (register, offset) in ORDER.into_iter().zip((GREGS..).step_by(8)) {
                all.set(register, Some(at(offset)?));
            }
            all.set(X86Register::RA, Some(ip));
            let [sp, bp] = [X86Register::RSP, X86Register::RBP].map(|register| all.get(register).ok_or(()));
            Ok(Interrupted {
                ip,
                registers: UnwindRegsX86_64::new(ip, sp?, bp?),
                all,
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
    const STACK_POINTER: Register = AArch64::SP;
    /// The kernel numbers registers as DWARF does: x0 to x30, the stack pointer, the program
    /// counter.
    const SAMPLED: &'static [u8] = &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
        28, 29, 30, 31, 32,
    ];
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

    fn write_to(registers: &Self::Registers, all: &mut FrameRegisters) {
        all.set(AArch64::SP, Some(registers.sp()));
        all.set(AArch64::X29, Some(registers.fp()));
        all.set(AArch64::X30, Some(registers.lr()));
    }

    fn set(registers: &mut Self::Registers, return_address: u64, all: &FrameRegisters) -> Option<u64> {
        let (sp, fp) = (all.get(AArch64::SP)?, all.get(AArch64::X29)?);
        // Removes the pointer authentication.
        registers.set_lr(return_address);
        registers.set_sp(sp);
        registers.set_fp(fp);
        Some(registers.lr())
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
