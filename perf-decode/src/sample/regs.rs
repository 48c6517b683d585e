//! Registers of samples.

use perf_abi::regs::RegsAbi;

/// Registers of a sample: as many words as the event's mask has bits, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regs<'a> {
    abi: RegsAbi,
    mask: u64,
    values: &'a [u64],
}

impl<'a> Regs<'a> {
    /// Views the words of a register field: the ABI, then a value per bit of `mask` unless the ABI
    /// is [`RegsAbi::NONE`]. `None` if there are too few words. For tests of code that takes
    /// registers.
    ///
    /// ```
    /// use perf_abi::regs::RegsAbi;
    /// use perf_decode::Regs;
    ///
    /// let regs = Regs::from_words(&[RegsAbi::ABI_64.0, 10, 30], 1 << 1 | 1 << 3).unwrap();
    /// assert_eq!(regs.get(3), Some(30));
    /// ```
    #[inline]
    #[must_use]
    pub fn from_words(words: &'a [u64], mask: u64) -> Option<Self> {
        let (&abi, rest) = words.split_first()?;
        let abi = RegsAbi(abi);
        if abi == RegsAbi::NONE {
            return Some(Self { abi, mask: 0, values: &[] });
        }
        rest.get(..mask.count_ones() as usize).map(|values| Self { abi, mask, values })
    }

    /// Views words that were validated.
    #[inline(always)]
    pub(super) fn validated(words: &'a [u64], mask: u64) -> Self {
        Self::from_words(words, mask).unwrap_or(Self { abi: RegsAbi::NONE, mask: 0, values: &[] })
    }

    /// Returns whether the task was 32-bit or 64-bit; [`RegsAbi::NONE`] without registers.
    #[inline]
    pub fn abi(&self) -> RegsAbi {
        self.abi
    }

    /// Returns whether there are registers, or only an ABI of none.
    #[inline]
    pub(super) fn is_recorded(&self) -> bool {
        self.abi != RegsAbi::NONE
    }

    /// Returns the mask of the registers: one bit each, numbered as the architecture does.
    #[inline]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Returns the values, lowest bit of the mask first.
    #[inline]
    pub fn values(&self) -> &'a [u64] {
        self.values
    }

    /// Returns the value of the register with this number; `None` if it was not sampled.
    #[inline]
    #[must_use]
    pub fn get(&self, register: u8) -> Option<u64> {
        let bit = 1_u64.checked_shl(u32::from(register))?;
        if self.mask & bit == 0 {
            return None;
        }
        self.values.get((self.mask & (bit - 1)).count_ones() as usize).copied()
    }

    /// Returns the registers by number, lowest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u8, u64)> + use<'a> {
        let mut mask = self.mask;
        self.values.iter().map(move |value| {
            let register = mask.trailing_zeros() as u8;
            mask &= mask.wrapping_sub(1);
            (register, *value)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn register_is_found_by_its_bit() {
        let regs = Regs::from_words(&[2, 10, 30, 60], 1 << 1 | 1 << 3 | 1 << 63).unwrap();
        assert_eq!((regs.abi(), regs.mask()), (RegsAbi::ABI_64, 1 << 1 | 1 << 3 | 1 << 63));
        assert_eq!((regs.get(1), regs.get(3), regs.get(63)), (Some(10), Some(30), Some(60)));
        assert_eq!((regs.get(0), regs.get(2), regs.get(64)), (None, None, None));
        assert_eq!(regs.iter().collect::<Vec<_>>(), [(1, 10), (3, 30), (63, 60)]);
    }

    #[test]
    fn abi_none_has_no_registers_and_no_mask() {
        let regs = Regs::from_words(&[0, 99], 1).unwrap();
        assert_eq!((regs.abi(), regs.mask(), regs.get(0), regs.values().len()), (RegsAbi::NONE, 0, None, 0));
    }
}
