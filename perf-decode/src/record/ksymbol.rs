use core::fmt;

use perf_abi::{KsymbolFlags, KsymbolType};
use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::Text;

/// A symbol appeared in or left the kernel, for events with `ksymbol`: a BPF program, a trampoline.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 addr` |
/// | 2 | `u32 len, u16 ksym_type, u16 flags` |
/// | 3.. | `char name[]`, NUL-padded to a word |
///
/// Since Linux 5.1.
#[doc(alias = "PERF_RECORD_KSYMBOL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ksymbol<'a> {
    /// First address.
    pub addr: u64,
    /// Length in bytes; 0 for text without a size.
    pub len: u32,
    /// What it is.
    pub kind: KsymbolType,
    /// Whether it left.
    pub flags: KsymbolFlags,
    /// At most 511 bytes. Raw bytes without the NUL, not UTF-8.
    pub name: &'a [u8],
}

#[derive(FromBytes)]
#[repr(C)]
struct Head {
    addr: u64,
    len: u32,
    kind: KsymbolType,
    flags: KsymbolFlags,
}

impl<'a> Parse<'a> for Ksymbol<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (Head { addr, len, kind, flags }, name) = body.head()?;
        Ok(Self { addr, len, kind, flags, name: body.string(name, "name")? })
    }
}

impl fmt::Display for Ksymbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { addr, len, kind, flags, name } = self;
        write!(f, "addr {addr:#x} len {len} type {kind} flags {flags} name {}", Text(name))
    }
}
