use crate::word;

/// A copy of the user's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserStack<'a> {
    size: u64,
    bytes: &'a [u8],
}

impl<'a> UserStack<'a> {
    #[inline]
    pub(super) fn new(words: &'a [u64]) -> Option<Self> {
        let (&size, rest) = words.split_first()?;
        if size == 0 {
            return Some(Self { size, bytes: &[] });
        }
        let (stack, rest) = rest.split_at_checked((size / 8) as usize)?;
        let valid = (*rest.first()?).min(size);
        Some(Self { size, bytes: word::bytes(stack).get(..valid as usize)? })
    }

    /// The bytes that the kernel could copy, from the user's stack pointer upwards. The rest of the room
    /// in the record is old content of the ring and is left out.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes that the record has room for: what was asked for, or less where the record would have grown
    /// too long or the stack ends.
    #[inline]
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}
