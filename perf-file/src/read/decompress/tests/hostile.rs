//! Blocks that no encoder writes.

use std::vec;

use super::*;

const RAW: u32 = 0;
const REPEATED: u32 = 1;
const COMPRESSED: u32 = 2;

/// No literals.
const NO_LITERALS: u8 = 0;

/// Decodes the blocks of one frame. Returns the error of the last one.
fn error_of(blocks: &[(u32, u32, &[u8])]) -> &'static str {
    let mut decompressor = Decompressor::default();
    decompressor.feed(&frame(blocks));
    for _ in 1..blocks.len() {
        assert_eq!(decompressor.decode_block(), Ok(true));
    }
    let before = decompressor.output().len();
    let error = decompressor.decode_block().unwrap_err();
    assert_eq!(decompressor.output().len(), before, "content of a malformed block");
    error.0
}

/// Returns the error of a compressed block.
fn error_in(block: &[u8]) -> &'static str {
    error_of(&[(COMPRESSED, block.len() as u32, block)])
}

#[test]
fn block_that_repeats_gigabytes_is_refused_at_128_kib() {
    // 32,512 sequences, each with the literals' code 0, the offset's code 0 and the matches' code 52,
    // whose 16 bits are ones: 131,074 bytes each, 4.2 GB.
    let mut block = vec![NO_LITERALS, 255, 0, 0, 0b0101_0100, 0, 0, 52];
    block.extend(vec![0xff; 2 * 0x7f00]);
    block.push(1);
    let mut decompressor = Decompressor::default();
    decompressor.feed(&frame(&[(RAW, 8, b"repeated"), (COMPRESSED, block.len() as u32, &block)]));
    assert_eq!(decompressor.decode_block(), Ok(true));
    let error = decompressor.decode_block().unwrap_err();
    assert_eq!(error.0, "a zstd block is decompressed to more than 128 KiB");
    assert_eq!(decompressor.output(), b"repeated");
    assert!(decompressor.output.capacity() <= 3 * MAX_BLOCK);
}

#[test]
fn longest_block_is_128_kib() {
    let mut decompressor = Decompressor::default();
    decompressor.feed(&frame(&[(REPEATED, MAX_BLOCK as u32, b"x")]));
    assert_eq!(decompressor.decode_block(), Ok(true));
    assert!(decompressor.output() == vec![b'x'; MAX_BLOCK]);
    // One literal, then 131,071 and 131,072 bytes of a match: code 52 is 65,539 and 16 bits.
    for (extra, is_long) in [(131_071 - 65_539, false), (131_072 - 65_539, true)] {
        let [low, high] = u16::try_from(extra).unwrap().to_le_bytes();
        let block = [1 << 3, b'y', 1, 0b0101_0100, 1, 0, 52, low, high, 1];
        let mut decompressor = Decompressor::default();
        decompressor.feed(&frame(&[(COMPRESSED, block.len() as u32, &block)]));
        assert_eq!(decompressor.decode_block().is_err(), is_long);
        assert_eq!(decompressor.output().len(), if is_long { 0 } else { MAX_BLOCK });
        assert!(decompressor.output().iter().all(|byte| *byte == b'y'));
    }
}

#[test]
fn many_short_blocks_are_decoded_up_to_the_limit_of_a_call() {
    // 1,000 blocks of 4 bytes that are 128 KiB each.
    let mut decompressor = Decompressor::default();
    decompressor.feed(&frame(&vec![(REPEATED, MAX_BLOCK as u32, &b"x"[..]); 1000]));
    assert_eq!(decompressor.decode_ahead(4 << 20), None);
    assert_eq!(decompressor.output().len(), 4 << 20);
    assert!(decompressor.output.capacity() < 8 << 20, "{}", decompressor.output.capacity());
}

#[test]
fn offsets_end_at_the_start_of_the_frame_and_of_the_window() {
    let before = "a zstd block refers to bytes before the window";
    // No literals and a match of 3 bytes: the offset's code 0 is then the second one, 4.
    let repeat: &[u8] = &[NO_LITERALS, 1, 0b0101_0100, 0, 0, 0, 1];
    let len = repeat.len() as u32;
    assert_eq!(error_of(&[(RAW, 3, b"abc"), (COMPRESSED, len, repeat)]), before);
    let mut stream = frame(&[(RAW, 4, b"abcd"), (COMPRESSED, len, repeat)]);
    assert_eq!(decompress(&stream, 1000).unwrap(), b"abcdabc");
    // The content of another frame is not in the window.
    stream.extend([1, 0, 0]);
    stream.extend(frame(&[(COMPRESSED, len, repeat)]));
    assert_eq!(decompress(&stream, 1000).unwrap_err().0, before);
    // A window of 1 KiB. The offset's code 10 is 1024 and 10 bits, less 3.
    for (offset, is_far) in [(1024, false), (1025, true)] {
        let bits = u16::try_from(offset + 3 - 1024).unwrap() | 1 << 10;
        let [low, high] = bits.to_le_bytes();
        let block: &[u8] = &[NO_LITERALS, 1, 0b0101_0100, 0, 10, 0, low, high];
        let stream = frame(&[(REPEATED, 2000, b"x"), (COMPRESSED, block.len() as u32, block)]);
        assert_eq!(decompress(&stream, 5000).map_err(|error| error.0).err(), is_far.then_some(before));
    }
}

