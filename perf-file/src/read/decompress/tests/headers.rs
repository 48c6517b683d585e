use std::vec;

use super::super::*;

const RAW: u32 = 0;
const REPEATED: u32 = 1;
const COMPRESSED: u32 = 2;

/// Returns the header of a frame: the magic number, the descriptor and what follows it.
fn frame(descriptor: u8, rest: &[u8]) -> Vec<u8> {
    [&[0x28, 0xb5, 0x2f, 0xfd, descriptor], rest].concat()
}

/// Returns the header of a block.
fn block(size: usize, kind: u32, is_last: bool) -> [u8; 3] {
    let header = u32::try_from(size).unwrap() << 3 | kind << 1 | u32::from(is_last);
    let [a, b, c, _] = header.to_le_bytes();
    [a, b, c]
}

/// Returns an uncompressed block.
fn raw(content: &[u8], is_last: bool) -> Vec<u8> {
    [&block(content.len(), RAW, is_last), content].concat()
}

#[test]
fn header_has_the_length_and_window_of_its_descriptor() {
    // A window has 5 bits of exponent and 3 of eighths; a dictionary's number is skipped.
    let headers: [(u8, &[u8], u64); 10] = [
        (0x00, &[0], 1 << 10),
        (0x04, &[1 << 3 | 3], (1 << 11) + 3 * (1 << 8)),
        (0x00, &[17 << 3], 128 << 20),
        (0x20, &[7], 7),
        (0x60, &[1, 1], 0x101 + 256),
        (0xa0, &[1, 1, 1, 0], 0x1_0101),
        (0xe0, &[0, 0, 0, 1, 0, 0, 0, 0], 1 << 24),
        (0x21, &[9, 7], 7),
        (0x22, &[9, 9, 7], 7),
        (0x43, &[1 << 3, 9, 9, 9, 9, 1, 1], 1 << 11),
    ];
    for (descriptor, rest, window) in headers {
        let bytes = frame(descriptor, rest);
        let header = Header::parse(&bytes).unwrap().unwrap();
        assert_eq!((header.len, header.window), (bytes.len(), window), "{descriptor:#x}");
        assert_eq!(header.has_checksum, descriptor == 0x04);
        for len in 0..bytes.len() {
            assert!(Header::parse(&bytes[..len]).unwrap().is_none(), "{descriptor:#x}: {len} bytes");
        }
    }
}

#[test]
fn frames_with_another_start_or_a_large_window_are_refused() {
    let large = Header::parse(&frame(0, &[17 << 3 | 1])).err();
    assert!(large.is_some_and(|error| error.0.contains("larger than 128 MiB")));
    let other = Header::parse(&[0x29, 0xb5, 0x2f, 0xfd, 0, 0]).err();
    assert!(other.is_some_and(|error| error.0.contains("start of a zstd frame")));
}

#[test]
fn block_has_the_length_of_its_kind() {
    for (kind, content) in [(RAW, 5), (REPEATED, 1), (COMPRESSED, 5)] {
        for is_last in [false, true] {
            let bytes = [&block(5, kind, is_last)[..], &vec![7; content]].concat();
            let parsed = Block::parse(&bytes).unwrap().unwrap();
            assert_eq!((parsed.len, parsed.is_last), (3 + content, is_last), "{kind}");
            for len in 0..bytes.len() {
                assert!(Block::parse(&bytes[..len]).unwrap().is_none(), "{kind}: {len} bytes");
            }
        }
    }
    assert!(Block::parse(&block(MAX_BLOCK, RAW, false)).unwrap().is_none(), "truncated");
    assert!(Block::parse(&block(MAX_BLOCK + 1, RAW, false)).is_err());
    assert!(Block::parse(&block(5, 3, false)).is_err());
}

#[test]
fn blocks_are_decoded_ahead_up_to_a_limit() {
    let mut stream = Decompressor::default();
    assert!(!stream.has_rest());
    stream.feed(&[frame(0, &[0]), raw(b"abc", false), raw(b"def", false)].concat());
    assert_eq!((stream.decode_ahead(3), stream.output()), (None, &b"abc"[..]));
    assert_eq!((stream.decode_ahead(100), stream.output()), (Some(3), &b"abcdef"[..]));
    assert!(stream.has_rest(), "decompressed");
    stream.consume(6);
    assert!(!stream.has_rest());
    let next = raw(b"ghi", false);
    stream.feed(&next[..4]);
    assert_eq!((stream.decode_ahead(100), stream.has_rest()), (Some(0), true), "a part of a block");
    stream.feed(&next[4..]);
    assert_eq!((stream.decode_ahead(4), stream.output()), (Some(3), &b"ghi"[..]));
}
