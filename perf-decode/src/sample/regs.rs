use perf_abi::regs::RegsAbi;

/// Registers of a sample: as many words as the event's mask has bits, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regs<'a> {
    abi: RegsAbi,
    mask: u64,
    values: &'a [u64],
}

impl<'a> Regs<'a> {
    #[inline]
    pub(super) fn new(words: &'a [u64], mask: u64) -> Option<Self> {
        let (&abi, rest) = words.split_first()?;
        let abi = RegsAbi(abi);
        if abi == RegsAbi::NONE {
            return Some(Self { abi, mask: 0, values: &[] });
        }
        rest.get(..mask.count_ones() as usize).map(|values| Self { abi, mask, values })
    }

    /// Whether the task was a 32-bit or a 64-bit one; [`RegsAbi::NONE`] if there are no registers.
    #[inline]
    #[must_use]
    pub fn abi(&self) -> RegsAbi {
        self.abi
    }

    /// The registers that are here: one bit each, numbered as the architecture does.
    #[inline]
    #[must_use]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// The values, of the lowest bit of the mask first.
    #[inline]
    #[must_use]
    pub fn values(&self) -> &'a [u64] {
        self.values
    }

    /// The value of the register with this number; `None` if it was not sampled.
    #[inline]
    #[must_use]
    pub fn get(&self, register: u8) -> Option<u64> {
        let bit = 1_u64.checked_shl(u32::from(register))?;
        if self.mask & bit == 0 {
            return None;
        }
        self.values.get((self.mask & (bit - 1)).count_ones() as usize).copied()
    }

    /// The registers by number, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u64)> + use<'a> {
        let mask = self.mask;
        (0..64).filter(move |register| mask >> register & 1 == 1).zip(self.values.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_register_is_found_by_its_bit() {
        let regs = Regs::new(&[2, 10, 30, 60], 1 << 1 | 1 << 3 | 1 << 63).unwrap();
        assert_eq!((regs.get(1), regs.get(3), regs.get(63)), (Some(10), Some(30), Some(60)));
        assert_eq!((regs.get(0), regs.get(2), regs.get(64)), (None, None, None));
        assert_eq!(regs.iter().collect::<Vec<_>>(), [(1, 10), (3, 30), (63, 60)]);
    }

    #[test]
    fn without_an_abi_there_are_no_registers() {
        let regs = Regs::new(&[0, 99], 1).unwrap();
        assert_eq!((regs.abi(), regs.get(0), regs.values().len()), (RegsAbi::NONE, None, 0));
    }
}
