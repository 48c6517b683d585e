//! The tree a record is decoded into.

use alloc::{string::String, vec::Vec};

/// Named values in the order of the record.
pub type Fields = Vec<(&'static str, Value)>;

/// One value of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number of any width, zero-extended.
    U64(u64),
    /// Raw bytes: strings without their NUL, raw data, stacks, build ids.
    Bytes(Vec<u8>),
    /// Values of one kind.
    List(Vec<Value>),
    /// Named values. Registers are named by the number of their mask bit.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Returns the number; `None` for another variant.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::U64(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the bytes; `None` for another variant.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the values of a list; `None` for another variant.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the value of this name in a map.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Map(entries) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(in crate::testing) fn numbers(words: impl IntoIterator<Item = u64>) -> Self {
        Self::List(words.into_iter().map(Self::U64).collect())
    }

    pub(in crate::testing) fn map(fields: Fields) -> Self {
        Self::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::U64(number)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

/// Returns the first field of this name.
pub fn find<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}
