//! Bounds-checked reading of little-endian files.

use perf_abi::Attr;
use zerocopy::FromBytes;

/// The part of a file that is not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads `length` bytes of `file` from `offset` on.
    pub(crate) fn at(file: &'a [u8], offset: u64, length: u64) -> Option<Self> {
        let rest = file.get(usize::try_from(offset).ok()?..)?;
        rest.get(..usize::try_from(length).ok()?).map(Self)
    }

    pub(crate) fn take(&mut self, length: impl TryInto<usize>) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length.try_into().ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Copies bytes into words. A partial last word is left out.
pub(crate) fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// Reads an attr of any published length. The fields it lacks are 0.
pub(crate) fn attr(bytes: &[u8]) -> Option<Attr> {
    let mut whole = [0; Attr::SIZE as usize];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Attr::read_from_bytes(&whole).ok()
}
