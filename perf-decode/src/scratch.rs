//! A buffer for records that wrap.

use core::ops::{Deref, DerefMut};

/// A buffer for any one record: 64 KiB, 8-aligned.
///
/// A record that wraps at the end of a ring is joined here. At most one record of a window wraps,
/// so one `Scratch` lent to [`Window::records`](crate::Window::records) is enough. Allocate it
/// once, because it is too big to build per call or for a small stack. For a ring smaller than
/// 64 KiB, a slice as long as the ring does as well.
#[derive(Clone)]
pub struct Scratch([u64; Self::WORDS]);

impl Scratch {
    /// Words in the scratch: a record's size is a `u16` of bytes.
    const WORDS: usize = 65536 / 8;

    /// Returns a zeroed scratch. `const`, so that a `static` with a lock can hold it.
    #[must_use]
    #[expect(clippy::large_stack_arrays, reason = "the documentation says so; a `const` needs the array")]
    pub const fn new() -> Self {
        Self([0; Self::WORDS])
    }
}

/// A scratch is lent as a slice of words.
impl Deref for Scratch {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Scratch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_form_leaves_the_words_out() {
        assert_eq!(std::format!("{:?}", Scratch::new()), "Scratch");
    }

    #[test]
    fn scratch_has_words_for_the_longest_record() {
        assert_eq!(Scratch::new().len() * 8, usize::from(u16::MAX) + 1);
    }
}
