use super::*;

const CAPTURE: &[u8] = include_bytes!("../../data/ring-multi-0.bin");

/// The smallest file with one of everything: 40 + 176 + 48 + 8 + 16 bytes.
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
    let file = RingFile::parse(&small()).unwrap();
    assert_eq!((file.page_size, file.data_pages, file.mode), (4096, 1, Mode::FORWARD));
    let event = &file.events[0];
    assert_eq!((event.id, event.name.as_str(), event.count), (77, "dummy", Some(5)));
    assert_eq!(event.attr.config, 9);
    let snapshot = &file.snapshots[0];
    assert_eq!((snapshot.head, snapshot.tail, snapshot.data.as_slice()), (24, 8, &[0xda][..]));
}

#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    let file = small();
    for len in 0..file.len() {
        let error = RingFile::parse(&file[..len]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{len} bytes: {error}");
    }
}

#[test]
fn a_real_file_cut_anywhere_is_an_error() {
    // A stride that is no multiple of 8 meets every phase of every field.
    for len in (0..CAPTURE.len()).step_by(61) {
        assert!(RingFile::parse(&CAPTURE[..len]).is_err(), "{len} bytes");
    }
    assert_eq!(RingFile::parse(CAPTURE).unwrap().snapshots.len(), 5);
}

#[test]
fn no_single_damaged_byte_panics() {
    let file = small();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0xff;
        // Damage to a value goes unseen; damage to a length must be an error and not a panic.
        let _ = RingFile::parse(&damaged);
    }
}

#[test]
fn bytes_behind_the_end_are_refused() {
    let mut file = small();
    let at = file.len();
    file.push(0);
    assert_eq!(RingFile::parse(&file).unwrap_err(), Error::Surplus { at, found: 1 });
}

#[test]
fn another_magic_or_version_is_refused() {
    let mut file = small();
    file[8] = 2;
    assert_eq!(RingFile::parse(&file).unwrap_err(), Error::Version(2));
    file[0] = b'p';
    assert_eq!(RingFile::parse(&file).unwrap_err(), Error::Magic);
}

/// The file with more bytes behind those of its attr.
fn with_longer_attr(more: &[u8]) -> Vec<u8> {
    let mut file = small();
    file[64..68].copy_from_slice(&(136 + more.len() as u32).to_le_bytes());
    file.splice(72 + 136..72 + 136, more.iter().copied());
    file
}

#[test]
fn an_attr_longer_than_ours_must_end_in_zeros() {
    let file = RingFile::parse(&with_longer_attr(&[0; 24])).unwrap();
    assert_eq!((file.events[0].attr.config, file.events[0].name.as_str()), (9, "dummy"));
    let refused = RingFile::parse(&with_longer_attr(&[0, 0, 0, 0, 0, 0, 0, 0, 1])).unwrap_err();
    assert_eq!(refused, Error::Invalid { field: "attr length", value: 145 });
}

#[test]
fn a_file_that_ends_in_its_data_area_keeps_the_words_that_are_there() {
    let mut file = small();
    let data = file.len() - 16 - 8;
    file.splice(data..data, [0xda, 0, 0, 0, 0, 0, 0, 0]);
    file[data - 16..data - 8].copy_from_slice(&16_u64.to_le_bytes());
    let (cut, end) = RingFile::read(&file[..data + 11]);
    assert_eq!((cut.snapshots[0].data.as_slice(), cut.snapshots[0].is_cut()), (&[0xda][..], true));
    assert_eq!(end, Err(Error::Truncated { field: "data area", at: data, needed: 16, found: 11 }));
}

#[test]
fn a_mode_from_the_future_is_refused() {
    let mut file = small();
    file[20] = 3;
    assert_eq!(RingFile::parse(&file).unwrap_err(), Error::Invalid { field: "ring mode", value: 3 });
}
