use super::*;
use std::vec::Vec;

use crate::put::{ORDERS, Put};

/// Returns a header of the file form.
fn file(order: ByteOrder, magic: &[u8], attr_size: u64, data_size: u64, features: [u64; 4]) -> Vec<u8> {
    let mut put = Put::new(order);
    // magic, size, attr_size; attrs, data, event types: offset and size
    put.bytes(magic).u64(104).u64(attr_size);
    put.u64(200).u64(attr_size).u64(400).u64(data_size).u64(0).u64(0);
    for word in features {
        put.u64(word);
    }
    put.bytes
}

fn magic(order: ByteOrder) -> &'static [u8; 8] {
    match order {
        ByteOrder::Little => b"PERFILE2",
        ByteOrder::Big => b"2ELIFREP",
    }
}

#[test]
fn both_byte_orders_are_found_by_the_magic_number() {
    for order in ORDERS {
        let head =
            Head::parse(&file(order, magic(order), 160, 80, [1 << 3 | 1 << 7, 0, 0, 1 << 63])).unwrap();
        assert_eq!(head.order, order);
        let header = head.file_header().unwrap();
        assert_eq!((header.attr_size, header.attrs), (160, Section { offset: 200, size: 160 }));
        assert!(head.features().iter().eq([Feature::HOSTNAME, Feature::NRCPUS, Feature(255)]));
        assert_eq!(head.feature_table(), Some(Section { offset: 480, size: 48 }));
        assert_eq!(head.records(1000), Section { offset: 400, size: 80 });
    }
}

#[test]
fn version_1_is_of_the_order_in_which_an_attr_has_a_known_size() {
    for order in ORDERS {
        for size in [80, 88, 96, 112, 120] {
            let head = Head::parse(&file(order, b"PERFFILE", size, 80, [0; 4])).unwrap();
            assert_eq!((head.order, head.file_header().unwrap().attr_size), (order, size));
        }
        let error = Head::parse(&file(order, b"PERFFILE", 128, 80, [0; 4])).unwrap_err();
        assert!(matches!(error.reason(), Reason::AttrSize { .. }), "{error}");
    }
}

#[test]
fn header_of_72_bytes_has_no_features() {
    for order in ORDERS {
        let mut bytes = file(order, magic(order), 80, 80, [u64::MAX; 4]);
        let mut size = Put::new(order);
        size.u64(72);
        bytes[8..16].copy_from_slice(&size.bytes);
        // What follows the header is not a part of it.
        for bytes in [&bytes[..72], &bytes[..]] {
            let head = Head::parse(bytes).unwrap();
            assert_eq!((head.features().iter().count(), head.feature_table()), (0, None));
        }
    }
}

#[test]
fn features_of_a_32_bit_big_endian_tool_are_in_the_other_half() {
    if cfg!(target_endian = "big") {
        return;
    }
    // HOSTNAME and CLN_SIZE (34) as words of `unsigned long`: 32 bits each.
    let halves = [1 << 35 | 1 << 2, 0, 0, 0];
    let head = Head::parse(&file(ByteOrder::Big, b"2ELIFREP", 80, 80, halves)).unwrap();
    assert!(head.features().iter().eq([Feature::HOSTNAME, Feature::CLN_SIZE]));
    // Without the host's name nothing says so.
    let head = Head::parse(&file(ByteOrder::Big, b"2ELIFREP", 80, 80, [1 << 7, 0, 0, 0])).unwrap();
    assert!(head.features().iter().eq([Feature::NRCPUS]));
}

#[test]
fn pipe_has_a_header_of_16_bytes() {
    for order in ORDERS {
        let mut put = Put::new(order);
        put.bytes(magic(order)).u64(16);
        let head = Head::parse(&put.bytes).unwrap();
        assert!(head.is_pipe() && head.order == order && !head.is_interrupted());
        assert_eq!(head.records(100), Section { offset: 16, size: 84 });
        assert!(head.file_header().is_none() && head.feature_table().is_none());
    }
}

#[test]
fn interrupted_recording_extends_to_the_end_of_the_file() {
    let order = ByteOrder::NATIVE;
    let head = Head::parse(&file(order, magic(order), 160, 0, [u64::MAX; 4])).unwrap();
    assert!(head.is_interrupted());
    assert_eq!(head.records(1000), Section { offset: 400, size: 600 });
    assert_eq!(head.records(100), Section { offset: 400, size: 0 });
    assert_eq!(head.features().iter().count(), 0);
}

#[test]
fn other_starts_are_refused() {
    let other = Head::parse(b"\x7fELF").unwrap_err();
    assert!(matches!(
        other.reason(),
        Reason::NotPerfData { found: [0x7f, b'E', b'L', b'F', 0, 0, 0, 0], len: 4 }
    ));
    let order = ByteOrder::NATIVE;
    let bytes = file(order, magic(order), 160, 0, [0; 4]);
    let truncated = Head::parse(&bytes[..103]).unwrap_err();
    assert!(matches!(truncated.reason(), Reason::Truncated { needed: 104, available: 103, .. }));
    let mut put = Put::new(order);
    put.bytes(magic(order)).u64(40);
    let size = Head::parse(&put.bytes).unwrap_err();
    assert!(matches!(size.reason(), Reason::HeaderSize { found: 40 }), "{size}");
}
