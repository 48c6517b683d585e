//! A big-endian machine refuses captures.

#![cfg(target_endian = "little")]

use super::*;

/// Returns the smallest file with one of each part: 40 + 176 + 48 + 8 + 16 bytes.
fn small() -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    // Header: version, page size, data pages, mode, events, snapshots, two reserved words.
    for word in [1_u32, 4096, 1, 0, 1, 1, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    // Event: id, then pid, cpu, group, open flags, attr length and name length.
    file.extend(77_u64.to_le_bytes());
    for word in [0, u32::MAX, u32::MAX, 0, 136, 8] {
        file.extend(word.to_le_bytes());
    }
    let mut attr = [0; 136];
    attr[0] = 1; // type SOFTWARE
    attr[8] = 9; // config DUMMY
    file.extend(attr);
    file.extend(b"dummy\0\0\0");
    // Snapshot: kind, control page length, head, tail, data offset, data size, control page, data.
    for word in [0_u32, 8] {
        file.extend(word.to_le_bytes());
    }
    for word in [24_u64, 8, 4096, 8, 0xc0, 0xda] {
        file.extend(word.to_le_bytes());
    }
    // Count: length, event index, value.
    for word in [8_u32, 0, 5, 0] {
        file.extend(word.to_le_bytes());
    }
    file
}

#[test]
fn every_part_of_a_file_is_read() {
    let file = Capture::parse(&small()).unwrap();
    assert_eq!((file.page_size, file.data_pages, file.mode), (4096, 1, Mode::Forward));
    let event = &file.events[0];
    assert_eq!((event.id, event.name.as_str(), event.count()), (77, "dummy", Some(5)));
    assert_eq!(event.attr.config, 9);
    let snapshot = &file.snapshots[0];
    assert_eq!((snapshot.head, snapshot.tail, snapshot.data.as_slice()), (24, 8, &[0xda][..]));
}

#[test]
fn file_truncated_at_any_byte_is_an_error() {
    let file = small();
    for len in 0..file.len() {
        let error = Capture::parse(&file[..len]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{len} bytes: {error}");
    }
}

#[test]
fn damaged_byte_does_not_panic() {
    let file = small();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0xff;
        // A damaged value yields a different value; a damaged length is an error, not a panic.
        let _ = Capture::parse(&damaged);
    }
}

#[test]
fn trailing_bytes_are_refused() {
    let mut file = small();
    let at = file.len();
    file.push(0);
    assert_eq!(Capture::parse(&file).unwrap_err(), Error::TrailingBytes { at, found: 1 });
}

#[test]
fn other_magic_or_version_is_refused() {
    let mut file = small();
    file[8] = 2;
    assert_eq!(Capture::parse(&file).unwrap_err(), Error::Version { found: 2 });
    file[0] = b'p';
    assert_eq!(Capture::parse(&file).unwrap_err(), Error::Magic);
}

/// Returns the file with `more` bytes at the end of its attr.
fn with_longer_attr(more: &[u8]) -> Vec<u8> {
    let mut file = small();
    file[64..68].copy_from_slice(&(136 + more.len() as u32).to_le_bytes());
    file.splice(72 + 136..72 + 136, more.iter().copied());
    file
}

#[test]
fn longer_attr_must_end_in_zeros() {
    let file = Capture::parse(&with_longer_attr(&[0; 24])).unwrap();
    assert_eq!((file.events[0].attr.config, file.events[0].name.as_str()), (9, "dummy"));
    let refused = Capture::parse(&with_longer_attr(&[0, 0, 0, 0, 0, 0, 0, 0, 1])).unwrap_err();
    assert_eq!(refused, Error::Invalid { field: "attr length", value: 145 });
}

#[test]
fn file_that_ends_in_its_data_area_keeps_the_words_before() {
    let mut file = small();
    let data = file.len() - 16 - 8;
    file.splice(data..data, [0xda, 0, 0, 0, 0, 0, 0, 0]);
    file[data - 16..data - 8].copy_from_slice(&16_u64.to_le_bytes());
    let (cut, end) = Capture::parse_prefix(&file[..data + 11]);
    assert_eq!((cut.snapshots[0].data.as_slice(), cut.snapshots[0].is_truncated()), (&[0xda][..], true));
    assert_eq!(end, Err(Error::Truncated { field: "data area", at: data, needed: 16, found: 11 }));
}

#[test]
fn unknown_mode_is_refused() {
    let mut file = small();
    file[20] = 3;
    assert_eq!(Capture::parse(&file).unwrap_err(), Error::Invalid { field: "mode", value: 3 });
}
