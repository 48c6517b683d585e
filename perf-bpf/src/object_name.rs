use core::fmt;
use core::str::FromStr;

use crate::Error;

/// The name of a map or program: at most 15 bytes. Empty if it has no name.
///
/// Names are labels: several objects may have the same. New names have letters, digits, `_` and `.`
/// (`.` since Linux 5.3). Since Linux 4.15.
///
/// ```
/// use perf_bpf::ObjectName;
///
/// let name: ObjectName = "events".parse()?;
/// assert_eq!(name.to_string(), "events");
/// assert!("a_name_of_17_byte".parse::<ObjectName>().is_err());
/// # Ok::<(), perf_bpf::Error>(())
/// ```
#[doc(alias = "BPF_OBJ_NAME_LEN")]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ObjectName([u8; 16]);

impl ObjectName {
    /// No name.
    pub const EMPTY: Self = Self([0; 16]);

    /// Returns the name in a NUL-terminated field of the kernel.
    pub(crate) const fn from_raw(raw: [u8; 16]) -> Self {
        Self(raw)
    }

    /// Returns the field for the kernel.
    pub(crate) const fn to_raw(self) -> [u8; 16] {
        self.0
    }

    /// Returns the bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// Returns `true` if there is no name.
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }
}

impl FromStr for ObjectName {
    type Err = Error;

    /// Returns the name, or an error if it is too long or has a character that the kernel refuses.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut raw = [0; 16];
        let is_allowed = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
        match raw.get_mut(..text.len()) {
            Some(bytes) if is_allowed && text.len() < 16 => bytes.copy_from_slice(text.as_bytes()),
            _ => return Err(Error::Name { found: text.into() }),
        }
        Ok(Self(raw))
    }
}

/// The name. Bytes that are not UTF-8 are replaced.
impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_at_most_15_bytes() {
        assert_eq!("a23456789012345".parse::<ObjectName>().unwrap().to_string(), "a23456789012345");
        assert!("a234567890123456".parse::<ObjectName>().is_err());
        assert!("".parse::<ObjectName>().unwrap().is_empty());
    }

    #[test]
    fn a_character_that_the_kernel_refuses_is_an_error() {
        for text in ["a b", "a/b", "a\0b", "ä", "a-b"] {
            let error = text.parse::<ObjectName>().unwrap_err().to_string();
            assert!(error.contains("letters, digits"), "{error}");
        }
        assert!("a_b.C9".parse::<ObjectName>().is_ok());
    }

    #[test]
    fn bytes_after_the_first_nul_are_ignored() {
        assert_eq!(ObjectName::from_raw(*b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0").as_bytes(), b"ab");
        assert_eq!(ObjectName::from_raw([b'x'; 16]).as_bytes(), [b'x'; 16]);
    }
}
