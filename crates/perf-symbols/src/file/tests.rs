//! Tests with generated files: overlapping segments, damaged headers, and address translation.

use std::io::Read;

use proptest::prelude::*;

use super::ObjectFile;
use super::made::{Load, elf, with_section};
use crate::{BuildId, MappedObject, Mapping};

fn open(bytes: Vec<u8>) -> Result<ObjectFile, super::ElfError> {
    ObjectFile::from_memory("made", bytes.into())
}

fn mapping(range: std::ops::Range<u64>, offset: u64) -> Mapping {
    Mapping::new(range, offset, MappedObject::new(b"made"))
}

#[test]
fn page_of_two_segments_belongs_to_the_one_that_has_the_offset() {
    // The usual layout of linkers: the code begins in the page where the read-only part ends.
    let file = open(elf(&[(0, 0, 0x1234, false), (0x2234, 0x1234, 0x100, true)], &[1; 20])).expect("a file");
    let code = mapping(0x7000_1000..0x7000_2000, 0x1000);
    assert_eq!(file.address_of(&code, 0x7000_1240), Some(0x2240));
    assert_eq!(file.address_of(&code, 0x7000_1000), Some(0x1000));
    assert_eq!(file.address_of(&code, 0x7000_1334), None, "after the segment");
    assert_eq!(file.base_of(&code), Some(0x7000_0000 - 0x1000));
    let data = mapping(0x7000_0000..0x7000_2000, 0).with_executable(false);
    assert_eq!(file.base_of(&data), Some(0x7000_0000));
    assert_eq!(file.base_of(&mapping(0..0x1000, 0x9000)), None);
    assert_eq!(file.build_id(), BuildId::new(&[1; 20]));
    assert_eq!((file.machine(), file.has_code()), (62, true));
    assert!(format!("{file:?}").contains("\"made\""), "{file:?}");
}

#[test]
fn bytes_that_are_mapped_twice_are_code_first() {
    let file = open(elf(&[(0x1000, 0, 0x100, false), (0x5000, 0, 0x100, true)], &[1])).expect("a file");
    assert_eq!(file.address_of(&mapping(0x7000..0x8000, 0), 0x7010), Some(0x5010));
}

#[test]
fn debug_file_without_code_is_placed_by_the_length_of_the_mapping() {
    let mut bytes = elf(&[(0x1040, 0, 0x2345, true)], &[1]);
    // The `p_filesz` of the segment.
    bytes[64 + 56 + 32..][..8].fill(0);
    let file = open(bytes.clone()).expect("a file");
    assert!(!file.has_code());
    for (end, page) in [(0x7000_3000, "4 KiB"), (0x7000_4000, "16 KiB"), (0x7001_0000, "64 KiB")] {
        let first = if page == "4 KiB" { 0x1000 } else { 0 };
        let code = mapping(0x7000_0000..end, 0x3000);
        assert_eq!(file.address_of(&code, 0x7000_0123), Some(first + 0x123), "{page}");
    }
    assert_eq!(file.address_of(&mapping(0x7000_0000..0x7000_2000, 0), 0x7000_0123), None, "a part of it");
    let data = mapping(0x7000_0000..0x7000_3000, 0x3000).with_executable(false);
    assert_eq!(file.address_of(&data, 0x7000_0123), None);
}