#[test]
fn offset_0_is_refused() {
    // Without literals, the offset's code 1 and the bit 1 are the value 3: the last one, 1, less 1.
    let block: &[u8] = &[NO_LITERALS, 1, 0b0101_0100, 0, 1, 0, 0b11];
    let error = error_of(&[(RAW, 3, b"abc"), (COMPRESSED, block.len() as u32, block)]);
    assert_eq!(error, "a zstd block refers to bytes before the window");
}

#[test]
fn truncated_and_trailing_parts_of_blocks_are_refused() {
    for block in [
        &b""[..],
        // The literals' header: of 3 bytes, then of 5.
        &[2],
        &[0b1110, 0, 0, 0],
        // Fewer literals than their header has, and none to repeat.
        &[2 << 3, b'a'],
        &[1 | 2 << 3],
        // No sequences' header, no second and third byte of it, no modes.
        &[NO_LITERALS],
        &[NO_LITERALS, 128],
        &[NO_LITERALS, 255, 0],
        &[NO_LITERALS, 1],
        // No symbol, no table.
        &[NO_LITERALS, 1, 0b0101_0100, 0, 0],
        &[NO_LITERALS, 1, 0b1000_0000],
    ] {
        assert!(error_in(block).contains("truncated"), "{block:?}: {}", error_in(block));
    }
    assert!(error_in(&[NO_LITERALS, 0, 0]).contains("trailing bytes"));
    assert!(error_in(&[NO_LITERALS, 1, 0b0101_0101, 0, 0, 0, 1]).contains("reserved bits"));
    assert!(error_in(&[NO_LITERALS, 1, 0b0101_0100, 0, 0, 0, 0]).contains("no end mark"));
    assert!(error_in(&[NO_LITERALS, 1, 0b0101_0100, 0, 0, 0]).contains("no end mark"));
    // A bit after the sequence, in an otherwise well-formed block.
    let block: &[u8] = &[NO_LITERALS, 1, 0b0101_0100, 0, 0, 0, 0b10];
    let error = error_of(&[(RAW, 4, b"abcd"), (COMPRESSED, block.len() as u32, block)]);
    assert!(error.contains("trailing bits"), "{error}");
    // 16 bits of the length, 8 are there.
    assert!(error_in(&[NO_LITERALS, 1, 0b0101_0100, 0, 0, 52, 0, 1]).contains("truncated"));
}

#[test]
fn sequences_use_the_literals_of_their_block() {
    // Code 2: two literals, of which there is one.
    let error = error_in(&[1 << 3, b'y', 1, 0b0101_0100, 2, 0, 0, 1]);
    assert_eq!(error, "a zstd block uses more literals than it has");
}

#[test]
fn tables_of_blocks_that_are_not_there_are_refused() {
    // Literals in the Huffman code of the block before: 1 in 1 byte.
    let treeless: &[u8] = &[3 | 1 << 4, 0b0100_0000, 0, 1, 0];
    assert!(error_in(treeless).contains("Huffman table that no block described"));
    for modes in [0b1101_0100, 0b0111_0100, 0b0101_1100] {
        let block = [NO_LITERALS, 1, modes, 0, 0, 1];
        assert_eq!(error_in(&block), "a zstd block uses a table that no block described", "{modes:#b}");
    }
    // Tables of an earlier frame.
    let repeat: &[u8] = &[NO_LITERALS, 1, 0b0101_0100, 0, 0, 0, 1];
    let repeat_again: &[u8] = &[NO_LITERALS, 1, 0b1111_1100, 1];
    let content = [(RAW, 4, &b"abcd"[..]), (COMPRESSED, 7, repeat), (COMPRESSED, 4, repeat_again)];
    // The offsets 4 and 1 are exchanged each time.
    let mut stream = frame(&content);
    assert_eq!(decompress(&stream, 1000).unwrap(), b"abcdabcccc");
    stream.extend([1, 0, 0]);
    stream.extend(frame(&[content[0], content[2]]));
    assert!(decompress(&stream, 1000).unwrap_err().0.contains("that no block described"));
}

