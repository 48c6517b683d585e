use perf_abi::{KsymbolFlags, KsymbolType};

use super::check::Body;
use crate::{Layout, Result, word};

view! {
    /// A symbol, such as a BPF program or a trampoline, was added to or removed from the kernel.
    /// Written for events with `ksymbol`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 addr` |
    /// | 2 | `u32 len, u16 ksym_type, u16 flags` |
    /// | 3.. | `char name[]`, NUL-padded to a word |
    ///
    /// Since Linux 5.1.
    #[doc(alias = "PERF_RECORD_KSYMBOL")]
    Ksymbol: 3 words;
}

#[expect(clippy::len_without_is_empty, reason = "`len` is a field of the record")]
impl<'a, L: Layout> Ksymbol<'a, L> {
    /// Returns the first address.
    #[inline]
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.0.fixed()[1]
    }

    /// Returns the length in bytes; 0 for text without a size.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        word::halves(self.0.fixed()[2])[0]
    }

    /// Returns the kind of the symbol.
    #[inline]
    #[must_use]
    pub fn ksym_type(&self) -> KsymbolType {
        KsymbolType(word::quarters(self.0.fixed()[2])[2])
    }

    /// Returns whether the symbol was removed.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> KsymbolFlags {
        KsymbolFlags::from_bits_retain(word::quarters(self.0.fixed()[2])[3])
    }

    /// Returns the name, at most 511 bytes. Raw bytes without the NUL, not UTF-8.
    #[inline]
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        self.0.name()
    }
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    body.words_with_trailer_after(body.name_end("name", Ksymbol::WORDS)?)
}
