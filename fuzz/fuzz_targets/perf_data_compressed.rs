//! Records in a zstd stream that is split anywhere: they must be the same as without compression.
//! Then the same with a damaged record border and with damaged bytes of the stream, which must not panic
//! or take memory without bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_file::{FileOffset, Reader};
use perfkit_fuzz::Input;

/// Returns a record of a tool's unknown kind with this content.
fn record(kind: u32, content: &[u8]) -> Vec<u8> {
    let size = (8 + content.len()) as u16;
    [&kind.to_ne_bytes()[..], &[0, 0], &size.to_ne_bytes(), content].concat()
}

/// Returns a frame of zstd.
fn compress(content: &[u8], level: i32) -> Vec<u8> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    zstd_safe::compress(&mut frame, content, level).unwrap();
    frame
}

/// Reads all records. Returns the bytes of those that were compressed.
fn read(bytes: &[u8]) -> u64 {
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let mut len = 0;
    while let Ok(Some(record)) = reader.next() {
        if let FileOffset::InCompressed(_) = record.place() {
            len += record.bytes().len() as u64;
        }
    }
    len
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (seed, mut split) = (input.word(), input.word() | 1);
    let words = input.words();
    let mut plain = Vec::new();
    let mut records = 0;
    // Records of kernel kinds without events, and of unknown kinds of tools with any length.
    for chunk in words.chunks(1 + (seed % 13) as usize) {
        let content: Vec<u8> = chunk.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let odd = if seed & 64 == 0 { 0 } else { chunk.len() % 8 };
        let kind = if odd == 0 { 14 } else { 100 };
        plain.extend(record(kind, &content[..content.len() - odd]));
        records += 1;
    }
    // A few frames, because encoder and decoder allocate tables for each; split at any byte below.
    let mut stream = Vec::new();
    for part in plain.chunks(1 + plain.len() / 8 + (seed >> 8) as usize % 3000) {
        stream.extend(compress(part, [1, 3, 9, -3][(seed >> 20) as usize % 4]));
    }
    let mut pipe = [&b"PERFILE2"[..], &16_u64.to_ne_bytes()].concat();
    if cfg!(target_endian = "big") {
        pipe[..8].copy_from_slice(b"2ELIFREP");
    }
    let mut rest = &stream[..];
    let mut compressed = 0;
    while !rest.is_empty() {
        split = split.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let (part, after) = rest.split_at(rest.len().min((split >> 33) as usize % 500));
        pipe.extend(record(81, part));
        rest = after;
        compressed += 1;
    }
    let mut reader = Reader::from_bytes(&pipe).unwrap();
    let (mut found, mut outer, mut content) = (0, 0, Vec::<u8>::new());
    while let Some(record) = reader.next().unwrap() {
        match record.place() {
            FileOffset::Offset(_) => outer += 1,
            FileOffset::InCompressed(_) => {
                found += 1;
                content.extend(record.bytes());
            }
        }
    }
    assert_eq!((found, outer), (records, compressed));
    assert_eq!(content, plain);
    // Without the last record, the stream ends within a frame.
    if let Some(end) = pipe.len().checked_sub(9).filter(|_| compressed > 0) {
        read(&pipe[..end]);
    }
    // Damaged bytes, in the content of compressed records for the most part.
    let mut damaged = pipe;
    for _ in 0..1 + seed % 3 {
        split = split.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let index = 16 + (split >> 33) as usize % (damaged.len() - 15);
        if let Some(byte) = damaged.get_mut(index) {
            *byte ^= (split >> 20) as u8;
        }
    }
    // A block of 4 bytes is decompressed to 128 KiB.
    assert!(read(&damaged) <= damaged.len() as u64 * (128 << 10));
});
