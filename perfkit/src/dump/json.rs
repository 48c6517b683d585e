//! JSON as it is written here: in one line, with keys in the order in which they were put.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// A value of the dump.
#[derive(Clone, Debug)]
pub(super) enum Json<'a> {
    /// A count, a size, a time or an id: a number, exact up to 64 bits.
    Number(u64),
    /// A process or thread, which the kernel writes as -1 where it cannot be named.
    Task(u32),
    /// An address or a set of bits: a string that starts with `0x`.
    Hex(u64),
    /// Bytes without a meaning here: a string of two digits for each.
    Bytes(Cow<'a, [u8]>),
    /// Text; what is not UTF-8 in the kernel's strings is U+FFFD.
    Text(Cow<'a, str>),
    Bool(bool),
    List(Vec<Self>),
    Object(Object<'a>),
}

/// The entries of an object.
#[derive(Clone, Debug)]
pub(super) struct Object<'a>(Vec<(Cow<'static, str>, Json<'a>)>);

impl<'a> Json<'a> {
    /// A string of the kernel.
    pub(super) fn text(bytes: &'a [u8]) -> Self {
        Self::Text(String::from_utf8_lossy(bytes))
    }

    /// Bytes as they are in a record.
    pub(super) fn bytes(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }

    /// A list of addresses.
    pub(super) fn addresses(words: &[u64]) -> Self {
        Self::List(words.iter().copied().map(Self::Hex).collect())
    }
}

impl Object<'_> {
    /// Puts the entries of `other` behind these.
    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

impl From<u64> for Json<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Json<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl<'a, const N: usize> From<[(&'static str, Json<'a>); N]> for Object<'a> {
    fn from(entries: [(&'static str, Json<'a>); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<'a, K: Into<Cow<'static, str>>> FromIterator<(K, Json<'a>)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (K, Json<'a>)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<'a, K: Into<Cow<'static, str>>> Extend<(K, Json<'a>)> for Object<'a> {
    fn extend<I: IntoIterator<Item = (K, Json<'a>)>>(&mut self, entries: I) {
        self.0.extend(entries.into_iter().map(|(key, value)| (key.into(), value)));
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            #[expect(clippy::cast_possible_wrap, reason = "0xffffffff is meant to be -1")]
            Self::Task(id) => write!(f, "{}", *id as i32),
            Self::Hex(number) => write!(f, "\"{number:#x}\""),
            Self::Bytes(bytes) => {
                f.write_char('"')?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_char('"')
            }
            Self::Text(text) => quoted(text, f),
            Self::Bool(value) => write!(f, "{value}"),
            Self::List(values) => {
                f.write_char('[')?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Self::Object(object) => object.fmt(f),
        }
    }
}

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (index, (key, value)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            quoted(key, f)?;
            write!(f, ":{value}")?;
        }
        f.write_char('}')
    }
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            '\0'..' ' => write!(f, "\\u{:04x}", u32::from(character))?,
            _ => f.write_char(character)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_64_bits_are_exact() {
        assert_eq!(Json::from(u64::MAX).to_string(), "18446744073709551615");
        assert_eq!(Json::Hex(u64::MAX).to_string(), "\"0xffffffffffffffff\"");
    }

    #[test]
    fn a_task_that_cannot_be_named_is_minus_one() {
        assert_eq!([Json::Task(u32::MAX).to_string(), Json::Task(7).to_string()], ["-1", "7"]);
    }

    #[test]
    fn text_is_escaped_and_stays_in_one_line() {
        assert_eq!(Json::text(b"a\"\\\n\x7f").to_string(), "\"a\\\"\\\\\\u000a\x7f\"");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(Json::text(b"a\xff\xfeb").to_string(), "\"a\u{fffd}\u{fffd}b\"");
    }

    #[test]
    fn keys_keep_their_order() {
        let inner = Object::from([("z", Json::bytes(&[1, 0xab])), ("a", Json::Bool(true))]);
        let list = Json::List(vec![Json::Object(inner), Json::from(3_u32)]);
        assert_eq!(Object::from([("list", list)]).to_string(), r#"{"list":[{"z":"01ab","a":true},3]}"#);
    }
}
