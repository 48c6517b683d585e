use super::check::Body;
use crate::{Layout, Result, word};

view! {
    /// The kernel changed its own code. Written for events with `text_poke`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 addr` |
    /// | 2 | `u16 old_len, u16 new_len`, then the old and the new bytes, padded to a word |
    ///
    /// Since Linux 5.9.
    #[doc(alias = "PERF_RECORD_TEXT_POKE")]
    TextPoke: 3 words;
}

impl<'a, L: Layout> TextPoke<'a, L> {
    /// Returns the address of the first changed byte.
    #[inline]
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.0.fixed()[1]
    }

    /// Returns the length of the old code in bytes; 0 if the kernel added code.
    #[inline]
    #[must_use]
    pub fn old_len(&self) -> u16 {
        word::quarters(self.0.fixed()[2])[0]
    }

    /// Returns the length of the new code in bytes; 0 if the kernel removed code.
    #[inline]
    #[must_use]
    pub fn new_len(&self) -> u16 {
        word::quarters(self.0.fixed()[2])[1]
    }

    /// Returns the old code.
    #[inline]
    #[must_use]
    pub fn old_bytes(&self) -> &'a [u8] {
        self.bytes().get(..usize::from(self.old_len())).unwrap_or(&[])
    }

    /// Returns the new code.
    #[inline]
    #[must_use]
    pub fn new_bytes(&self) -> &'a [u8] {
        self.bytes().get(usize::from(self.old_len())..).unwrap_or(&[])
    }

    /// Returns the old code and the new code after it.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        // The code starts after the two lengths, in the middle of a word.
        let end = 12 + usize::from(self.old_len()) + usize::from(self.new_len());
        word::bytes(self.0.body()).get(12..end).unwrap_or(&[])
    }
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    let [old_len, new_len, _, _] = word::quarters(body.word(2));
    // The last word of the lengths holds the first four bytes of the code.
    let code = word::words_for(4 + usize::from(old_len) + usize::from(new_len)) - 1;
    body.needs("bytes", TextPoke::WORDS, code as u64)?;
    body.words_with_trailer_after(TextPoke::WORDS + code)
}
