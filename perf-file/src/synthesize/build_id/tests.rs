use std::io::Cursor;

use super::*;

/// A note: lengths, type, padded owner, padded description.
fn note(owner: &[u8], kind: u32, description: &[u8], number: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mut note = [owner.len() as u32, description.len() as u32, kind].map(number).concat();
    for part in [owner, description] {
        note.extend_from_slice(part);
        note.resize(note.len().next_multiple_of(4), 0);
    }
    note
}

fn notes(number: fn(u32) -> [u8; 4]) -> Vec<u8> {
    [
        note(b"stapsdt\0", 3, &[1; 7], number),
        note(b"GNU\0", 1, &[2; 16], number),
        note(b"GNU\0", 3, &[9; 20], number),
    ]
    .concat()
}

#[test]
fn build_id_is_found_after_other_notes() {
    assert_eq!(of_notes(&notes(u32::to_ne_bytes)), Some(vec![9; 20]));
}

#[test]
fn malformed_notes_have_no_build_id() {
    let whole = notes(u32::to_ne_bytes);
    for len in 0..whole.len() {
        assert_eq!(of_notes(&whole[..len]), None, "{len}");
    }
    assert_eq!(of_notes(&[0xff; 64]), None);
    assert_eq!(of_notes(&note(b"GNU\0", 3, &[], u32::to_ne_bytes)), None);
}

#[test]
fn elf_files_of_other_machines_are_read() {
    // 32 bits, big-endian: e_phoff at 28, e_phentsize at 42, e_phnum at 44.
    let mut file = vec![0; 64];
    file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 2]);
    file[28..32].copy_from_slice(&64_u32.to_be_bytes());
    file[42..44].copy_from_slice(&32_u16.to_be_bytes());
    file[44..46].copy_from_slice(&2_u16.to_be_bytes());
    let notes = notes(u32::to_be_bytes);
    let segment = |kind, offset, len| [kind, offset, 0, 0, len, 0, 0, 0].map(u32::to_be_bytes).concat();
    file.extend(segment(1, 0, 64)); // PT_LOAD
    file.extend(segment(4, 128, notes.len() as u32)); // PT_NOTE
    file.extend(notes);
    assert_eq!(of_elf(&mut Cursor::new(&file)), Some(vec![9; 20]));
    file.truncate(140);
    assert_eq!(of_elf(&mut Cursor::new(&file)), None);
}

#[test]
fn this_program_or_its_loader_is_an_elf_file() {
    // Whether a linker writes a build id depends on the distribution; that no error occurs does not.
    let path = std::env::current_exe().unwrap();
    assert!(of_file(&path).is_none_or(|id| (8..=20).contains(&id.len())));
    assert_eq!(of_file(Path::new("/")), None);
    assert_eq!(of_file(Path::new("/dev/null")), None);
}
