//! Follows all registers through a stack, at no cost where three are enough.

use super::machine::Machine;
use super::registers::FrameRegisters;

/// A frame that was left without restoring all registers.
pub(super) enum Passed {
    /// By an entry of unwind information.
    Entry {
        /// Index of the file.
        file: usize,
        /// Index of the table of the file.
        table: u8,
        /// The address in the file.
        address: u64,
        /// Distance between addresses of the process and the file.
        base: u64,
        cfa: u64,
    },
    /// Code that changes the stack pointer and frame pointer only.
    Trampoline,
    /// By its frame pointer: the function may have saved registers anywhere.
    FramePointer,
}

/// All registers of a frame, and the frames since, whose entries are evaluated only if a later one
/// needs more registers than framehop follows. Most stacks never do.
pub(super) struct Trail {
    pub(super) registers: FrameRegisters,
    pub(super) passed: Vec<Passed>,
}

impl Trail {
    /// Starts at a frame with these registers.
    pub(super) fn restart(&mut self, registers: &FrameRegisters) {
        self.registers = *registers;
        self.passed.clear();
    }

    /// Brings the registers to the current frame. `restore` evaluates the entry of a passed frame;
    /// it returns `None` if it cannot.
    pub(super) fn catch_up<M: Machine>(
        &mut self,
        current: &M::Registers,
        mut restore: impl FnMut(&Passed, &FrameRegisters) -> Option<FrameRegisters>,
    ) {
        for passed in self.passed.drain(..) {
            match restore(&passed, &self.registers) {
                Some(registers) => self.registers = registers,
                None => self.registers.forget(),
            }
        }
        M::write_to(current, &mut self.registers);
    }
}

impl Default for Trail {
    fn default() -> Self {
        Self { registers: FrameRegisters::new(), passed: Vec::new() }
    }
}