#[test]
fn file_without_build_id_or_of_another_kind_is_an_error() {
    assert_eq!(open(elf(&[], &[])).expect("a file").build_id(), None);
    for (bytes, expected) in [
        (b"#!/bin/sh\n".to_vec(), "expected an ELF file: "),
        (vec![], "expected an ELF file: "),
        (b"!<arch>\n".to_vec(), "expected an ELF file: "),
        (elf(&[], &[1])[..63].to_vec(), "expected an ELF file: "),
    ] {
        let error = open(bytes).expect_err("no ELF file").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let folder = ObjectFile::open("/").expect_err("a folder");
    assert_eq!(folder.to_string(), "expected a file, found a folder, device, pipe or socket");
    let missing = ObjectFile::open("/no/such/file").expect_err("nothing");
    assert_eq!(missing.to_string(), "No such file or directory (os error 2)");
}

/// Writes a sparse file of a given length. Returns `None` if the file system does not support it.
fn sparse(name: &str, bytes: &[u8], len: u64) -> Option<ObjectFile> {
    let path = std::env::temp_dir().join(format!("perf-symbols-{name}-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("a file");
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
    let is_sparse = file.set_len(len).is_ok();
    let opened = ObjectFile::open(&path).expect("a file");
    std::fs::remove_file(&path).expect("the file");
    assert!(opened.is_unchanged());
    file.set_len(len + 1).expect("one more byte");
    assert!(!opened.is_unchanged());
    file.set_len(len).expect("as before");
    is_sparse.then_some(opened)
}

#[test]
fn headers_of_a_gigabyte_are_rejected_before_they_are_read() {
    let bytes = with_section(elf(&[(0, 0, 0x1000, true)], &[1]), 3, 0, 0);
    assert_eq!(open(bytes).expect("a file").section_addresses(""), Some(0..3));
    let bytes = with_section(elf(&[(0, 0, 0x1000, true)], &[1]), 1 << 24, 0, 0);
    let Some(file) = sparse("headers", &bytes, 1 << 31) else { return };
    // The segments are enough to find the file.
    assert_eq!((file.section_addresses(""), file.has_code()), (None, true));
}

#[test]
fn section_ends_with_the_file_and_has_a_gigabyte_at_most() {
    let bytes = elf(&[], &[1]);
    let whole = with_section(bytes.clone(), 3, 64, 20);
    let len = whole.len() as u64;
    let section = |file: &ObjectFile| file.last_section();
    let read = section(&open(whole).expect("a file")).expect("a section").expect("bytes");
    assert_eq!((read.addresses, read.bytes.len()), (0x1000..0x1014, 20));
    let up_to_the_end = open(with_section(bytes.clone(), 3, 64, len - 64)).expect("a file");
    assert_eq!(
        section(&up_to_the_end).expect("a section").map(|read| read.bytes.len() as u64),
        Some(len - 64)
    );
    let beyond = open(with_section(bytes.clone(), 3, 64, len - 63)).expect("a file");
    assert!(section(&beyond).expect_err("too long").to_string().contains("beyond the end"));
    let Some(large) = sparse("section", &with_section(bytes, 3, 64, (1 << 30) + 1), 1 << 31) else { return };
    assert!(section(&large).expect_err("too long").to_string().contains("larger than 1073741824"));
}

#[cfg(feature = "names")]
#[test]
fn addresses_in_different_sections_are_distinguished() {
    let file = open(with_section(elf(&[], &[1]), 3, 64, 20)).expect("a file");
    assert!(file.is_in_one_section(0x1000, 0x1013));
    assert!(!file.is_in_one_section(0x1000, 0x1014) && !file.is_in_one_section(0xfff, 0x1013));
    assert!(file.is_in_one_section(0x5000, 0x6000), "in none");
}

#[cfg(feature = "names")]
/// The owner of build ids, with more zeros than needed.
const GNU: [u8; 8] = *b"GNU\0\0\0\0\0";

/// A note: lengths, type, owner, and description padded to 4 bytes.
fn note(owner: [u8; 8], kind: u32, description: &[u8], number: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mut note = [8, description.len() as u32, kind].map(number).concat();
    note.extend(owner);
    note.extend_from_slice(description);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

/// Notes of three kinds; the last one is a build id.
fn notes(number: fn(u32) -> [u8; 4]) -> Vec<u8> {
    [(*b"stapsdt\0", 3, 7), (GNU, 1, 16), (GNU, 3, 20)]
        .map(|(owner, kind, len)| note(owner, kind, &[9; 20][..len], number))
        .concat()
}

#[test]
fn build_id_is_found_after_other_notes_and_not_in_malformed_ones() {
    let whole = notes(u32::to_ne_bytes);
    assert_eq!(BuildId::from_notes(&whole), BuildId::new(&[9; 20]));
    for len in 0..whole.len() {
        assert_eq!(BuildId::from_notes(&whole[..len]), None, "{len}");
    }
    assert_eq!(BuildId::from_notes(&[0xff; 64]), None);
    assert_eq!(BuildId::from_notes(&note(GNU, 3, &[], u32::to_ne_bytes)), None);
}

#[test]
fn build_id_is_read_from_files_of_other_machines() {
    // 32 bits, big-endian: e_phoff at 28, e_phentsize at 42, e_phnum at 44.
    let mut file = vec![0; 64];
    file[..7].copy_from_slice(b"\x7fELF\x01\x02\x01");
    file[28..32].copy_from_slice(&64_u32.to_be_bytes());
    file[42..44].copy_from_slice(&32_u16.to_be_bytes());
    file[44..46].copy_from_slice(&2_u16.to_be_bytes());
    let notes = notes(u32::to_be_bytes);
    let segment = |kind, offset, len| [kind, offset, 0, 0, len, 0, 0, 4].map(u32::to_be_bytes).concat();
    file.extend(segment(1, 0, 64)); // PT_LOAD
    file.extend(segment(4, 128, notes.len() as u32)); // PT_NOTE
    file.extend(notes);
    assert_eq!(open(file.clone()).expect("a file").build_id(), BuildId::new(&[9; 20]));
    file.truncate(140);
    assert_eq!(open(file).expect("a file").build_id(), None);
}

#[test]
fn build_id_of_this_kernel_is_in_its_notes() {
    let Ok(notes) = std::fs::read("/sys/kernel/notes") else {
        eprintln!("skipped: /sys/kernel/notes is missing");
        return;
    };
    let id = super::kernel_build_id().expect("a build id");
    let at = notes.windows(20).position(|bytes| bytes == id.as_bytes()).expect("its bytes");
    assert_eq!(notes[at - 16..at], [4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0]);
}

#[test]
fn file_is_read_whole_in_pieces() {
    let mut bytes = elf(&[], &[1]);
    bytes.extend((0..150_000_u32).map(|number| number as u8));
    let mut read = Vec::new();
    let file = open(bytes.clone()).expect("a file");
    file.read_all(|piece| read.extend_from_slice(piece)).expect("its bytes");
    assert_eq!((&read, file.size().expect("its length")), (&bytes, bytes.len() as u64));
    for file in [file, sparse("readers", &bytes, bytes.len() as u64).expect("a file of its length")] {
        let (mut first, mut second) = (file.reader(), file.reader());
        let mut start = [0; 4];
        first.read_exact(&mut start).expect("the first bytes");
        let mut all = Vec::new();
        second.read_to_end(&mut all).expect("its bytes");
        assert_eq!((&start, all), (b"\x7fELF", bytes.clone()));
    }
}

/// The naive model: a list of every byte of every segment.
fn naive_address(loads: &[Load], offset: u64) -> Option<u64> {
    let at = |wanted: bool| {
        let mut bytes = loads
            .iter()
            .filter(|load| load.3 == wanted)
            .flat_map(|&(address, start, len, _)| (0..len).map(move |at| (start + at, address + at)));
        bytes.find(|(byte, _)| *byte == offset).map(|(_, address)| address)
    };
    at(true).or_else(|| at(false))
}

proptest! {
    #[test]
    fn every_address_is_where_the_list_of_bytes_says(
        loads in prop::collection::vec((0_u64..1 << 20, 0_u64..64, 1_u64..32, any::<bool>()), 1..5),
        start in 0_u64..64,
    ) {
        let file = open(elf(&loads, &[1])).expect("a file");
        let code = mapping(0x1000..0x1080, start);
        for addr in 0x1000..0x1080 {
            let expected = naive_address(&loads, addr - 0x1000 + start);
            prop_assert_eq!(file.address_of(&code, addr), expected, "{:#x}", addr);
        }
        // All addresses of a segment have the same base.
        if let ([(address, offset, len, true)], Some(base)) = (&loads[..], file.base_of(&code)) {
            let first = offset.max(&start);
            prop_assert!(*first < offset + len);
            prop_assert_eq!(base.wrapping_add(address + first - offset), 0x1000 + first - start);
        }
    }

    #[test]
    fn damaged_file_is_opened_or_refused(
        damage in prop::collection::vec((0_usize..400, any::<u8>()), 0..8),
        len in 0_usize..400,
    ) {
        let mut bytes = elf(&[(0, 0, 0x1234, false), (0x2234, 0x1234, 0x100, true)], &[1; 20]);
        bytes.resize(len.max(64), 0);
        for (at, byte) in damage {
            if let Some(to) = bytes.get_mut(at) {
                *to = byte;
            }
        }
        if let Ok(file) = open(bytes) {
            let code = mapping(0x1000..u64::MAX, 0);
            for addr in [0x1000, 0x1234, u64::MAX] {
                let _ = file.address_of(&code, addr);
            }
            let _ = (file.base_of(&code), file.section(".text"));
        }
    }
}
