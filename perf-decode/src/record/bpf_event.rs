use core::fmt;

use perf_abi::BpfEventType;
use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::Hex;

/// A BPF program was loaded or unloaded, for events with `bpf_event`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u16 type, u16 flags, u32 id` |
/// | 2 | `u8 tag[8]` |
///
/// KSYMBOL records of the program's parts precede it, if asked for. Since Linux 5.1.
#[doc(alias = "PERF_RECORD_BPF_EVENT")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct BpfEvent {
    /// Loaded or unloaded.
    pub kind: BpfEventType,
    /// No flag is defined.
    pub flags: u16,
    /// Id of the program, as bpf(2) knows it.
    pub id: u32,
    /// Hash of the program's instructions.
    pub tag: [u8; 8],
}

impl Parse<'_> for BpfEvent {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for BpfEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type {}, flags {:#x}, id {}, tag {}", self.kind, self.flags, self.id, Hex(&self.tag))
    }
}
