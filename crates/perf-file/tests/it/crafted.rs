//! Records that are too short for their kind, have a size that no writer writes, or counts that the
//! record cannot hold, in both byte orders. The perf tool refuses them since Linux 7.2: its table
//! of minimum sizes by kind is `perf_event__min_size`, and its swap of crafted counts wrote past
//! records.
//!
//! Small domains are tried whole, by the same function as the fuzz targets.

#[path = "../../../../fuzz/src/file.rs"]
#[allow(dead_code, unreachable_pub, reason = "the fuzz targets use the rest")]
mod harness;

use crate::support::{byteswap, made_up};
use perf_abi::RecordType;
use perf_file::format::record_type;
use perf_file::{Error, Reader, Reason};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Native,
    Other,
}

const ORDERS: [Order; 2] = [Order::Native, Order::Other];
/// The time of the sample after the crafted record.
const AFTER: u64 = 7;

/// A file with a crafted record and a sample.
struct Crafted {
    order: Order,
    bytes: Vec<u8>,
    /// Offset of the crafted record.
    at: usize,
}

impl Crafted {
    fn new(order: Order, kind: RecordType, size: u16, content: u8) -> Self {
        let body = vec![content; usize::from(size).saturating_sub(8)];
        let mut bytes = made_up::file(&[]);
        if order == Order::Other {
            bytes = byteswap::file(&bytes);
        }
        // The size of the section of records, the seventh number of the header.
        let data = 8 + body.len() as u64 + 16;
        bytes[48..56].copy_from_slice(&order.bytes(data.to_ne_bytes()));
        let at = bytes.len();
        bytes.extend(order.bytes(kind.0.to_ne_bytes()));
        bytes.extend([0, 0]);
        bytes.extend(order.bytes(size.to_ne_bytes()));
        bytes.extend(body);
        bytes.extend(order.bytes(RecordType::SAMPLE.0.to_ne_bytes()));
        bytes.extend([0, 0]);
        bytes.extend(order.bytes(16_u16.to_ne_bytes()));
        bytes.extend(order.bytes(AFTER.to_ne_bytes()));
        Self { order, bytes, at }
    }

    /// Returns whether the crafted record was delivered, whether its content was read, the time of
    /// the next record, and the error at the end.
    fn read(&self) -> (bool, bool, Option<u64>, Option<Error>) {
        let mut reader = Reader::from_bytes(&self.bytes).unwrap();
        let (mut is_delivered, mut is_read) = (false, false);
        match reader.next() {
            Ok(Some(record)) => {
                assert_eq!(record.place().offset(), self.at as u64);
                is_delivered = true;
                is_read = if record.kernel().is_none() {
                    assert!(
                        record.decode().is_err() && record.event().is_err(),
                        "it is no record of the kernel"
                    );
                    record.user().map(|record| format!("{record:?}")).is_ok()
                } else {
                    record.decode().map(|record| record.to_string()).is_ok()
                };
            }
            Ok(None) => {}
            Err(error) => return (false, false, None, Some(error)),
        }
        match reader.next() {
            Ok(record) => (is_delivered, is_read, record.and_then(|record| record.time()), None),
            Err(error) => (is_delivered, is_read, None, Some(error)),
        }
    }
}

impl Order {
    fn bytes<const N: usize>(self, mut bytes: [u8; N]) -> [u8; N] {
        if self == Self::Other {
            bytes.reverse();
        }
        bytes
    }
}

/// Size in bytes of the fixed part of each kernel kind, with its header: from the comments of
/// `perf_event.h`, not from the decoder. Names have at least their terminating word.
const FIXED: [(RecordType, u16); 21] = [
    (RecordType::MMAP, 40 + 8),
    (RecordType::LOST, 24),
    (RecordType::COMM, 16 + 8),
    (RecordType::EXIT, 32),
    (RecordType::THROTTLE, 32),
    (RecordType::UNTHROTTLE, 32),
    (RecordType::FORK, 32),
    (RecordType::READ, 16),
    (RecordType::MMAP2, 72 + 8),
    (RecordType::AUX, 32),
    (RecordType::ITRACE_START, 16),
    (RecordType::LOST_SAMPLES, 16),
    (RecordType::SWITCH, 8),
    (RecordType::SWITCH_CPU_WIDE, 16),
    (RecordType::NAMESPACES, 24),
    (RecordType::KSYMBOL, 24 + 8),
    (RecordType::BPF_EVENT, 24),
    (RecordType::CGROUP, 16 + 8),
    (RecordType::TEXT_POKE, 24),
    (RecordType::AUX_OUTPUT_HW_ID, 16),
    (RecordType::CALLCHAIN_DEFERRED, 24),
];

