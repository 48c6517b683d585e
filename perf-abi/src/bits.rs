//! C bit fields in one word, and the printing of bit sets.

use core::fmt;

const BIG_ENDIAN: bool = cfg!(target_endian = "big");

/// Returns the lowest bit of a C bit field that starts `first` bits after the start of a word.
///
/// Big-endian machines lay out bit fields from the most significant bit; besides this, only
/// `BpfInsn` depends on it. The byte order is a parameter so that tests reach both.
const fn shift(big_endian: bool, word: u32, first: u32, width: u32) -> u32 {
    if big_endian { word - first - width } else { first }
}

/// Returns the bit that a C compiler assigns to the `n`-th one-bit field of a `u64`.
pub(crate) const fn flag64(n: u32) -> u64 {
    1 << shift(BIG_ENDIAN, 64, n, 1)
}

/// Like [`flag64`], in a `u32`.
pub(crate) const fn flag32(n: u32) -> u32 {
    1 << shift(BIG_ENDIAN, 32, n, 1)
}

/// A run of bits in a `u64` that holds one number.
#[derive(Copy, Clone)]
pub(crate) struct BitField {
    shift: u32,
    width: u32,
}

impl BitField {
    /// Returns the field of bits `first .. first + width` of the number, in both byte orders.
    pub(crate) const fn fixed(first: u32, width: u32) -> Self {
        Self { shift: first, width }
    }

    /// Returns the C bit field that starts `first` bits after the start of the struct.
    pub(crate) const fn declared(first: u32, width: u32) -> Self {
        Self { shift: shift(BIG_ENDIAN, 64, first, width), width }
    }

    pub(crate) const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.shift
    }

    pub(crate) const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.shift
    }

    /// Returns `word` with the field replaced; bits of `value` that do not fit are dropped.
    pub(crate) const fn set(self, word: u64, value: u64) -> u64 {
        (word & !self.mask()) | ((value << self.shift) & self.mask())
    }
}

/// Prints `A|B|label=3|0x80`: named flags, numbers other than 0, then the bits without a name.
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
    fn setting_a_field_keeps_the_other_bits() {
        let field = BitField::fixed(15, 2);
        assert_eq!(field.mask(), 0x1_8000);
        assert_eq!(field.set(u64::MAX, 1), !0x1_0000);
        assert_eq!(field.get(field.set(0, 7)), 3);
    }

    #[test]
    fn a_field_can_fill_the_word() {
        assert_eq!(BitField::fixed(0, 64).mask(), u64::MAX);
        assert_eq!(BitField::declared(0, 64).get(42), 42);
    }

    #[test]
    fn big_endian_machines_count_bit_fields_from_the_top() {
        assert_eq!((shift(true, 64, 0, 1), shift(true, 32, 5, 1), shift(true, 64, 4, 16)), (63, 26, 44));
        assert_eq!((shift(false, 64, 0, 1), shift(false, 32, 5, 1), shift(false, 64, 4, 16)), (0, 5, 4));
    }

    #[test]
    fn bit_fields_follow_the_byte_order() {
        let first = if cfg!(target_endian = "little") { (1, 1, 0x7) } else { (1 << 63, 1 << 31, 0x7 << 61) };
        assert_eq!((flag64(0), flag32(0), BitField::declared(0, 3).mask()), first);
        let fifth = if cfg!(target_endian = "little") { (0x20, 0x20) } else { (1 << 58, 1 << 26) };
        assert_eq!((flag64(5), flag32(5)), fifth);
        assert_eq!(BitField::declared(4, 16).mask().count_ones(), 16);
    }
}
