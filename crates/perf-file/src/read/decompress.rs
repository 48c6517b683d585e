//! The zstd stream inside compressed records, decoded by libzstd.

use std::fmt;

#[cfg(feature = "zstd")]
use zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

use super::buffer::Buffer;
use crate::error::Malformed;

/// The longest block of zstd, before and after compression.
#[cfg(feature = "zstd")]
const MAX_BLOCK: usize = 128 << 10;
/// Bytes of a block's header.
const BLOCK_HEADER: usize = 3;

/// A zstd stream that arrives in parts. Each part is flushed by the tool that writes it, so all
/// of its bytes can be decompressed; records continue in the next part.
///
/// libzstd refuses a window of more than 128 MiB, so a header cannot ask for more memory.
#[derive(Default)]
pub(super) struct Decompressor {
    /// Compressed bytes that are not decoded yet.
    input: Buffer,
    output: Buffer,
    /// The state of libzstd, from the first block on.
    #[cfg(feature = "zstd")]
    context: Option<DCtx<'static>>,
    /// Bytes with which libzstd can continue; 0 after a frame.
    wanted: usize,
    failure: Option<Malformed>,
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

    /// Decodes the next block, or a part of it. Returns `false` if no input is left.
    ///
    /// Only one block at a time, because a block of 4 bytes can be decompressed to 128 KiB.
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
    /// No more than one block, because the content before a malformed block is lost if both are
    /// decoded in one call.
    #[cfg(feature = "zstd")]
    fn advance(&mut self) -> Result<usize, Malformed> {
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(DCtx::try_create().ok_or(Malformed("no memory for the decoder of zstd"))?),
        };
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

    #[cfg(not(feature = "zstd"))]
    #[expect(clippy::unused_self, reason = "the method with the feature uses it")]
    fn advance(&mut self) -> Result<usize, Malformed> {
        Err(Malformed("perf-file was built without the feature `zstd`"))
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
#[cfg(feature = "zstd")]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    const RAW: u32 = 0;
    const REPEATED: u32 = 1;
    const COMPRESSED: u32 = 2;

    /// Compresses with a level of libzstd.
    fn compress(content: &[u8], level: i32) -> Vec<u8> {
        let mut stream = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        zstd_safe::compress(&mut stream, content, level).unwrap();
        stream
    }

    /// Feeds a stream in parts of `len` bytes. Returns its content.
    fn decompress(stream: &[u8], len: usize) -> Result<Vec<u8>, Malformed> {
        let mut decompressor = Decompressor::default();
        let mut content = Vec::new();
        for part in stream.chunks(len) {
            decompressor.feed(part);
            while decompressor.decode_block()? {
                content.extend(decompressor.output());
                decompressor.consume(usize::MAX);
            }
        }
        assert!(!decompressor.has_rest());
        Ok(content)
    }

    /// Returns numbers that look random and repeat after `period`.
    fn repeating(len: usize, period: usize) -> Vec<u8> {
        let mut random = 1_u32;
        let mut once = Vec::new();
        for _ in 0..period {
            random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
            once.push((random >> 16) as u8);
        }
        once.iter().copied().cycle().take(len).collect()
    }

    /// Returns a block.
    fn block(kind: u32, size: usize, content: &[u8]) -> Vec<u8> {
        let header = (u32::try_from(size).unwrap() << 3 | kind << 1).to_le_bytes();
        [&header[..3], content].concat()
    }

    /// Returns a frame whose header has a window of 128 KiB, with these blocks and without a last
    /// one.
    fn frame(blocks: &[Vec<u8>]) -> Vec<u8> {
        // magic number, descriptor, window
        [&[0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3], &blocks.concat()[..]].concat()
    }

    #[test]
    fn stream_split_anywhere_is_decompressed() {
        let content = repeating(3000, 700);
        let stream = compress(&content, 1);
        for len in 1..stream.len() {
            assert_eq!(decompress(&stream, len).unwrap(), content, "{len}");
        }
    }

    #[test]
    fn frames_of_all_levels_follow_each_other() {
        let content = repeating(300_000, 5000);
        let levels = [-5, 1, 3, 19, 22];
        let stream: Vec<u8> = levels.iter().flat_map(|level| compress(&content, *level)).collect();
        for len in [1000, usize::MAX] {
            assert!(decompress(&stream, len).unwrap() == content.repeat(levels.len()));
        }
    }

    #[test]
    fn content_before_a_malformed_block_is_returned() {
        // The fourth kind of blocks is reserved.
        let blocks = [block(RAW, 3, b"abc"), block(REPEATED, 5, b"x"), block(3, 1, b"y")];
        for len in [1, 1000] {
            let mut decompressor = Decompressor::default();
            let mut failure = None;
            for part in frame(&blocks).chunks(len) {
                decompressor.feed(part);
                while failure.is_none()
                    && decompressor.decode_block().map_err(|error| failure = Some(error)) == Ok(true)
                {
                }
            }
            assert_eq!(decompressor.output(), b"abcxxxxx");
            assert!(failure.is_some());
            assert_eq!(decompressor.decode_block().err(), failure);
        }
    }

    #[test]
    fn block_of_few_bytes_is_decoded_alone() {
        // Each block of 4 bytes is 128 KiB.
        let blocks = vec![block(REPEATED, MAX_BLOCK, b"x"); 1000];
        let mut decompressor = Decompressor::default();
        decompressor.feed(&frame(&blocks));
        let mut most = 0;
        while decompressor.decode_block().unwrap() {
            most = most.max(decompressor.output().len());
            assert!(decompressor.output().iter().all(|byte| *byte == b'x'));
            decompressor.consume(usize::MAX);
        }
        assert!((1..=2 * MAX_BLOCK).contains(&most), "{most}");
    }

    #[test]
    fn block_that_repeats_gigabytes_is_refused() {
        // 32,512 sequences, each with the literals' code 0, the offset's code 0 and the matches'
        // code 52, whose 16 bits are ones: 131,074 bytes each, 4.2 GB.
        let mut content = vec![0, 255, 0, 0, 0b0101_0100, 0, 0, 52];
        content.extend(vec![0xff; 2 * 0x7f00]);
        content.push(1);
        let mut decompressor = Decompressor::default();
        decompressor.feed(&frame(&[block(RAW, 8, b"repeated"), block(COMPRESSED, content.len(), &content)]));
        assert_eq!(decompressor.decode_block(), Ok(true));
        assert!(decompressor.decode_block().is_err());
        assert_eq!(decompressor.output(), b"repeated");
    }

    #[test]
    fn malformed_streams_are_errors_that_stay() {
        // A window of more than 128 MiB.
        let wide = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 0, 0, 0];
        let cases = [
            &b"not zstd at all"[..],
            &wide,
            &frame(&[block(3, 0, b"")]),
            &frame(&[block(RAW, 200 << 10, b"")]),
        ];
        for stream in cases {
            let mut decompressor = Decompressor::default();
            decompressor.feed(stream);
            let error = decompressor.decode_block().unwrap_err();
            assert_eq!(decompressor.decode_block(), Err(error), "{stream:?}");
            assert_eq!(decompressor.decode_ahead(100), None);
        }
    }

