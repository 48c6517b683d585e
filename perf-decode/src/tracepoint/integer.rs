//! Integers in a payload: the one load that everything else here is for.

/// Size of an integer; holding one proves that the machine has such an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl Width {
    pub(super) fn from_bytes(bytes: u32) -> Option<Self> {
        match bytes {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// Loads the integer at `start`, extended to 64 bits by its own sign if it is `signed`.
#[inline]
pub(super) fn load(raw: &[u8], start: usize, width: Width, signed: bool) -> Option<u64> {
    Some(match (width, signed) {
        (Width::One, false) => u64::from(u8::from_ne_bytes(chunk(raw, start)?)),
        (Width::Two, false) => u64::from(u16::from_ne_bytes(chunk(raw, start)?)),
        (Width::Four, false) => u64::from(u32::from_ne_bytes(chunk(raw, start)?)),
        (Width::One, true) => bits(i64::from(i8::from_ne_bytes(chunk(raw, start)?))),
        (Width::Two, true) => bits(i64::from(i16::from_ne_bytes(chunk(raw, start)?))),
        (Width::Four, true) => bits(i64::from(i32::from_ne_bytes(chunk(raw, start)?))),
        (Width::Eight, _) => u64::from_ne_bytes(chunk(raw, start)?),
    })
}

#[inline]
fn bits(value: i64) -> u64 {
    u64::from_ne_bytes(value.to_ne_bytes())
}

/// The same 64 bits with a sign; the counterpart of what `load` does to signed fields.
#[inline]
pub(super) fn with_sign(bits: u64) -> i64 {
    i64::from_ne_bytes(bits.to_ne_bytes())
}

#[inline]
fn chunk<const N: usize>(raw: &[u8], start: usize) -> Option<[u8; N]> {
    raw.get(start..start.checked_add(N)?)?.try_into().ok()
}

/// A field bound as an integer of 1, 2, 4 or 8 bytes: numbers, enums, flags and pointers.
///
/// Made by [`Field::integer`](super::Field::integer) and [`Format::integer`](super::Format::integer). Holds no borrow:
/// keep it for as long as the tracepoint keeps its layout, which is this boot (for modules, this load).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerField {
    pub(super) offset: u32,
    pub(super) width: Width,
    pub(super) signed: bool,
}

impl IntegerField {
    /// The value in `raw`, `None` if the payload ends before it.
    ///
    /// A negative value of a signed field comes out sign-extended to 64 bits.
    #[inline]
    pub fn read_u64(self, raw: &[u8]) -> Option<u64> {
        load(raw, self.offset as usize, self.width, self.signed)
    }

    /// The value in `raw`, `None` if the payload ends before it.
    ///
    /// A `u64` beyond `i64::MAX`, as kernel addresses are, comes out negative; use [`read_u64`](Self::read_u64) there.
    #[inline]
    pub fn read_i64(self, raw: &[u8]) -> Option<i64> {
        self.read_u64(raw).map(with_sign)
    }

    /// Whether the kernel declares the field as signed.
    pub fn is_signed(self) -> bool {
        self.signed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_is_extended_only_where_the_field_has_one() {
        let raw = [0xfe; 9];
        for (width, unsigned) in [
            (Width::One, 0xfe),
            (Width::Two, 0xfefe),
            (Width::Four, 0xfefe_fefe),
            (Width::Eight, 0xfefe_fefe_fefe_fefe),
        ] {
            let field = IntegerField { offset: 1, width, signed: false };
            assert_eq!(field.read_u64(&raw), Some(unsigned));
            let missing = 64 - 8 * width.bytes();
            let signed = IntegerField { signed: true, ..field }.read_i64(&raw);
            assert_eq!(signed, Some((with_sign(unsigned) << missing) >> missing));
            assert!(signed < Some(0));
        }
    }

    #[test]
    fn a_short_payload_reads_as_none() {
        for offset in [5, 8, 9, u32::MAX] {
            let field = IntegerField { offset, width: Width::Four, signed: true };
            assert_eq!(field.read_i64(&[0; 8]), None);
        }
        assert_eq!(IntegerField { offset: 4, width: Width::Four, signed: true }.read_i64(&[0; 8]), Some(0));
    }
}
