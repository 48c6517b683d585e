//! The zstd stream inside compressed records.
//!
//! The decoder is our own, because recordings are not trusted. The decoders in Rust that were looked
//! at (`ruzstd` 0.8.1 and 0.9.1) assert properties of malformed blocks, and 0.8.1, the last one for
//! Rust 1.85, writes gigabytes for a malformed block of some kilobytes. libzstd needs a C compiler for
//! each target. This decoder returns an error for each malformed block, writes at most the 128 KiB of
//! the format for a block, and keeps the window in the memory from which records are read. The fuzz
//! target `perf_data_zstd` compares it with libzstd. Checksums, which the perf tool does not write, are
//! not compared.
//!
//! The format is that of RFC 8878.

mod bits;
mod frame;
mod fse;
mod huffman;
mod literals;
mod sequences;
mod window;

use std::fmt;
use std::vec::Vec;

use super::buffer::Buffer;
use crate::Malformed;

use frame::{BlockHeader, Header, Kind};
use huffman::Huffman;
use sequences::Sequences;
use window::Window;

/// The longest block of zstd, before and after compression.
const MAX_BLOCK: usize = 128 << 10;

/// A zstd stream that arrives in parts. Each part is flushed by the tool that writes it, so all
/// of its bytes can be decompressed; records continue in the next part.
#[derive(Default)]
pub(super) struct Decompressor {
    /// Compressed bytes that are not decoded yet.
    input: Buffer,
    frame: Option<Frame>,
    tables: Tables,
    output: Window,
    failure: Option<Malformed>,
}

/// A zstd frame in progress.
#[derive(Clone, Copy)]
struct Frame {
    /// Bytes of content that are missing, if the header has their number.
    left: Option<u64>,
    has_checksum: bool,
}

/// The state that a block takes over from the block before.
#[derive(Default)]
struct Tables {
    huffman: Huffman,
    sequences: Sequences,
    /// Memory for the literals of a block.
    literals: Vec<u8>,
}

impl Decompressor {
    /// Appends a part of the stream.
    pub(super) fn feed(&mut self, part: &[u8]) {
        self.input.extend(part);
    }

    /// Returns the decompressed bytes that were not consumed.
    pub(super) fn output(&self) -> &[u8] {
        self.output.unread()
    }

    /// Returns whether bytes are left, decompressed or not.
    pub(super) fn has_rest(&self) -> bool {
        self.input.len() > 0 || self.output.len() > 0
    }

    /// Consumes decompressed bytes.
    pub(super) fn consume(&mut self, len: usize) {
        self.output.consume(len);
    }

    /// Decodes the next block. Returns `false` if no whole block was fed.
    ///
    /// One block at a time, because a block of 4 bytes can be decompressed to 128 KiB.
    pub(super) fn decode_block(&mut self) -> Result<bool, Malformed> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let decoded = self.decode_next();
        self.failure = decoded.err();
        decoded
    }

    /// Decodes the fed blocks up to about `limit` bytes, if this is possible. Returns the number of
    /// bytes; `None` if there are more or a block is malformed, which a later call returns.
    pub(super) fn decode_ahead(&mut self, limit: usize) -> Option<usize> {
        let before = self.output.len();
        while self.output.len() - before < limit {
            if !self.decode_block().ok()? {
                return Some(self.output.len() - before);
            }
        }
        None
    }

    fn decode_next(&mut self) -> Result<bool, Malformed> {
        let frame = if let Some(frame) = self.frame {
            frame
        } else {
            let Some(header) = Header::parse(self.input.unread())? else { return Ok(false) };
            self.input.consume(header.len);
            self.output.start_frame(usize::try_from(header.window).unwrap_or(usize::MAX));
            self.tables.huffman.clear();
            self.tables.sequences.clear();
            *self.frame.insert(Frame { left: header.content, has_checksum: header.has_checksum })
        };
        let Some(header) = BlockHeader::parse(self.input.unread())? else { return Ok(false) };
        let end = BlockHeader::LEN + header.len;
        let checksum = if header.is_last && frame.has_checksum { 4 } else { 0 };
        let Some(bytes) = self.input.unread().get(..end + checksum) else { return Ok(false) };
        let mut block = self.output.block();
        self.tables.decode(header.kind, bytes.get(BlockHeader::LEN..end).unwrap_or_default(), &mut block)?;
        let len = block.len();
        let left = match frame.left.map(|left| left.checked_sub(len as u64)) {
            Some(None) => return Err(Malformed("a zstd frame has more content than its header has")),
            Some(Some(1..)) if header.is_last => {
                return Err(Malformed("a zstd frame has less content than its header has"));
            }
            left => left.flatten(),
        };
        self.output.commit(len);
        self.input.consume(end + checksum);
        self.frame = (!header.is_last).then_some(Frame { left, ..frame });
        Ok(true)
    }
}

impl Tables {
    /// Decodes the content of a block.
    fn decode(&mut self, kind: Kind, bytes: &[u8], block: &mut window::Block<'_>) -> Result<(), Malformed> {
        match kind {
            Kind::Raw => block.extend(bytes, bytes.len()),
            Kind::Repeated(len) => block.fill(bytes.first().copied().unwrap_or(0), len),
            Kind::Compressed => {
                let rest = literals::read(bytes, &mut self.huffman, &mut self.literals)?;
                self.sequences.decode(rest, &self.literals, block)
            }
        }
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor")
            .field("input", &self.input.len())
            .field("output", &self.output.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
