//! All registers of a frame.

use gimli::Register;

/// Number of DWARF registers that are followed: 17 on x86-64 (the last one is the return address),
/// and 33 on arm64 (the last ones are the stack pointer and the program counter). Vector registers
/// never lead to a caller.
const REGISTERS: usize = 33;

/// The values of registers in one frame, by DWARF number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameRegisters {
    values: [u64; REGISTERS],
    /// Bit mask of the registers with a value.
    known: u64,
}

impl FrameRegisters {
    pub(super) const fn new() -> Self {
        Self { values: [0; REGISTERS], known: 0 }
    }

    /// Returns the value of a register; `None` if it is unknown in this frame.
    pub(super) fn get(&self, register: Register) -> Option<u64> {
        let value = self.values.get(usize::from(register.0))?;
        (self.known >> register.0 & 1 == 1).then_some(*value)
    }

    /// Sets the value of a register, or marks it as unknown. Ignores registers that are not
    /// followed.
    pub(super) fn set(&mut self, register: Register, value: Option<u64>) {
        let Some(slot) = self.values.get_mut(usize::from(register.0)) else { return };
        let bit = 1 << register.0;
        match value {
            Some(value) => {
                *slot = value;
                self.known |= bit;
            }
            None => self.known &= !bit,
        }
    }

    /// Marks all registers as unknown.
    pub(super) fn forget(&mut self) {
        self.known = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_has_the_last_value_until_it_is_forgotten() {
        let mut registers = FrameRegisters::new();
        assert_eq!(registers.get(Register(3)), None);
        registers.set(Register(3), Some(7));
        registers.set(Register(32), Some(8));
        for outside in [33, 63, 64, u16::MAX] {
            registers.set(Register(outside), Some(9));
            assert_eq!(registers.get(Register(outside)), None);
        }
        assert_eq!([3, 32].map(|number| registers.get(Register(number))), [Some(7), Some(8)]);
        registers.set(Register(3), None);
        assert_eq!([3, 32].map(|number| registers.get(Register(number))), [None, Some(8)]);
        registers.forget();
        assert_eq!(registers.get(Register(32)), None);
    }
}
