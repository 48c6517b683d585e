//! The zstd stream inside compressed records.

use std::fmt;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::vec::Vec;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::buffer::Buffer;
use crate::Malformed;

/// A zstd stream that arrives in parts. Each part is flushed by the tool that writes it, so all
/// of its bytes can be decompressed; records continue in the next part.
#[derive(Default)]
pub(super) struct Decompressor {
    /// Compressed bytes that are not decoded yet.
    input: Buffer,
    frame: Option<Frame>,
    /// The decoder of the last frame, whose tables are used again.
    decoder: Option<FrameDecoder>,
    output: Buffer,
    failure: Option<Malformed>,
}

/// A zstd frame in progress.
struct Frame {
    decoder: FrameDecoder,
    /// Bytes that later blocks can refer to.
    window: usize,
    has_checksum: bool,
    /// Bytes of the decoder's buffer that were copied to the output.
    copied: usize,
}

/// The largest window, that of the highest level of zstd.
const MAX_WINDOW: u64 = 128 << 20;
/// The largest window for which memory is reserved: that of the usual levels.
const MAX_RESERVED: u64 = 4 << 20;
/// The longest block of zstd, before and after compression.
const MAX_BLOCK: usize = 128 << 10;

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
        if self.frame.is_none() {
            let Some(header) = Header::parse(self.input.unread())? else { return Ok(false) };
            let mut bytes = self.input.unread();
            // A decoder that is used again reserves memory for the whole window.
            let decoder = self.decoder.take().filter(|_| header.window <= MAX_RESERVED);
            let frame = Frame::new(decoder.unwrap_or_default(), &header, &mut bytes)?;
            self.input.consume(header.len);
            self.frame = Some(frame);
        }
        let Some(frame) = &mut self.frame else { return Ok(false) };
        let Some(block) = Block::parse(self.input.unread())? else { return Ok(false) };
        let checksum = if block.is_last && frame.has_checksum { 4 } else { 0 };
        let Some(bytes) = self.input.unread().get(..block.len + checksum) else { return Ok(false) };
        frame.decode(bytes.get(..block.len).unwrap_or_default(), &mut self.output)?;
        self.input.consume(block.len + checksum);
        if block.is_last {
            self.decoder = self.frame.take().map(|frame| frame.decoder);
        }
        Ok(true)
    }
}

/// The parts of a frame's header that matter here.
struct Header {
    len: usize,
    window: u64,
    has_checksum: bool,
}

impl Header {
    /// Parses the header at the start of `bytes`; `None` if it is truncated.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some((magic, [descriptor, rest @ ..])) = bytes.split_first_chunk() else { return Ok(None) };
        if u32::from_le_bytes(*magic) != 0xfd2f_b528 {
            return Err(Malformed("expected the start of a zstd frame"));
        }
        let is_single_segment = descriptor & 0x20 != 0;
        let window_len = usize::from(!is_single_segment);
        let dictionary_len = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0);
        let content_len = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            shift => 1 << shift,
        };
        let len = 5 + window_len + dictionary_len + content_len;
        if bytes.len() < len {
            return Ok(None);
        }
        let window = if let [window, ..] = rest.get(..window_len).unwrap_or_default() {
            let base = 1_u64 << (10 + (window >> 3));
            base + base / 8 * u64::from(window & 7)
        } else {
            let mut content = [0; 8];
            let from = rest.get(dictionary_len..dictionary_len + content_len).unwrap_or_default();
            content.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            // A length of two bytes counts from 256.
            u64::from_le_bytes(content) + if content_len == 2 { 256 } else { 0 }
        };
        if window > MAX_WINDOW {
            return Err(Malformed("the window of the zstd frame is larger than 128 MiB"));
        }
        Ok(Some(Self { len, window, has_checksum: descriptor & 4 != 0 }))
    }
}

/// The header of a block.
struct Block {
    /// Bytes of the block with its header.
    len: usize,
    is_last: bool,
}

impl Block {
    /// Parses the header at the start of `bytes`; `None` if the block is truncated.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(&[a, b, c]) = bytes.first_chunk() else { return Ok(None) };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = (header >> 3) as usize;
        if size > MAX_BLOCK {
            return Err(Malformed("a zstd block is longer than 128 KiB"));
        }
        let content = match header >> 1 & 3 {
            0 | 2 => size,
            1 => 1,
            _ => return Err(Malformed("a zstd block has the reserved type")),
        };
        let is_whole = bytes.len() >= 3 + content;
        Ok(is_whole.then_some(Self { len: 3 + content, is_last: header & 1 != 0 }))
    }
}

impl Frame {
    fn new(mut decoder: FrameDecoder, header: &Header, bytes: &mut &[u8]) -> Result<Self, Malformed> {
        decoder.init(bytes).map_err(|_| Malformed("the header of a zstd frame is malformed"))?;
        let mut frame = Self {
            decoder,
            window: usize::try_from(header.window).unwrap_or(usize::MAX),
            has_checksum: header.has_checksum,
            copied: 0,
        };
        // After a last block the decoder shows all of its buffer, not only what is outside of the
        // window. Blocks can still follow. An empty last block with a checksum:
        frame.decode_one(&[1, 0, 0, 0, 0, 0, 0][..])?;
        Ok(frame)
    }

    fn decode_one(&mut self, block: impl Read) -> Result<(), Malformed> {
        let decoder = &mut self.decoder;
        let decode = || decoder.decode_blocks(block, BlockDecodingStrategy::UptoBlocks(1));
        // The decoder asserts some properties of blocks instead of returning an error.
        match catch_unwind(AssertUnwindSafe(decode)) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Malformed("a zstd block is malformed")),
        }
    }

    /// Decodes a block and appends its content to `output`.
    fn decode(&mut self, block: &[u8], output: &mut Buffer) -> Result<(), Malformed> {
        let [first, rest @ ..] = block else { return Ok(()) };
        // Not as the last one, because a checksum would have to follow.
        let first = [first & !1];
        self.decode_one(first.chain(rest))?;
        let unread = self.decoder.can_collect();
        if unread - self.copied.min(unread) > MAX_BLOCK {
            return Err(Malformed("a zstd block is decompressed to more than 128 KiB"));
        }
        let mut tail = Tail { skip: self.copied, output };
        // The writer takes nothing, so the content stays in the buffer for the next blocks.
        if self.decoder.collect_to_writer(&mut tail).is_err() || tail.skip != unread {
            return Err(Malformed("the buffer of the zstd decoder is not contiguous"));
        }
        self.copied = unread;
        if self.copied > 2 * self.window + 8 * MAX_BLOCK {
            self.shrink()?;
        }
        Ok(())
    }

    /// Removes what is outside of the window from the decoder's buffer: takes all of it and feeds
    /// the window as uncompressed blocks.
    #[cold]
    fn shrink(&mut self) -> Result<(), Malformed> {
        let all: Vec<u8> = self.decoder.collect().unwrap_or_default();
        let window = all.get(all.len() - self.window.min(all.len())..).unwrap_or_default();
        for chunk in window.chunks(MAX_BLOCK) {
            let [size, high, higher, _] = u32::try_from(chunk.len() << 3).unwrap_or(0).to_le_bytes();
            self.decode_one([size, high, higher].chain(chunk))?;
        }
        self.copied = window.len();
        Ok(())
    }
}

/// A writer that copies what follows the first `skip` bytes, and takes nothing.
struct Tail<'a> {
    skip: usize,
    output: &'a mut Buffer,
}

impl Write for Tail<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.output.extend(buffer.get(self.skip..).unwrap_or_default());
        self.skip = buffer.len();
        Ok(0)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
