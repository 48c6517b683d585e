//! The zstd stream inside compressed records, decoded by libzstd.

use std::fmt;

use zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

use super::buffer::Buffer;
use crate::Malformed;

/// The longest block of zstd, before and after compression.
const MAX_BLOCK: usize = 128 << 10;
/// Bytes of a block's header.
const BLOCK_HEADER: usize = 3;

/// A zstd stream that arrives in parts. Each part is flushed by the tool that writes it, so all
/// of its bytes can be decompressed; records continue in the next part.
///
/// libzstd refuses a window of more than 128 MiB, so a header cannot ask for more memory.
pub(super) struct Decompressor {
    /// Compressed bytes that are not decoded yet.
    input: Buffer,
    output: Buffer,
    /// The state of libzstd; `None` if there is no memory for it.
    context: Option<DCtx<'static>>,
    /// Bytes with which libzstd can continue; 0 after a frame.
    wanted: usize,
    failure: Option<Malformed>,
}

impl Default for Decompressor {
    fn default() -> Self {
        Self {
            input: Buffer::default(),
            output: Buffer::default(),
            context: DCtx::try_create(),
            wanted: 0,
            failure: None,
        }
    }
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
        let is_between_blocks = matches!(self.wanted, 0 | BLOCK_HEADER);
        self.input.len() > 0 || self.output.len() > 0 || !is_between_blocks
    }

    /// Consumes decompressed bytes.
    pub(super) fn consume(&mut self, len: usize) {
        self.output.consume(len);
    }

    /// Decodes the next block, or a part of it. Returns `false` if there is nothing to decode.
    ///
    /// One block at a time, because a block of 4 bytes can be decompressed to 128 KiB.
    pub(super) fn decode_block(&mut self) -> Result<bool, Malformed> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        // A whole block fits into the memory that `advance` passes, so libzstd keeps nothing back.
        while self.input.len() > 0 {
            match self.advance() {
                Ok(0) => {}
                Ok(_) => return Ok(true),
                Err(failure) => {
                    self.failure = Some(failure);
                    return Err(failure);
                }
            }
        }
        Ok(false)
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

    /// Passes the bytes that libzstd wants. Returns the number of bytes that it decoded.
    ///
    /// No more than one block, because the content before a malformed block is lost if both are decoded
    /// in one call.
    fn advance(&mut self) -> Result<usize, Malformed> {
        let context = self.context.as_mut().ok_or(Malformed("no memory for the decoder of zstd"))?;
        let bytes = self.input.unread();
        // After a block, libzstd also wants the header of the next one.
        let wanted = self.wanted.saturating_sub(BLOCK_HEADER).max(BLOCK_HEADER).min(bytes.len());
        let mut input = InBuffer::around(bytes.get(..wanted).unwrap_or_default());
        let spare = self.output.spare(MAX_BLOCK);
        let mut output = OutBuffer::around(spare);
        let wanted = context.decompress_stream(&mut output, &mut input);
        let (read, decoded) = (input.pos(), output.pos());
        self.input.consume(read);
        self.output.commit(decoded);
        self.wanted = wanted.map_err(|code| Malformed(get_error_name(code)))?;
        Ok(decoded)
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
