//! The view of `TEXT_POKE` records.

use crate::layout::Layout;

view! {
    /// The kernel changed its own code. Written for events with `text_poke`.
    ///
    /// Since Linux 5.9.
    #[doc(alias = "PERF_RECORD_TEXT_POKE")]
    TextPoke of TEXT_POKE {
        /// Returns the address of the first changed byte.
        addr: u64,
        /// Returns the length of the old code in bytes; 0 if the kernel added code.
        old_len: u16,
        /// Returns the length of the new code in bytes; 0 if the kernel removed code.
        new_len: u16,
        /// Returns the old code and the new code after it.
        bytes: &'a [u8],
    } and old_bytes, new_bytes
}

impl<'a, L: Layout> TextPoke<'a, L> {
    /// Returns the old code.
    #[inline]
    pub fn old_bytes(&self) -> &'a [u8] {
        self.bytes().get(..usize::from(self.old_len())).unwrap_or(&[])
    }

    /// Returns the new code.
    #[inline]
    pub fn new_bytes(&self) -> &'a [u8] {
        self.bytes().get(usize::from(self.old_len())..).unwrap_or(&[])
    }
}