/// The time that follows the body because of `sample_id_all`.
const TRAILER: u16 = 8;

#[test]
fn record_shorter_than_its_kind_is_delivered_as_bytes_and_the_next_one_is_read() {
    for order in ORDERS {
        for (kind, fixed) in FIXED {
            for size in (8..fixed + TRAILER).step_by(8) {
                let found = Crafted::new(order, kind, size, 0).read();
                assert_eq!(
                    (found.0, found.1, found.2),
                    (true, false, Some(AFTER)),
                    "{order:?} {kind} {size}: {:?}",
                    found.3
                );
            }
            // The counts of a READ depend on the event.
            let found = Crafted::new(order, kind, fixed + TRAILER, 0).read();
            assert!(found.1 || kind == RecordType::READ, "{order:?} {kind}: {:?}", found.3);
        }
    }
}

#[test]
fn size_that_is_no_multiple_of_8_ends_the_file_at_a_record_of_the_kernel() {
    for order in ORDERS {
        for kind in RecordType::ALL {
            for size in (0..100).filter(|size| size % 8 != 0 || *size == 0) {
                let crafted = Crafted::new(order, *kind, size, 0);
                let (is_delivered, _, after, error) = crafted.read();
                let error = error.expect("an error");
                assert!(matches!(error.reason, Reason::RecordSize { found, .. } if found == size), "{error}");
                assert_eq!((is_delivered, after, error.offset), (false, None, Some(crafted.at as u64)));
            }
        }
    }
}

#[test]
fn counts_of_a_record_do_not_reach_past_it() {
    let follows_data = |kind| {
        [record_type::HEADER_TRACING_DATA, record_type::AUXTRACE, record_type::COMPRESSED].contains(&kind)
            || [record_type::COMPRESSED2, record_type::HEADER_ATTR].contains(&kind)
    };
    let unknown = [RecordType(0), RecordType(63), RecordType(200), RecordType(u32::MAX)];
    for order in ORDERS {
        for kind in RecordType::ALL.iter().chain(record_type::ALL).chain(&unknown) {
            for content in [0, 1, 0x7f, 0x80, 0xff] {
                for size in (8..=136).step_by(8) {
                    let crafted = Crafted::new(order, *kind, size, content);
                    let (is_delivered, _, after, error) = crafted.read();
                    if error.is_none() && !follows_data(*kind) {
                        assert_eq!((is_delivered, after), (true, Some(AFTER)), "{order:?} {kind} {size}");
                    }
                    harness::read_all(&mut Reader::from_bytes(&crafted.bytes).unwrap());
                    harness::view(&crafted.bytes);
                }
            }
        }
    }
}

#[test]
fn every_size_of_a_header_is_read_or_refused() {
    for order in ORDERS {
        for kind in [RecordType::SAMPLE, record_type::FINISHED_ROUND] {
            let mut crafted = Crafted::new(order, kind, u16::MAX - 7, 0);
            for size in 0..=u16::MAX {
                let at = crafted.at + 6;
                crafted.bytes[at..at + 2].copy_from_slice(&crafted.order.bytes(size.to_ne_bytes()));
                let mut reader = Reader::from_bytes(&crafted.bytes).unwrap();
                let is_whole = size >= 8 && (kind.0 >= record_type::FIRST.0 || size % 8 == 0);
                match reader.next() {
                    Ok(record) => assert_eq!(record.map(|record| record.bytes().len()), Some(size.into())),
                    Err(error) => {
                        assert!(!is_whole, "{order:?} {kind} {size}: {error}");
                        assert!(matches!(reader.next(), Ok(None)), "a record after the end");
                    }
                }
            }
        }
    }
}
