//! Compressed records: their content, its end, and the byte order of the other kind of machine.

use crate::support::made_up::{attr, pipe, record, sample};
use crate::support::read::{all, times, until_error};
use perf_abi::{Attr, RecordType};
use perf_file::format::{MAGIC, RawPipeHeader, record_type};
use perf_file::{Error, FileOffset, Reader, Reason};
use zerocopy::IntoBytes as _;

/// The header of a zstd frame with a window of 1 MiB.
const FRAME: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3];

/// Returns an uncompressed block of zstd.
fn block(content: &[u8]) -> Vec<u8> {
    let header = u32::try_from(content.len() << 3).unwrap().to_le_bytes();
    [&header[..3], content].concat()
}

/// Returns a block of 128 KiB zeros.
fn zeros() -> [u8; 4] {
    let [a, b, c, _] = (128_u32 << 10 << 3 | 2).to_le_bytes();
    [a, b, c, 0]
}

fn compressed(stream: &[u8]) -> Vec<u8> {
    record(record_type::COMPRESSED, stream)
}

/// Returns the record that describes the event.
fn event() -> Vec<u8> {
    record(record_type::HEADER_ATTR, &[attr().as_bytes(), 1_u64.as_bytes()].concat())
}

/// Returns the kinds of all records, the length of the content of compressed ones, and the error.
fn read(mut reader: Reader<perf_file::Memory<'_>>) -> (Vec<(RecordType, Option<usize>)>, Option<Error>) {
    until_error(&mut reader, |record| (record.kind(), record.decompressed_len()))
}

#[test]
fn content_follows_its_compressed_record_unless_it_stays_compressed() {
    let content = [sample(1), sample(2)].concat();
    let stream = [&FRAME[..], &block(&content)].concat();
    let bytes = pipe(&[event(), compressed(&stream), sample(3)]);
    let (attr, samples) = ((record_type::HEADER_ATTR, None), (RecordType::SAMPLE, None));
    let reader = || Reader::from_bytes(&bytes).unwrap();
    let (found, error) = read(reader());
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found, [attr, (record_type::COMPRESSED, Some(32)), samples, samples, samples]);
    let (found, error) = read(reader().without_decompression());
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found, [attr, (record_type::COMPRESSED, None), samples]);
}

#[test]
fn records_of_the_content_have_the_place_of_the_last_part() {
    // The second sample continues in the second part.
    let content = [sample(1), sample(2)].concat();
    let parts = [[&FRAME[..], &block(&content[..20])].concat(), block(&content[20..])];
    let bytes = pipe(&[event(), compressed(&parts[0]), compressed(&parts[1])]);
    let first = 16 + event().len() as u64;
    let second = first + 8 + parts[0].len() as u64;
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let found = all(&mut reader, |record| (record.place(), record.time(), record.decompressed_len()));
    let expected = [
        (FileOffset::Offset(first), None, Some(20)),
        (FileOffset::InCompressed(first), Some(1), None),
        (FileOffset::Offset(second), None, Some(12)),
        (FileOffset::InCompressed(second), Some(2), None),
    ];
    assert_eq!(found[1..], expected);
}

#[test]
fn content_of_more_than_4_mib_has_no_length_yet() {
    for (blocks, len) in [(31, Some(31 * (128 << 10))), (33, None)] {
        let stream = [&FRAME[..], &zeros().repeat(blocks)].concat();
        let bytes = pipe(&[compressed(&stream)]);
        let (found, error) = read(Reader::from_bytes(&bytes).unwrap());
        assert_eq!(found, [(record_type::COMPRESSED, len)]);
        // Zeros are not records.
        assert!(matches!(error.unwrap().reason, Reason::RecordSize { .. }));
    }
}

#[test]
fn malformed_content_has_no_length_and_its_error_follows_whole_records() {
    let stream = [&FRAME[..], &block(&sample(1)), &[7, 0, 0]].concat();
    let bytes = pipe(&[event(), compressed(&stream)]);
    let (found, error) = read(Reader::from_bytes(&bytes).unwrap());
    assert_eq!(found[1..], [(record_type::COMPRESSED, None), (RecordType::SAMPLE, None)]);
    let error = error.unwrap();
    assert!(matches!(error.reason, Reason::Compressed(_)), "{error}");
    assert_eq!(error.offset, Some(16 + event().len() as u64));
}

#[test]
fn stream_that_ends_inside_of_a_record_is_an_error_at_its_last_part() {
    let content = [sample(1), sample(2)].concat();
    for end in 0..=32 {
        let stream = [&FRAME[..], &block(&content[..end])].concat();
        let bytes = pipe(&[event(), compressed(&stream), record(record_type::FINISHED_ROUND, &[])]);
        let (found, error) = read(Reader::from_bytes(&bytes).unwrap());
        // The event, the compressed record, the samples, and the record after it.
        assert_eq!(found.len(), 3 + end / 16, "{end}");
        assert_eq!(error.is_none(), end % 16 == 0, "{end}");
        let Some(error) = error else { continue };
        assert_eq!(error.offset, Some(16 + event().len() as u64), "{end}");
        let Reason::TruncatedRecord { kind, needed, available } = error.reason else { panic!("{error}") };
        let left = end % 16;
        let header = if left < 8 { (RecordType(0), 8) } else { (RecordType::SAMPLE, 16) };
        assert_eq!((kind, needed, available), (header.0, header.1, left as u64), "{end}");
    }
}

