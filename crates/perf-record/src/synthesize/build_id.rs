//! The build id of ELF files: the note `NT_GNU_BUILD_ID`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Type of a program header of notes.
const PT_NOTE: u64 = 4;
/// Type of the note with the build id; its owner is `GNU`.
const NT_GNU_BUILD_ID: u64 = 3;
/// Limit of the notes that are read, in bytes.
const MAX_NOTES: u64 = 64 << 10;
/// Limit of the program headers that are read.
const MAX_HEADERS: u64 = 256;
/// Longest build id that `perf.data` can hold, in bytes.
const MAX_ID: usize = 20;

/// Returns the build id of an ELF file; `None` if it has no build id, cannot be read or is not an
/// ELF file.
pub(super) fn of_file(path: &Path) -> Option<Vec<u8>> {
    // Opening a device or a pipe could have side effects or block.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    of_elf(&mut File::open(path).ok()?)
}

/// Returns the build id in notes of this machine, such as `/sys/kernel/notes`.
pub(super) fn of_notes(notes: &[u8]) -> Option<Vec<u8>> {
    find(notes, Order::NATIVE)
}

/// Word size and byte order of an ELF file.
#[derive(Clone, Copy)]
struct Order {
    is_64_bit: bool,
    is_little: bool,
}

impl Order {
    const NATIVE: Self = Self { is_64_bit: true, is_little: cfg!(target_endian = "little") };

    /// Returns the unsigned number of `len` bytes at an offset.
    fn number(self, bytes: &[u8], offset: usize, len: usize) -> Option<u64> {
        let field = bytes.get(offset..offset.checked_add(len)?)?;
        let append = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if self.is_little { field.iter().rev().fold(0, append) } else { field.iter().fold(0, append) })
    }

    /// Returns a number at `offset_64` with 8 bytes, or at `offset_32` with 4.
    fn word(self, bytes: &[u8], offset_64: usize, offset_32: usize) -> Option<u64> {
        if self.is_64_bit { self.number(bytes, offset_64, 8) } else { self.number(bytes, offset_32, 4) }
    }
}

fn of_elf<F: Read + Seek>(file: &mut F) -> Option<Vec<u8>> {
    let header = read(file, 0, 64)?;
    let order = match header.get(..6)? {
        [0x7f, b'E', b'L', b'F', class @ (1 | 2), data @ (1 | 2)] => {
            Order { is_64_bit: *class == 2, is_little: *data == 1 }
        }
        _ => return None,
    };
    let start = order.word(&header, 32, 28)?; // e_phoff
    let (at_size, at_count) = if order.is_64_bit { (54, 56) } else { (42, 44) };
    let size = order.number(&header, at_size, 2)?; // e_phentsize
    let count = order.number(&header, at_count, 2)?.min(MAX_HEADERS); // e_phnum
    let headers = read(file, start, size * count)?;
    headers.chunks_exact(usize::try_from(size).ok().filter(|size| *size > 0)?).find_map(|segment| {
        let is_note = order.number(segment, 0, 4)? == PT_NOTE; // p_type
        let (offset, len) = (order.word(segment, 8, 4)?, order.word(segment, 32, 16)?); // p_offset, p_filesz
        if is_note { find(&read(file, offset, len.min(MAX_NOTES))?, order) } else { None }
    })
}

/// Returns the bytes at an offset, fewer at the end of the file.
fn read<F: Read + Seek>(file: &mut F, offset: u64, len: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the build id in a sequence of notes: u32 length of the owner, u32 length of the
/// description, u32 type, then both, each padded to 4 bytes.
fn find(mut notes: &[u8], order: Order) -> Option<Vec<u8>> {
    loop {
        let owner_len = usize::try_from(order.number(notes, 0, 4)?).ok()?;
        let id_len = usize::try_from(order.number(notes, 4, 4)?).ok()?;
        let kind = order.number(notes, 8, 4)?;
        let (owner, rest) = notes.get(12..)?.split_at_checked(owner_len.checked_next_multiple_of(4)?)?;
        if kind == NT_GNU_BUILD_ID && owner == b"GNU\0" {
            return rest.get(..id_len.min(MAX_ID)).map(<[u8]>::to_vec).filter(|id| !id.is_empty());
        }
        notes = rest.get(id_len.checked_next_multiple_of(4)?..)?;
    }
}

#[cfg(test)]
mod tests {
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
        // The distribution decides whether a linker writes a build id, but no error may occur.
        let path = std::env::current_exe().unwrap();
        assert!(of_file(&path).is_none_or(|id| (8..=20).contains(&id.len())));
        assert_eq!(of_file(Path::new("/")), None);
        assert_eq!(of_file(Path::new("/dev/null")), None);
    }
}
