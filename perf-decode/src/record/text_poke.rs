use core::fmt;

use crate::body::{Body, Parse};
use crate::display::Hex;
use crate::{Result, word};

/// The kernel's own code was changed, for events with `text_poke`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 addr` |
/// | 2 | `u16 old_len, u16 new_len`, then the old and the new bytes, padded to a word |
///
/// Since Linux 5.9.
#[doc(alias = "PERF_RECORD_TEXT_POKE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPoke<'a> {
    /// Address of the first changed byte.
    pub addr: u64,
    /// Code before; empty if there was none.
    pub old: &'a [u8],
    /// Code after; empty if there is none any more.
    pub new: &'a [u8],
}

impl<'a> Parse<'a> for TextPoke<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let ([addr, lengths], _) = body.head()?;
        let [old_len, new_len, _, _] = word::quarters(lengths);
        // They start right behind the two lengths, in the middle of a word.
        let code = word::bytes(body.words).get(12..).unwrap_or(&[]);
        let old = body.elements(code, u64::from(old_len), "old_bytes")?;
        let new = body.elements(code.get(old.len()..).unwrap_or(&[]), u64::from(new_len), "new_bytes")?;
        Ok(Self { addr, old, new })
    }
}

impl fmt::Display for TextPoke<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "addr {:#x} old {} new {}", self.addr, Hex(self.old), Hex(self.new))
    }
}