#[test]
fn symbols_and_sizes_of_tables_are_limited() {
    for (symbols, is_known) in
        [([35, 0, 0], true), ([36, 0, 0], false), ([0, 0, 53], false), ([0, 32, 0], false)]
    {
        let [literals, offset, matches] = symbols;
        let block = [NO_LITERALS, 1, 0b0101_0100, literals, offset, matches, 1];
        assert_eq!(error_in(&block).contains("unknown symbol"), !is_known, "{symbols:?}");
    }
    // The logarithm 5 + 5 of the literals' table, and 5 + 4 of the offsets'.
    for (modes, log) in [(0b1000_0000, 5), (0b0010_0000, 4), (0b0000_1000, 5)] {
        assert!(error_in(&[NO_LITERALS, 1, modes, log, 0, 0, 0, 1]).contains("too many states"));
    }
    // Symbols that do not occur: probability 0, then digits of 3 until there is no further symbol.
    let mut zeros = vec![NO_LITERALS, 1, 0b1000_0000, 0b0001_0000, 0b1111_1110];
    zeros.extend([0xff; 100]);
    assert!(error_in(&zeros).contains("too many symbols"), "{}", error_in(&zeros));
}

#[test]
fn malformed_huffman_tables_are_refused() {
    // Compressed literals, one stream: 1 literal in `len` bytes.
    let error = |table: &[u8]| {
        let len = table.len() as u32;
        let header = (2 | 1 << 4 | len << 14).to_le_bytes();
        error_in(&[&header[..3], table].concat())
    };
    assert!(error(&[]).contains("Huffman table is truncated"));
    assert!(error(&[130, 0]).contains("Huffman table is truncated"));
    assert!(error(&[3, 0]).contains("Huffman table is truncated"));
    // Weights: all 0; 13, which is too long; 3 and 1, whose rest of 3 is no power of two.
    for weights in [&[128, 0x00][..], &[128, 0xd0], &[129, 0x31]] {
        assert!(error(weights).contains("weights of a zstd Huffman table are malformed"), "{weights:x?}");
    }
    // A code of two symbols with one bit each, and then no stream, no mark, two bits for 1 literal.
    assert!(error(&[128, 0x10]).contains("no end mark"));
    assert!(error(&[128, 0x10, 0]).contains("no end mark"));
    assert!(error(&[128, 0x10, 0b100]).contains("trailing bits"));
    assert!(error(&[128, 0x10, 0b1]).contains("truncated"));
}

#[test]
fn four_streams_of_literals_have_their_sizes_first() {
    // A code of two symbols with one bit each. 8 literals in four streams of two bits.
    let block = |sizes: [u8; 3]| {
        let [a, b, c] = sizes;
        let table: &[u8] = &[128, 0x10, a, 0, b, 0, c, 0, 0b101, 0b110, 0b111, 0b100];
        let header = (2 | 1 << 2 | 8 << 4 | (table.len() as u32) << 14).to_le_bytes();
        [&header[..3], table, &[0]].concat()
    };
    let compressed = block([1, 1, 1]);
    let stream = frame(&[(COMPRESSED, compressed.len() as u32, &compressed)]);
    assert_eq!(decompress(&stream, 1000).unwrap(), [0, 1, 1, 0, 1, 1, 0, 0]);
    for sizes in [[9, 1, 1], [1, 9, 1], [1, 1, 9]] {
        assert!(error_in(&block(sizes)).contains("truncated"), "{sizes:?}");
    }
    assert!(error_in(&block([1, 1, 2])).contains("trailing bits"));
}

#[test]
fn content_has_the_length_of_the_frame_header() {
    // One segment of 3 bytes.
    let header = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 3];
    let block = |len: u8, is_last: bool| {
        [&[len << 3 | u8::from(is_last), 0, 0], &b"abcd"[..usize::from(len)]].concat()
    };
    let frame = |blocks: &[Vec<u8>]| decompress(&[&header[..], &blocks.concat()].concat(), 100);
    assert_eq!(frame(&[block(2, false), block(1, true)]).unwrap(), b"aba");
    assert!(frame(&[block(2, false), block(2, false)]).unwrap_err().0.contains("more content"));
    assert!(frame(&[block(4, true)]).unwrap_err().0.contains("more content"));
    assert!(frame(&[block(1, false), block(1, true)]).unwrap_err().0.contains("less content"));
}
