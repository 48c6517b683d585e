//! Copies of user stacks.

use crate::word;

/// A copy of the user stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserStack<'a> {
    size: u64,
    bytes: &'a [u8],
}

impl<'a> UserStack<'a> {
    /// Views the words of the field: the size, the bytes, and the number of valid ones.
    #[inline]
    pub(super) fn new(words: &'a [u64]) -> Option<Self> {
        let (&size, rest) = words.split_first()?;
        let Some((&valid, stack)) = rest.split_last().filter(|_| size > 0) else {
            return Some(Self { size: 0, bytes: &[] });
        };
        let stack = word::bytes(stack);
        Some(Self { size, bytes: stack.get(..valid as usize).unwrap_or(stack) })
    }

    /// Returns the bytes that the kernel could copy, from the user stack pointer upwards. The bytes
    /// of the field after them are old ring content and are left out.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the size of the field in bytes: the attr's `sample_stack_user`, or less if the
    /// record would have become too long or the stack ends.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size
    }
}
