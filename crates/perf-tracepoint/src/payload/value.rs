//! Values of fields and payloads, for printing.

use core::fmt;

use super::integer::to_signed;
use super::{Field, Fields, Integers, Kind};

/// The value of a field in one payload.
///
/// Made by [`Field::value`]. Prints as one line of printable ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Integer that the kernel declares as signed.
    Signed(i64),
    /// Integer that the kernel declares as unsigned.
    Unsigned(u64),
    /// An address; prints in hexadecimal.
    Pointer(u64),
    /// Text without its NUL, in no particular encoding; all but printable ASCII prints as escapes.
    Text(&'a [u8]),
    /// Numbers; print as `[1,2,3]`.
    Integers(Integers<'a>),
    /// Bytes of unknown meaning; print in hexadecimal, in memory order.
    Bytes(&'a [u8]),
    /// The field does not lie within the payload; prints as `?`.
    Truncated,
}

impl<'a> Value<'a> {
    /// Returns the value of `field` in `raw`, `None` if the field does not lie within it.
    pub(super) fn read(field: &Field<'_>, raw: &'a [u8]) -> Option<Self> {
        Some(match field.kind {
            Kind::Integer if field.signed => Self::Signed(field.integer().ok()?.read_i64(raw)?),
            Kind::Integer => Self::Unsigned(field.integer().ok()?.read_u64(raw)?),
            Kind::Pointer => Self::Pointer(field.integer().ok()?.read_u64(raw)?),
            Kind::Text => Self::Text(field.text().ok()?.read(raw)?),
            Kind::Array { .. } => Self::Integers(field.array().ok()?.read(raw)?),
            Kind::Opaque => Self::Bytes(field.bytes().read(raw)?),
        })
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
                let mut comma = "";
                for bits in integers.clone() {
                    if integers.is_signed() {
                        write!(f, "{comma}{}", to_signed(bits))?;
                    } else {
                        write!(f, "{comma}{bits}")?;
                    }
                    comma = ",";
                }
                f.write_str("]")
            }
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Self::Truncated => f.write_str("?"),
        }
    }
}

/// A payload that prints as `name=value name=value`.
///
/// Made by [`Format::display`](super::Format::display). Prints as one line of printable ASCII.
/// Fields that do not lie within the payload print as `?`.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'t, 'a> {
    pub(super) fields: Fields<'t>,
    pub(super) raw: &'a [u8],
}

impl fmt::Display for Payload<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for field in self.fields {
            // Names come from the text, and programs can create tracepoints.
            let name = field.name.as_bytes().escape_ascii();
            write!(f, "{gap}{name}={}", field.value(self.raw))?;
            gap = " ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::parse;
    use super::*;

    fn printed(line: &str, raw: &[u8]) -> String {
        parse(line).unwrap().value(raw).to_string()
    }

    #[test]
    fn each_kind_prints_in_its_own_form() {
        let raw = [0xff, 0xff, 1, 1, b'a', b'\n', b'"', 0, b'z'];
        assert_eq!(printed("field:short x;offset:0;size:2;signed:1;", &raw), "-1");
        assert_eq!(printed("field:u16 x;offset:0;size:2;signed:0;", &raw), "65535");
        assert_eq!(printed("field:u64 x;offset:0;size:8;signed:0;", &[0xff; 8]), "18446744073709551615");
        assert_eq!(printed("field:s64 x;offset:0;size:8;signed:1;", &[0xff; 8]), "-1");
        assert_eq!(printed("field:void * x;offset:0;size:2;signed:0;", &raw), "0xffff");
        assert_eq!(printed("field:void * x;offset:0;size:2;signed:1;", &raw), "0xffffffffffffffff");
        assert_eq!(printed("field:char x[5];offset:4;size:5;signed:0;", &raw), r#"a\n\""#);
        assert_eq!(printed("field:s8 x[3];offset:0;size:3;signed:1;", &raw), "[-1,-1,1]");
        assert_eq!(printed("field:u8 x[3];offset:0;size:3;signed:0;", &raw), "[255,255,1]");
        assert_eq!(printed("field:u64 x[1];offset:0;size:8;signed:0;", &[0xff; 8]), "[18446744073709551615]");
        assert_eq!(printed("field:u8 x[];offset:9;size:0;signed:0;", &raw), "[]");
        assert_eq!(printed("field:struct s x;offset:1;size:3;signed:0;", &raw), "ff0101");
    }

    #[test]
    fn fields_outside_the_payload_print_as_a_question_mark() {
        for line in [
            "field:int x;offset:6;size:4;signed:0;",
            "field:u8 x[4];offset:6;size:4;signed:0;",
            "field:char x[4];offset:6;size:4;signed:0;",
            "field:struct s x;offset:6;size:4;signed:0;",
            "field:__data_loc char[] x;offset:0;size:4;signed:0;",
        ] {
            assert_eq!(printed(line, &[0xff; 8]), "?", "{line}");
            assert_eq!(parse(line).unwrap().value(&[0xff; 8]), Value::Truncated);
        }
    }

    #[test]
    fn text_prints_as_one_line_of_ascii() {
        let text = |text: &str| Value::Text(text.as_bytes()).to_string();
        assert_eq!(text("a b~\\'"), r"a b~\\\'");
        assert_eq!(text("\u{1b}[2J\r\u{7f}\u{1}"), r"\x1b[2J\r\x7f\x01");
        assert_eq!(Value::Text(b"\xff\xc3\xa9").to_string(), r"\xff\xc3\xa9");
        assert_eq!(text("\u{85}\u{2028}\u{2029}"), r"\xc2\x85\xe2\x80\xa8\xe2\x80\xa9");
        for overrides in ["\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}", "\u{2066}\u{2067}\u{2068}\u{2069}"] {
            assert!(text(overrides).is_ascii());
        }
    }

    #[test]
    fn a_payload_prints_its_names_as_one_line_of_ascii() {
        let fields = "field:u8 a;offset:0;size:1;\nfield:u8 b\u{202e}\u{1b}\u{2028};offset:1;size:1;";
        let payload = Payload { fields: Fields::parse(fields).unwrap(), raw: &[1] };
        assert_eq!(payload.to_string(), r"a=1 b\xe2\x80\xae\x1b\xe2\x80\xa8=?");
    }
}
