/// A buffer for any one record: 64 KiB, 8-aligned.
///
/// A record that wraps at the end of a ring is joined here. At most one record of a window wraps,
/// so one `Scratch` lent to [`Window::records`](crate::Window::records) is enough. Allocate it
/// once, because it is too big to build per call or for a small stack.
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

    /// Joins `first` and `second`; `None` if they are longer than any record.
    pub(crate) fn join(&mut self, first: &[u64], second: &[u64]) -> Option<&[u64]> {
        let joined = self.0.get_mut(..first.len() + second.len())?;
        for (to, from) in joined.iter_mut().zip(first.iter().chain(second)) {
            *to = *from;
        }
        Some(joined)
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
}
