//! Builds ELF files for tests.

/// A segment: address, offset, length in the file, and whether it is executable.
pub(crate) type Load = (u64, u64, u64, bool);

/// Returns an x86-64 ELF file with these segments and a build id.
pub(crate) fn elf(loads: &[Load], id: &[u8]) -> Vec<u8> {
    let headers = 64 + 56 * (loads.len() + 1);
    let note = [&[4, 0, 0, 0, id.len() as u8, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", id].concat();
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [3_u16, 62] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes());
    for word in [0_u64, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for half in [64, 56, loads.len() as u16 + 1, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let mut header = |kind: u32, flags: u32, words: [u64; 6]| {
        file.extend(kind.to_le_bytes());
        file.extend(flags.to_le_bytes());
        for word in words {
            file.extend(word.to_le_bytes());
        }
    };
    header(4, 4, [headers as u64, 0, 0, note.len() as u64, note.len() as u64, 4]);
    for &(address, offset, len, is_executable) in loads {
        header(1, 4 + u32::from(is_executable), [offset, address, address, len, len, 0x1000]);
    }
    file.extend(note);
    file
}

/// Adds three nameless sections to a file: null, names, and the given bytes. The first one has the
/// number of sections.
pub(crate) fn with_section(mut bytes: Vec<u8>, count: u64, offset: u64, len: u64) -> Vec<u8> {
    let table = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    let words = |words: [u64; 8]| words.map(u64::to_le_bytes).concat();
    bytes.extend(words([0, 0, 0, 0, count, 0, 0, 0]));
    // The names (type 3) are the zeros after the magic number.
    bytes[62] = 1;
    bytes.extend(words([3 << 32, 0, 0, 8, 8, 0, 0, 0]));
    // Name 0 and type 1 (PROGBITS); then flags, address, offset, size.
    bytes.extend(words([1 << 32, 0, 0x1000, offset, len, 0, 0, 0]));
    bytes
}

/// Returns an open file with one section of this name and these bytes.
#[cfg(feature = "names")]
pub(crate) fn with_bytes(name: &str, section: &[u8]) -> super::ObjectFile {
    let mut file = elf(&[], &[1]);
    let (offset, names) = (file.len() as u64, file.len() as u64 + section.len() as u64);
    file.extend_from_slice(section);
    file.push(0);
    file.extend(name.as_bytes());
    file.extend([0, 0]);
    let table = file.len() as u64;
    file[40..48].copy_from_slice(&table.to_le_bytes());
    // Size and number of section headers, and the index of the names.
    file[58..64].copy_from_slice(&[64, 0, 3, 0, 1, 0]);
    let words = |words: [u64; 8]| words.map(u64::to_le_bytes).concat();
    file.extend(words([0; 8]));
    file.extend(words([3 << 32, 0, 0, names, name.len() as u64 + 3, 0, 0, 0]));
    file.extend(words([1 | 1 << 32, 0, 0, offset, section.len() as u64, 0, 0, 0]));
    super::ObjectFile::from_memory("made", file.into()).expect("a file")
}
