use super::*;
use std::vec;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

mod headers;
mod hostile;

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

/// Returns a frame whose header has a window of 1 KiB, with these blocks and without a last one.
fn frame(blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
    // magic number, descriptor, window
    let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0];
    for (kind, size, content) in blocks {
        stream.extend(&(size << 3 | kind << 1).to_le_bytes()[..3]);
        stream.extend(*content);
    }
    stream
}

#[test]
fn stream_split_anywhere_is_decompressed() {
    let content = repeating(3000, 700);
    let stream = compress_to_vec(&content[..], CompressionLevel::Fastest);
    for len in 1..stream.len() {
        assert_eq!(decompress(&stream, len).unwrap(), content, "{len}");
    }
}

#[test]
fn frames_follow_each_other() {
    let parts = [repeating(5000, 100), repeating(1, 1), repeating(70_000, 300)];
    let stream: Vec<u8> =
        parts.iter().flat_map(|part| compress_to_vec(&part[..], CompressionLevel::Fastest)).collect();
    assert_eq!(decompress(&stream, 1000).unwrap(), parts.concat());
}

#[test]
fn blocks_refer_to_the_window_after_it_was_moved() {
    let content = repeating(3 << 20, 20_000);
    let stream = compress_to_vec(&content[..], CompressionLevel::Fastest);
    assert!(stream.len() < content.len() / 4, "no reference to earlier content: {}", stream.len());
    let found = decompress(&stream, 60_000).unwrap();
    assert!(found == content);
}

#[test]
fn content_of_each_block_is_returned_at_once() {
    let mut decompressor = Decompressor::default();
    // Uncompressed, then one byte 5 times.
    decompressor.feed(&frame(&[(0, 3, b"abc"), (1, 5, b"x")]));
    assert_eq!(decompressor.decode_block(), Ok(true));
    assert_eq!(decompressor.output(), b"abc");
    assert_eq!(decompressor.decode_block(), Ok(true));
    assert_eq!(decompressor.output(), b"abcxxxxx");
    assert_eq!(decompressor.decode_block(), Ok(false));
}

#[test]
fn memory_of_a_long_frame_is_bounded() {
    let block = vec![7; MAX_BLOCK];
    let mut decompressor = Decompressor::default();
    decompressor.feed(&frame(&[]));
    for _ in 0..100 {
        decompressor.feed(&frame(&[(0, MAX_BLOCK as u32, &block)])[6..]);
        assert_eq!(decompressor.decode_block(), Ok(true));
        assert_eq!(decompressor.output(), block);
        decompressor.consume(MAX_BLOCK);
    }
    assert!(decompressor.output.capacity() <= 3 * MAX_BLOCK);
}

#[test]
fn checksum_at_the_end_of_a_frame_is_skipped() {
    // A descriptor with a checksum; the last block, empty; the checksum; another frame.
    let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, 4, 0, 1, 0, 0, 1, 2, 3, 4];
    stream.extend(frame(&[(0, 1, b"z")]));
    assert_eq!(decompress(&stream, 1).unwrap(), b"z");
}

#[test]
fn malformed_streams_are_errors_that_stay() {
    let wide = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 0, 0, 0];
    let cases = [&b"not zstd at all"[..], &wide, &frame(&[(3, 0, b"")]), &frame(&[(0, 200 << 10, b"")])];
    for stream in cases {
        let mut decompressor = Decompressor::default();
        decompressor.feed(stream);
        let error = decompressor.decode_block().unwrap_err();
        assert_eq!(decompressor.decode_block(), Err(error), "{stream:?}");
        assert_eq!(decompressor.decode_ahead(100), None);
    }
}
