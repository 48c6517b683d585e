//! Reads and decompresses sections.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use super::content::{Content, Reader};
use super::elf::ElfError;

/// Maximum size of a section in bytes. The largest `.eh_frame` and `.text` have some hundred MB.
pub(super) const MAX_SECTION: u64 = 1 << 30;
/// Maximum compression ratio of deflate; zstd only exceeds it for nested repetitions.
const MAX_RATIO: u64 = 1032;

/// The addresses and bytes of a section: returned by
/// [`ObjectFile::section`](super::ObjectFile::section).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionBytes {
    /// Addresses in the file's symbol table.
    pub addresses: Range<u64>,
    /// Contents as in the file; numbers have the file's byte order.
    pub bytes: Arc<[u8]>,
}

/// An entry of the section table.
pub(super) struct Section {
    pub(super) name: Box<[u8]>,
    pub(super) address: u64,
    /// Length in memory in bytes, after decompression, according to the headers.
    pub(super) len: u64,
    /// Offset and length in the file in bytes, without the compression header. `None` if it has no
    /// bytes.
    pub(super) in_file: Option<(u64, u64)>,
    pub(super) compression: Compression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    Zstd,
    /// An unknown method, or a damaged header.
    Unknown,
}

impl Section {
    pub(super) fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.len)
    }

    fn problem(&self, what: &str) -> ElfError {
        let name = String::from_utf8_lossy(&self.name);
        ElfError::Malformed(format!("section {name} of {} bytes {what}", self.len))
    }

    /// Returns the range in the file after checking that the file contains it; `None` if the
    /// section has no bytes.
    pub(super) fn checked_range(
        &self,
        content: &Content,
        limit: u64,
    ) -> Result<Option<(u64, u64)>, ElfError> {
        let Some((offset, len)) = self.in_file else { return Ok(None) };
        if self.len > limit {
            return Err(self.problem(&format!("is larger than {limit}")));
        }
        if offset.saturating_add(len) > content.len()? {
            return Err(self.problem(&format!("at {offset} is beyond the end")));
        }
        Ok(Some((offset, len)))
    }

    /// Reads the section, which may have up to `limit` bytes; `None` if it has no bytes in the
    /// file.
    pub(super) fn read(&self, content: &Content, limit: u64) -> Result<Option<Vec<u8>>, ElfError> {
        let Some((offset, len)) = self.checked_range(content, limit)? else { return Ok(None) };
        if self.compression == Compression::None {
            let mut bytes = vec![0; len as usize];
            content.read_exact_at(&mut bytes, offset)?;
            return Ok(Some(bytes));
        }
        // Check the ratio first, so that memory is limited by the actual input, not by the header.
        if self.len / MAX_RATIO > len {
            return Err(self.problem(&format!("cannot come from {len} compressed bytes")));
        }
        let input = io::BufReader::new(Reader { content, at: offset }.take(len));
        let mut bytes = Vec::new();
        // Growing step by step would copy it several times. Pages without content take no memory.
        bytes.try_reserve_exact(self.len as usize).map_err(|error| self.problem(&error.to_string()))?;
        self.decompress(input, &mut bytes)?;
        if bytes.len() as u64 != self.len {
            return Err(self.problem(&format!("has {} after decompression", bytes.len())));
        }
        Ok(Some(bytes))
    }

    #[cfg(any(feature = "names", feature = "unwind"))]
    fn decompress(&self, input: impl Read, bytes: &mut Vec<u8>) -> Result<(), ElfError> {
        let damaged = |error: io::Error| self.problem(&format!("is damaged: {error}"));
        match self.compression {
            Compression::Zlib => {
                flate2::read::ZlibDecoder::new(input).take(self.len).read_to_end(bytes).map_err(damaged)?;
            }
            Compression::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(input);
                let decoder = decoder.map_err(|error| damaged(io::Error::other(error)))?;
                decoder.take(self.len).read_to_end(bytes).map_err(damaged)?;
            }
            Compression::None | Compression::Unknown => {
                return Err(self.problem("is compressed by an unknown method"));
            }
        }
        Ok(())
    }

    /// Only names and unwinding need compressed sections.
    #[cfg(not(any(feature = "names", feature = "unwind")))]
    fn decompress(&self, _: impl Read, _: &mut Vec<u8>) -> Result<(), ElfError> {
        Err(self.problem("is compressed, which needs the feature names or unwind"))
    }
}
