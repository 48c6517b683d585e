//! A field's value, for printing.

use core::fmt;

use super::integer::with_sign;
use super::{Field, Integers, Kind};

/// What a field holds in one payload, as [`Field::value`] finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A signed number.
    Signed(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// An address; printed in hexadecimal.
    Pointer(u64),
    /// Text without its NUL, in no particular encoding; printed with escapes for what is not printable ASCII.
    Text(&'a [u8]),
    /// Numbers; printed as `[1,2,3]`.
    Integers(Integers<'a>),
    /// Bytes without a known meaning; printed in hexadecimal, in memory order.
    Bytes(&'a [u8]),
    /// The field does not lie within the payload; printed as `?`.
    Truncated,
}

impl<'a> Value<'a> {
    /// The value of `field` in `raw`, `None` if the payload ends before it.
    pub(super) fn read(field: &Field<'_>, raw: &'a [u8]) -> Option<Self> {
        if let Ok(integer) = field.integer() {
            let bits = integer.read_u64(raw)?;
            return Some(match field.kind {
                Kind::Pointer => Self::Pointer(bits),
                _ if field.signed => Self::Signed(with_sign(bits)),
                _ => Self::Unsigned(bits),
            });
        }
        if let Ok(array) = field.array() {
            return array.read(raw).map(Self::Integers);
        }
        if let Ok(text) = field.text() {
            return text.read(raw).map(Self::Text);
        }
        field.bytes().read(raw).map(Self::Bytes)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => fmt::Display::fmt(value, f),
            Self::Unsigned(value) => fmt::Display::fmt(value, f),
            Self::Pointer(address) => write!(f, "{address:#x}"),
            Self::Text(text) => fmt::Display::fmt(&text.escape_ascii(), f),
            Self::Integers(integers) => {
                f.write_str("[")?;
                for (at, bits) in integers.clone().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    if integers.is_signed() {
                        write!(f, "{comma}{}", with_sign(bits))?;
                    } else {
                        write!(f, "{comma}{bits}")?;
                    }
                }
                f.write_str("]")
            }
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Self::Truncated => f.write_str("?"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::{String, ToString};

    use super::super::line::parse;

    fn printed(line: &str, raw: &[u8]) -> String {
        parse(line).unwrap().value(raw).to_string()
    }

    #[test]
    fn each_kind_prints_in_its_own_way() {
        let raw = [0xff, 0xff, 1, 1, b'a', b'\n', b'"', 0];
        assert_eq!(printed("field:short x;offset:0;size:2;signed:1;", &raw), "-1");
        assert_eq!(printed("field:u16 x;offset:0;size:2;signed:0;", &raw), "65535");
        assert_eq!(printed("field:void * x;offset:0;size:2;signed:0;", &raw), "0xffff");
        assert_eq!(printed("field:char x[4];offset:4;size:4;signed:0;", &raw), "a\\n\\\"");
        assert_eq!(printed("field:s8 x[3];offset:0;size:3;signed:1;", &raw), "[-1,-1,1]");
        assert_eq!(printed("field:u8 x[3];offset:0;size:3;signed:0;", &raw), "[255,255,1]");
        assert_eq!(printed("field:u8 x[];offset:8;size:0;signed:0;", &raw), "[]");
        assert_eq!(printed("field:struct s x;offset:1;size:3;signed:0;", &raw), "ff0101");
        assert_eq!(printed("field:int x;offset:6;size:4;signed:0;", &raw), "?");
        assert_eq!(printed("field:__data_loc char[] x;offset:0;size:4;signed:0;", &raw), "?");
    }
}