    #[test]
    fn checksum_at_the_end_of_a_frame_is_compared() {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
        let mut stream = Vec::with_capacity(1000);
        context.compress2(&mut stream, b"content").unwrap();
        assert_eq!(decompress(&stream, 1).unwrap(), b"content");
        *stream.last_mut().unwrap() ^= 1;
        assert!(decompress(&stream, 1000).unwrap_err().0.contains("checksum"));
    }

    #[test]
    fn blocks_are_decoded_ahead_up_to_a_limit() {
        let mut stream = Decompressor::default();
        assert!(!stream.has_rest());
        stream.feed(&frame(&[block(RAW, 3, b"abc"), block(RAW, 3, b"def")]));
        assert_eq!((stream.decode_ahead(3), stream.output()), (None, &b"abc"[..]));
        assert_eq!((stream.decode_ahead(100), stream.output()), (Some(3), &b"abcdef"[..]));
        // The limit applies to the new bytes.
        stream.feed(&block(RAW, 3, b"ghi"));
        assert_eq!((stream.decode_ahead(4), stream.output()), (Some(3), &b"abcdefghi"[..]));
        assert!(stream.has_rest(), "decompressed");
        stream.consume(9);
        assert!(!stream.has_rest());
    }

    #[test]
    fn part_of_a_block_is_a_rest() {
        let next = block(RAW, 5, b"ghijk");
        for len in 4..next.len() {
            let mut stream = Decompressor::default();
            stream.feed(&frame(&[block(RAW, 3, b"abc")]));
            assert_eq!(stream.decode_ahead(100), Some(3));
            stream.consume(3);
            assert!(!stream.has_rest());
            let (first, rest) = next.split_at(len);
            stream.feed(first);
            let begun = stream.decode_ahead(100).unwrap();
            assert!(stream.has_rest(), "{len}");
            stream.feed(rest);
            assert_eq!(begun + stream.decode_ahead(100).unwrap(), 5);
            assert_eq!(stream.output(), b"ghijk");
        }
    }
}