#[test]
fn stream_that_ends_inside_of_a_block_is_an_error() {
    let stream = [&FRAME[..], &block(&sample(1))].concat();
    for end in 1..=stream.len() {
        let bytes = pipe(&[event(), compressed(&stream[..end])]);
        let (found, error) = read(Reader::from_bytes(&bytes).unwrap());
        let is_whole = end == stream.len();
        assert_eq!(
            (found.len(), error.is_none()),
            (2 + usize::from(is_whole), is_whole || end == 6),
            "{end}"
        );
    }
}

#[test]
fn content_of_the_other_byte_order_is_swapped() {
    // An attr of the first version: samples with a time.
    let mut attr = Vec::new();
    attr.extend(1_u32.swap_bytes().as_bytes());
    attr.extend(64_u32.swap_bytes().as_bytes());
    // config, period, sample type, read format, flags, and two words
    for word in [0, 1000, 4, 0, 0, 0, 0_u64] {
        attr.extend(word.swap_bytes().as_bytes());
    }
    assert_eq!((attr.len(), Attr::default().as_bytes().len() > 64), (64, true));
    let foreign = |kind: RecordType, body: &[u8]| {
        let size = u16::try_from(8 + body.len()).unwrap();
        [kind.0.swap_bytes().as_bytes(), &[0, 0], size.swap_bytes().as_bytes(), body].concat()
    };
    let sample = |time: u64| foreign(RecordType::SAMPLE, time.swap_bytes().as_bytes());
    // A record of a tool with 3 bytes: the next one is unaligned.
    let content = [sample(5), foreign(RecordType(100), b"abc"), sample(7)].concat();
    let header = RawPipeHeader { magic: MAGIC.swap_bytes(), size: RawPipeHeader::SIZE.swap_bytes() };
    let bytes = [
        header.as_bytes(),
        &foreign(record_type::HEADER_ATTR, &[&attr[..], 1_u64.swap_bytes().as_bytes()].concat()),
        &foreign(record_type::COMPRESSED, &[&FRAME[..], &block(&content)].concat()),
    ]
    .concat();
    let compressed_at = 16 + 8 + 64 + 8;
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let found = all(&mut reader, |record| (record.place(), record.kind(), record.time()));
    let inside = FileOffset::InCompressed(compressed_at);
    let expected = [
        (FileOffset::Offset(compressed_at), record_type::COMPRESSED, None),
        (inside, RecordType::SAMPLE, Some(5)),
        (inside, RecordType(100), None),
        (inside, RecordType::SAMPLE, Some(7)),
    ];
    assert_eq!(found[1..], expected);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    assert_eq!(times(&mut sorted), [5, 7]);
}

/// Returns a text in which some words are frequent.
fn text(len: usize) -> Vec<u8> {
    let (mut random, mut text) = (1_u32, Vec::new());
    while text.len() < len {
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let number = random >> 16;
        let number = number % (1 + number / 7 % 97);
        let separator = [" ", "_", ".so ", "::"][number as usize % 4];
        text.extend(format!("{number:x}{separator}").bytes());
    }
    text.truncate(len);
    text
}

#[test]
fn streams_of_libzstd_are_decompressed() {
    // Each record of a tool's unknown kind 100 was flushed, with a window of 4 KiB. Tables of most
    // kinds: described, predefined, of the block before.
    let cases = [
        ("level-1", &include_bytes!("../data/zstd/level-1.zst")[..], 12_000, 3000),
        ("level-19", include_bytes!("../data/zstd/level-19.zst"), 12_000, 3000),
        ("short-blocks", include_bytes!("../data/zstd/short-blocks.zst"), 3000, 100),
    ];
    for (name, stream, len, part) in cases {
        let content = text(len);
        for split in [1, 1000, 60_000] {
            let parts: Vec<_> = stream.chunks(split).map(compressed).collect();
            let bytes = pipe(&parts);
            let mut reader = Reader::from_bytes(&bytes).unwrap();
            let mut found = Vec::<u8>::new();
            while let Some(record) = reader.next().unwrap() {
                if let FileOffset::InCompressed(_) = record.place() {
                    assert_eq!(record.bytes().len(), 8 + part, "{name}");
                    found.extend(&record.bytes()[8..]);
                }
            }
            assert!(found == content, "{name}, {split}: {} bytes", found.len());
        }
    }
}

#[test]
fn compressed_record_that_is_not_decompressed_has_no_length_of_an_earlier_one() {
    let content = [sample(1), sample(2)].concat();
    let bytes =
        pipe(&[event(), compressed(&[&FRAME[..], &block(&content)].concat()), compressed(&block(&content))]);
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    reader.next().unwrap();
    assert_eq!(reader.next().unwrap().unwrap().decompressed_len(), Some(32));
    let mut reader = reader.without_decompression();
    let lengths = all(&mut reader, |record| (record.kind(), record.decompressed_len()));
    let sample = (RecordType::SAMPLE, None);
    assert_eq!(lengths, [sample, sample, (record_type::COMPRESSED, None)]);
}
