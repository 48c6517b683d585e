use perf_abi::BpfEventType;

use super::check::Body;
use crate::{Layout, Result, word};

view! {
    /// A BPF program was loaded or unloaded. Written for events with `bpf_event`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u16 type, u16 flags, u32 id` |
    /// | 2 | `u8 tag[8]` |
    ///
    /// The KSYMBOL records of the program's parts precede it if the event has `ksymbol`. Since
    /// Linux 5.1.
    #[doc(alias = "PERF_RECORD_BPF_EVENT")]
    BpfEvent: 3 words;
}

impl<'a, L: Layout> BpfEvent<'a, L> {
    /// Returns whether the program was loaded or unloaded.
    #[inline]
    #[must_use]
    pub fn bpf_type(&self) -> BpfEventType {
        BpfEventType(word::quarters(self.0.fixed()[1])[0])
    }

    /// Returns the flags; none is defined.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> u16 {
        word::quarters(self.0.fixed()[1])[1]
    }

    /// Returns the id of the program in bpf(2).
    #[inline]
    #[must_use]
    pub fn id(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }

    /// Returns the hash of the program's instructions, 8 bytes.
    #[inline]
    #[must_use]
    pub fn tag(&self) -> &'a [u8] {
        word::bytes(self.0.fixed().get(2..).unwrap_or(&[]))
    }
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    body.words_with_trailer_after(BpfEvent::WORDS)
}
