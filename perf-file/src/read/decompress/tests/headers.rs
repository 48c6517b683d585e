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
    // A window has 5 bits of exponent and 3 of eighths; the number 0 is no dictionary.
    let headers: [(u8, &[u8], u64); 10] = [
        (0x00, &[0], 1 << 10),
        (0x04, &[1 << 3 | 3], (1 << 11) + 3 * (1 << 8)),
        (0x00, &[17 << 3], 128 << 20),
        (0x20, &[7], 7),
        (0x60, &[1, 1], 0x101 + 256),
        (0xa0, &[1, 1, 1, 0], 0x1_0101),
        (0xe0, &[0, 0, 0, 1, 0, 0, 0, 0], 1 << 24),
        (0x21, &[0, 7], 7),
        (0x22, &[0, 0, 7], 7),
        (0x43, &[1 << 3, 0, 0, 0, 0, 1, 1], 1 << 11),
    ];
    for (descriptor, rest, window) in headers {
        let bytes = frame(descriptor, rest);
        let header = Header::parse(&bytes).unwrap().unwrap();
        assert_eq!((header.len, header.window), (bytes.len(), window), "{descriptor:#x}");
        assert_eq!(header.has_checksum, descriptor == 0x04);
        let content = (descriptor & 0x20 != 0).then_some(window);
        assert_eq!(header.content, if descriptor == 0x43 { Some(0x101 + 256) } else { content });
        for len in 0..bytes.len() {
            assert!(Header::parse(&bytes[..len]).unwrap().is_none(), "{descriptor:#x}: {len} bytes");
        }
    }
}

#[test]
fn frames_that_cannot_be_decoded_are_refused() {
    let large = Header::parse(&frame(0, &[17 << 3 | 1])).err();
    assert!(large.is_some_and(|error| error.0.contains("larger than 128 MiB")));
    let other = Header::parse(&[0x29, 0xb5, 0x2f, 0xfd, 0, 0]).err();
    assert!(other.is_some_and(|error| error.0.contains("start of a zstd frame")));
    let reserved = Header::parse(&frame(8, &[0])).err();
    assert!(reserved.is_some_and(|error| error.0.contains("reserved")));
    let dictionary = Header::parse(&frame(0x21, &[9, 7])).err();
    assert!(dictionary.is_some_and(|error| error.0.contains("dictionary")));
}

#[test]
fn block_has_the_length_of_its_kind() {
    let kinds = [(RAW, Kind::Raw, 5), (REPEATED, Kind::Repeated(5), 1), (COMPRESSED, Kind::Compressed, 5)];
    for (number, kind, len) in kinds {
        for is_last in [false, true] {
            let bytes = block(5, number, is_last);
            let parsed = BlockHeader::parse(&bytes).unwrap().unwrap();
            assert_eq!((parsed.kind, parsed.len, parsed.is_last), (kind, len, is_last));
            assert!(BlockHeader::parse(&bytes[..2]).unwrap().is_none(), "truncated");
        }
    }
    assert!(BlockHeader::parse(&block(MAX_BLOCK, RAW, false)).unwrap().is_some());
    assert!(BlockHeader::parse(&block(MAX_BLOCK + 1, RAW, false)).is_err());
    assert!(BlockHeader::parse(&block(5, 3, false)).is_err());
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
