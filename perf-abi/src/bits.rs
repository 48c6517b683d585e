//! C bit fields inside one word, and the printing of bit sets.

use core::fmt;

/// The bit that a C compiler gives to the `n`-th one-bit field of a `u64`.
///
/// The only place that knows that big-endian machines lay bit fields from the top.
pub(crate) const fn flag64(n: u32) -> u64 {
    if cfg!(target_endian = "little") { 1 << n } else { 1 << (63 - n) }
}

/// As [`flag64`], in a `u32`.
pub(crate) const fn flag32(n: u32) -> u32 {
    if cfg!(target_endian = "little") { 1 << n } else { 1 << (31 - n) }
}

/// A run of bits in a `u64` that is one number.
#[derive(Copy, Clone)]
pub(crate) struct BitField {
    shift: u32,
    width: u32,
}

impl BitField {
    /// Bits `first .. first + width` of the number, on every machine.
    pub(crate) const fn fixed(first: u32, width: u32) -> Self {
        Self { shift: first, width }
    }

    /// The C bit field that starts `first` bits after the start of the struct.
    pub(crate) const fn declared(first: u32, width: u32) -> Self {
        let shift = if cfg!(target_endian = "little") { first } else { 64 - first - width };
        Self { shift, width }
    }

    pub(crate) const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.shift
    }

    pub(crate) const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.shift
    }

    /// `word` with the field replaced; bits of `value` that do not fit are dropped.
    pub(crate) const fn set(self, word: u64, value: u64) -> u64 {
        (word & !self.mask()) | ((value << self.shift) & self.mask())
    }
}

/// Prints `A|B|label=3|0x80`: named flags, numbers that are not zero, then what has no name.
pub(crate) fn write_bits(
    f: &mut fmt::Formatter<'_>,
    bits: u64,
    names: &[(&str, u64)],
    numbers: &[(&str, u64)],
) -> fmt::Result {
    let mut rest = bits;
    let mut separator = "";
    for &(name, mask) in names {
        if rest & mask == mask && mask != 0 {
            write!(f, "{separator}{name}")?;
            rest &= !mask;
            separator = "|";
        }
    }
    for &(label, mask) in numbers {
        if rest & mask != 0 {
            write!(f, "{separator}{label}={}", (rest & mask) >> mask.trailing_zeros())?;
            rest &= !mask;
            separator = "|";
        }
    }
    if rest != 0 || separator.is_empty() {
        write!(f, "{separator}{rest:#x}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_keeps_its_neighbours() {
        let field = BitField::fixed(15, 2);
        assert_eq!(field.mask(), 0x1_8000);
        assert_eq!(field.set(u64::MAX, 1), !0x1_0000);
        assert_eq!(field.get(field.set(0, 7)), 3);
    }

    #[test]
    fn a_field_may_fill_the_word() {
        assert_eq!(BitField::fixed(0, 64).mask(), u64::MAX);
        assert_eq!(BitField::declared(0, 64).get(42), 42);
    }
}
