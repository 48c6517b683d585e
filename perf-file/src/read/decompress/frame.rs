//! The headers of zstd's frames and blocks.

use super::MAX_BLOCK;
use crate::Malformed;

/// The largest window, that of the highest level of zstd.
const MAX_WINDOW: u64 = 128 << 20;

/// The header of a frame.
pub(super) struct Header {
    pub len: usize,
    /// Bytes to which blocks can refer.
    pub window: u64,
    /// Bytes of the content, if the header has them.
    pub content: Option<u64>,
    pub has_checksum: bool,
}

impl Header {
    /// Parses the header at the start of `bytes`; `None` if it is truncated.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some((magic, [descriptor, rest @ ..])) = bytes.split_first_chunk() else { return Ok(None) };
        if u32::from_le_bytes(*magic) != 0xfd2f_b528 {
            return Err(Malformed("expected the start of a zstd frame"));
        }
        if descriptor & 8 != 0 {
            return Err(Malformed("the header of a zstd frame has a reserved bit"));
        }
        let is_single_segment = descriptor & 0x20 != 0;
        let window_len = usize::from(!is_single_segment);
        let dictionary_len = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0);
        let content_len = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            shift => 1 << shift,
        };
        let Some((window, rest)) = rest.split_at_checked(window_len) else { return Ok(None) };
        let Some((dictionary, rest)) = rest.split_at_checked(dictionary_len) else { return Ok(None) };
        let Some(content) = rest.get(..content_len) else { return Ok(None) };
        if number(dictionary) != 0 {
            return Err(Malformed("a zstd frame needs a dictionary"));
        }
        // A length of two bytes counts from 256.
        let content = number(content).saturating_add(if content_len == 2 { 256 } else { 0 });
        let window = window.first().map_or(content, |window| {
            let base = 1_u64 << (10 + (window >> 3));
            base + base / 8 * u64::from(window & 7)
        });
        if window > MAX_WINDOW {
            return Err(Malformed("the window of the zstd frame is larger than 128 MiB"));
        }
        Ok(Some(Self {
            len: 5 + window_len + dictionary_len + content_len,
            window,
            content: (content_len > 0).then_some(content),
            has_checksum: descriptor & 4 != 0,
        }))
    }
}

/// Returns a number of up to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// How the content of a block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Raw,
    /// One byte, repeated this number of times.
    Repeated(usize),
    Compressed,
}

/// The header of a block.
pub(super) struct BlockHeader {
    /// Bytes of the block after its header.
    pub len: usize,
    pub kind: Kind,
    pub is_last: bool,
}

impl BlockHeader {
    /// The length of the header itself, in bytes.
    pub(super) const LEN: usize = 3;

    /// Parses the header at the start of `bytes`; `None` if it is truncated.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(&[a, b, c]) = bytes.first_chunk() else { return Ok(None) };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = (header >> 3) as usize;
        if size > MAX_BLOCK {
            return Err(Malformed("a zstd block is longer than 128 KiB"));
        }
        let (len, kind) = match header >> 1 & 3 {
            0 => (size, Kind::Raw),
            1 => (1, Kind::Repeated(size)),
            2 => (size, Kind::Compressed),
            _ => return Err(Malformed("a zstd block has the reserved type")),
        };
        Ok(Some(Self { len, kind, is_last: header & 1 != 0 }))
    }
}
